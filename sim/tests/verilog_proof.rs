//! Yosys on the emitted Verilog: leaf blocks equal rust-hdl's own emitter's, for all inputs and
//! all time, at the sizes of the registry.
//!
//! ```text
//!   registry ──> leaf blocks ─┬─ stock text ─> gold ─┐
//!                             └─ our text ───> gate ─┴─ equiv_make, equiv_simple, equiv_induct
//! ```
//!
//! A leaf block has registers but no other children. Blocks above them are compared at random
//! (`verilog_blocks.rs`). Every run proves the shortest; `all_leaf_blocks` (`ZERONIC_LONG=1`)
//! prints the table of all.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rust_hdl_core::prelude::*;
use sim::toolchain::Yosys;

#[path = "verilog_support/stock.rs"]
mod stock;

/// A leaf block in both texts, and its registers' names in both.
struct Leaf {
    path: String,
    stock: String,
    ours: String,
    registers: Vec<(String, String)>,
}

/// The leaf blocks of the registry with a kernel, the shortest first.
fn leaves() -> Vec<Leaf> {
    let mut leaves = Vec::new();
    for entry in blocks::BLOCKS {
        let mut block = (entry.make)();
        block.connect_all();
        let is_kernel = matches!(block.hdl(), Verilog::Combinatorial(_));
        if !is_kernel || !blocks::is_leaf(&*block) {
            continue;
        }
        let design = verilog::emit(&*block, "dut").expect("emits");
        leaves.push(Leaf {
            path: format!("{}{}", entry.name, entry.sizes),
            stock: stock::emit(&*block, "dut"),
            ours: design.modules[0].text.clone(),
            registers: registers(&design),
        });
    }
    leaves.sort_by_key(|leaf| (leaf.ours.len(), leaf.path.clone()));
    leaves
}

/// The registry makes the largest blocks too, with defaults beyond a usual stack.
fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(1 << 30);
        let thread = thread.spawn_scoped(scope, work).expect("starts");
        let result = thread.join();
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Each register of ours with the name it has in the flattened stock text.
fn registers(design: &verilog::Design) -> Vec<(String, String)> {
    let lines = design.modules[0].text.lines().map(str::trim);
    let initial = lines.skip_while(|line| *line != "initial begin").skip(1);
    let assignments = initial.take_while(|line| *line != "end");
    assignments
        .map(|line| {
            let register = line.split(' ').next().unwrap_or("");
            let origin = design.explain(register).expect("the register is known");
            let field = origin.field.expect("a register is a field");
            let field = field.strip_suffix(".q").expect("a register has an output");
            let stock = format!("{}.q", field.replace('.', stock::JOINT));
            (register.to_owned(), stock)
        })
        .collect()
}

/// Our text with the stock's names: of ports, and as second names of registers.
fn with_stock_names(leaf: &Leaf) -> String {
    let mut text = leaf.ours.clone();
    for (register, stock) in &leaf.registers {
        let is_declaration = |line: &&str| {
            line.trim().starts_with("reg ") && line.trim().ends_with(&format!(" {register};"))
        };
        let declaration = text.lines().find(is_declaration).expect("is declared");
        let range = declaration
            .split_once('[')
            .map_or(String::new(), |(_, rest)| {
                format!("[{}", rest.split(' ').next().unwrap_or(""))
            });
        let wire = format!("(* keep *) wire {range} \\{stock} = {register};\nendmodule");
        text = text.replace("endmodule", &wire);
    }
    let header = leaf.stock.split_once("module dut(").expect("a module").1;
    let header = header.split_once(')').expect("a port list").0;
    for port in header.split(',').map(str::trim) {
        let ours = port.replace(stock::JOINT, "_");
        if ours != port {
            text = whole_words(&text, &ours, port);
        }
    }
    text
}

fn yosys(folder: &Path, script: &str) -> (bool, String) {
    fs::write(folder.join("script.ys"), script).expect("writes");
    let output = Command::new(Yosys::locate().expect("Yosys").program)
        .current_dir(folder)
        .args(["-q", "-s", "script.ys"])
        .output()
        .expect("Yosys starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text)
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("creates");
    folder
}

/// Proves every leaf in one run; returns each path with whether it was proven.
fn prove(leaves: &[Leaf], name: &str) -> Vec<(String, bool)> {
    let folder = scratch(name);
    let mut script = String::new();
    for (index, leaf) in leaves.iter().enumerate() {
        fs::write(folder.join(format!("gold{index}.v")), &leaf.stock).expect("writes");
        let ours = with_stock_names(leaf);
        fs::write(folder.join(format!("gate{index}.v")), ours).expect("writes");
        script.push_str(&format!(
            "design -reset\n\
             read_verilog gold{index}.v\nhierarchy -top dut\nproc\nflatten\nopt_clean\n\
             rename dut gold\ndesign -stash gold\n\
             read_verilog gate{index}.v\nhierarchy -top dut\nproc\nflatten\nopt_clean\n\
             rename dut gate\ndesign -stash gate\n\
             design -copy-from gold -as gold gold\ndesign -copy-from gate -as gate gate\n\
             equiv_make gold gate equiv\nhierarchy -top equiv\nopt -fast\n\
             equiv_simple -undef\nequiv_induct -undef -seq 2\n\
             tee -q -o status{index}.txt equiv_status\n"
        ));
    }
    let (_, log) = yosys(&folder, &script);
    let proven = |index: usize| {
        let status = fs::read_to_string(folder.join(format!("status{index}.txt")));
        status.is_ok_and(|text| text.contains("Equivalence successfully proven"))
    };
    let results: Vec<_> = leaves
        .iter()
        .enumerate()
        .map(|(index, leaf)| (leaf.path.clone(), proven(index)))
        .collect();
    if results.iter().any(|(_, proven)| !proven) {
        println!("{log}");
    }
    results
}

fn whole_words(text: &str, from: &str, to: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, after) = (&rest[..at], &rest[at + from.len()..]);
        let alone = !before.ends_with(is_word) && !after.starts_with(is_word);
        out.push_str(before);
        out.push_str(if alone { to } else { from });
        rest = after;
    }
    out + rest
}

/// Leaf blocks that are proven in every run: the shortest.
const PROVEN_ALWAYS: usize = 12;

#[test]
fn the_shortest_leaf_blocks_are_equal() {
    let mut some = on_large_stack(leaves);
    some.truncate(PROVEN_ALWAYS);
    assert_eq!(some.len(), PROVEN_ALWAYS);
    let results = prove(&some, "leaves");
    assert!(results.iter().all(|(_, proven)| *proven), "{results:?}");
}

#[test]
fn all_leaf_blocks() {
    if std::env::var_os("ZERONIC_LONG").is_none() {
        println!("skipped: set ZERONIC_LONG=1; it prints the table of proofs and takes an hour");
        return;
    }
    for leaf in on_large_stack(leaves) {
        for (path, proven) in prove(&[leaf], "all_leaves") {
            println!("{} {path}", if proven { "proven  " } else { "UNPROVEN" });
        }
    }
}

#[test]
fn a_changed_operator_is_not_equal() {
    let leaves = on_large_stack(leaves);
    let found = leaves.into_iter().find(|leaf| leaf.ours.contains(" & "));
    let mut leaf = found.expect("a block with an and");
    leaf.ours = leaf.ours.replacen(" & ", " | ", 1);
    let results = prove(&[leaf], "mutant");
    assert!(results.iter().all(|(_, proven)| !proven));
}
