//! Yosys on the emitted Verilog: blocks equal rust-hdl's own emitter's, for all inputs and all
//! time, at the sizes of the registry; the table of what is proven is kept in `docs/proofs.md`.
//!
//! ```text
//!   registry ──> block ─┬─ stock text ─> gold ─┐
//!                       └─ our text ───> gate ─┴─ equiv_make, equiv_simple, equiv_induct
//!                                                      verdict ──> line of docs/proofs.md
//! ```
//!
//! A block with children is compared with its children cut out (`pair.rs`). A line
//! of the table bears a digest of both texts: where it holds, so does its verdict; where a text
//! has changed, the block is proven again, in every run. `ZERONIC_LONG=1` proves all again.
//! `ZERONIC_BLESS=1` writes the table, which is otherwise compared.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use hdl::emit::on_large_stack;
use skip::{skip, Need};
use verilate::stock;
use verilate::toolchain::Yosys;

#[path = "../verilog_support/differences.rs"]
mod differences;
mod pair;
mod proof_table;
#[path = "../verilog_support/mod.rs"]
mod verilog_support;

use pair::Pair;
use proof_table::{Line, Table, Verdict};

/// Seconds of processor time that Yosys gets for one block.
const SECONDS_MAX: u32 = 30;
/// Cycles over which induction assumes equality.
const INDUCTION_CYCLES: u32 = 2;

/// The pair of a block of the registry, if it has a kernel; and its line, without verdict.
fn examined(entry: &blocks::Entry) -> (Option<Pair>, Line) {
    let mut block = (entry.make)();
    block.connect_all();
    let name = entry.title();
    let random = verilog_support::when(entry, &*block);
    let pair = pair::has_kernel(&*block).then(|| Pair::of(&*block, name.clone()));
    let line = Line::new(name, pair.as_ref(), random);
    (pair, line)
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("creates");
    folder
}

/// Which nets of one name are taken as equal on the way, once they are proven.
#[derive(Clone, Copy)]
enum Cuts {
    /// Locals too: short proofs, where each local has one meaning.
    Locals,
    /// Registers and ports alone: a local that is assigned in steps differs in between.
    Registers,
}

/// A cut child's ports become the block's own; then both sides have the same ports.
fn script(cuts: Cuts) -> String {
    let hide = match cuts {
        Cuts::Locals => "",
        Cuts::Registers => "rename -hide w:* w:*.q %d\n",
    };
    let side = |name: &str| {
        format!(
            "design -reset\nread_verilog {name}.v\nhierarchy -top dut\nproc -norom\nflatten\n\
             opt_clean\nexpose -evert dut/t:dut{joint}*\n{hide}rename dut {name}\n\
             design -stash {name}\n",
            joint = stock::JOINT,
        )
    };
    format!(
        "{gold}{gate}\
         design -copy-from gold -as gold gold\ndesign -copy-from gate -as gate gate\n\
         equiv_make gold gate equiv\nhierarchy -top equiv\nopt -fast -share_all\n\
         equiv_simple -undef\nequiv_induct -undef -seq {INDUCTION_CYCLES}\n\
         tee -o status.txt equiv_status\n",
        gold = side("gold"),
        gate = side("gate"),
    )
}

/// Compares the two texts; the folder keeps texts and log.
fn prove(pair: &Pair, folder: &str) -> Verdict {
    let verdict = prove_with(pair, folder, Cuts::Locals);
    match verdict {
        Verdict::Undecided => prove_with(pair, folder, Cuts::Registers),
        verdict => verdict,
    }
}

fn log_of(folder: &Path) -> String {
    fs::read_to_string(folder.join("log")).unwrap_or_default()
}

fn prove_with(pair: &Pair, folder: &str, cuts: Cuts) -> Verdict {
    let folder = scratch(folder);
    for (name, text) in
        [("gold.v", &pair.gold), ("gate.v", &pair.gate), ("script.ys", &script(cuts))]
    {
        fs::write(folder.join(name), text).expect("writes");
    }
    let log = fs::File::create(folder.join("log")).expect("creates");
    let errors = log.try_clone().expect("is shared");
    let limit = SECONDS_MAX.to_string();
    let status = Command::new("sh")
        .current_dir(&folder)
        .args(["-c", "ulimit -t $0 && exec \"$@\"", &limit])
        .arg(Yosys::locate().expect("Yosys").program)
        .args(["-s", "script.ys"])
        .stdout(log)
        .stderr(errors)
        .status()
        .expect("a shell starts");
    let found = fs::read_to_string(folder.join("status.txt")).unwrap_or_default();
    match (status.success(), status.signal()) {
        (true, _) if found.contains("Equivalence successfully proven") => Verdict::Equal,
        (true, _) if log_of(&folder).contains("is implicitly declared") => Verdict::NoReference,
        (true, _) => Verdict::Undecided,
        (false, Some(_)) => Verdict::OutOfTime,
        (false, None) => {
            let log = log_of(&folder);
            let tail: Vec<&str> = log.lines().rev().take(5).collect();
            panic!("{}: Yosys fails: {tail:#?}", pair.name);
        }
    }
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some()
}

/// The lines of some blocks, and what is proven of them: anew where a text differs from that of the
/// table that is kept. `folder` is for Yosys.
fn lines_of(entries: &[blocks::Entry], kept: &Table, folder: &str) -> Vec<Line> {
    let line = |entry| {
        let (pair, mut line) = on_large_stack(|| examined(entry));
        if let Some(pair) = pair {
            let known = kept.lines.iter().find(|known| known.name == line.name);
            let unchanged = known.filter(|known| known.digest == line.digest);
            line.verdict = match unchanged {
                Some(known) if !is_set("ZERONIC_LONG") => known.verdict,
                _ => prove(&pair, folder),
            };
            if unchanged.is_none() || is_set("ZERONIC_LONG") {
                println!("{}: {:?}", line.name, line.verdict);
            }
        }
        line
    };
    entries.iter().map(line).collect()
}

#[test]
fn the_table_says_what_is_proven() {
    let kept = Table::read();
    let (first, second) = blocks::BLOCKS.split_at(blocks::BLOCKS.len() / 2);
    let lines = std::thread::scope(|scope| {
        let kept = &kept;
        let halves = [(first, "proof_0"), (second, "proof_1")]
            .map(|(entries, folder)| scope.spawn(move || lines_of(entries, kept, folder)));
        halves.map(|half| half.join().expect("its lines")).concat()
    });
    let table = Table { lines };
    if seed::blesses() {
        table.write();
        return;
    }
    let differences = table.differences(&kept);
    assert!(
        differences.is_empty(),
        "docs/proofs.md says otherwise (ZERONIC_BLESS=1 writes it anew): {differences:#?}"
    );
}

/// The pair of a block by its name in the registry.
fn pair_of(name: &str) -> Pair {
    let entry = blocks::BLOCKS.iter().find(|entry| entry.name == name);
    let entry = entry.unwrap_or_else(|| panic!("no block {name}"));
    on_large_stack(|| examined(entry).0.expect("has a kernel"))
}

/// `ZERONIC_BLOCK=NAME` proves one block of the registry; its texts and log stay.
#[test]
fn one_block() {
    let Some(name) = std::env::var_os("ZERONIC_BLOCK") else {
        skip(Need::ChosenBlock, "ZERONIC_BLOCK is a block's name in docs/proofs.md");
        return;
    };
    let pair = pair_of(&name.to_string_lossy());
    let verdict = prove(&pair, "one_block");
    println!("{}: {verdict:?}", pair.name);
}

#[test]
fn a_changed_operator_is_not_equal() {
    let mut pair = pair_of("ip::keep_count::KeepCount");
    assert_eq!(prove(&pair, "mutant"), Verdict::Equal);
    assert!(pair.gate.contains(" | "));
    pair.gate = pair.gate.replacen(" | ", " & ", 1);
    assert_eq!(prove(&pair, "mutant"), Verdict::Undecided);
}

#[test]
fn a_changed_input_of_a_child_is_not_equal() {
    let mut pair = pair_of("stream::fifo::Fifo");
    assert!(pair.children > 0, "the FIFO has a memory");
    assert_eq!(prove(&pair, "mutant_child"), Verdict::Equal);
    let pin = ".write_enable(";
    assert!(pair.gate.contains(pin), "{}", pair.gate);
    pair.gate = pair.gate.replacen(pin, ".write_enable(~", 1);
    assert_eq!(prove(&pair, "mutant_child"), Verdict::Undecided);
}
