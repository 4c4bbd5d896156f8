//! Yosys on two texts of one block: are they equal, for all inputs and all time?

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use verilate::toolchain::Yosys;

/// Seconds of processor time that Yosys gets for one block.
const SECONDS_MAX: u32 = 60;
/// Cycles over which induction assumes equality.
const INDUCTION_CYCLES: u32 = 2;

/// What Yosys found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Proven equal.
    Equal,
    /// Neither proven equal nor shown to differ.
    Undecided,
    /// Ended by the limit of processor time.
    OutOfTime,
}

/// Which nets of one name are taken as equal on the way, once they are proven.
#[derive(Clone, Copy)]
enum Cuts {
    /// Locals too: short proofs, where each local has one meaning.
    Locals,
    /// Registers and ports alone: a local that is assigned in steps differs in between.
    Registers,
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("creates");
    folder
}

/// A cut child's ports become the block's own; then both sides have the same ports.
fn script(cuts: Cuts, children: &[String]) -> String {
    let hide = match cuts {
        Cuts::Locals => "",
        Cuts::Registers => "rename -hide w:* w:*_q %d\n",
    };
    let children: String = children.iter().map(|child| format!(" dut/t:{child}")).collect();
    let expose = match children.is_empty() {
        true => String::new(),
        false => format!("expose -evert{children}\n"),
    };
    let side = |name: &str| {
        format!(
            "design -reset\nread_verilog {name}.v\nhierarchy -top dut\nproc -norom\nflatten\n\
             opt_clean\n{expose}{hide}rename dut {name}\ndesign -stash {name}\n"
        )
    };
    format!(
        "{before}{after}\
         design -copy-from before -as before before\ndesign -copy-from after -as after after\n\
         equiv_make before after equiv\nhierarchy -top equiv\nopt -fast -share_all\n\
         equiv_simple -undef\nequiv_induct -undef -seq {INDUCTION_CYCLES}\n\
         tee -o status.txt equiv_status\n",
        before = side("before"),
        after = side("after"),
    )
}

/// Compares two texts of a block; the folder keeps texts and log.
///
/// # Panics
/// If Yosys cannot read them.
pub fn prove(texts: [&str; 2], children: &[String], folder: &str) -> Verdict {
    match prove_with(texts, children, folder, Cuts::Locals) {
        Verdict::Undecided => prove_with(texts, children, folder, Cuts::Registers),
        verdict => verdict,
    }
}

fn prove_with(texts: [&str; 2], children: &[String], folder: &str, cuts: Cuts) -> Verdict {
    let folder = scratch(folder);
    let script = script(cuts, children);
    for (name, text) in [("before.v", texts[0]), ("after.v", texts[1]), ("script.ys", &script)] {
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
        (true, _) => Verdict::Undecided,
        (false, Some(_)) => Verdict::OutOfTime,
        (false, None) => {
            let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
            let tail: Vec<&str> = log.lines().rev().take(5).collect();
            panic!("{}: Yosys fails: {tail:#?}", folder.display());
        }
    }
}
