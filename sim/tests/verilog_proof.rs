//! Yosys on the emitted Verilog: leaf blocks equal rust-hdl's own emitter's, at full size, for
//! all inputs and all time; whole designs have no latch, loop, undriven or doubly driven net.
//!
//! ```text
//!   block ──> leaf blocks ─┬─ stock text ─> gold ─┐
//!                          └─ our text ───> gate ─┴─ equiv_make, equiv_simple, equiv_induct
//! ```
//!
//! A leaf block has registers but no other children. Blocks above them are compared at random
//! (`verilog_meaning.rs`, the tests of each block). `check_of_designs` and `leaf_blocks_are_equal`
//! take a choice that ends within a minute; `all_leaf_blocks` (ignored) prints the table of all.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rust_hdl_core::prelude::*;
use sim::toolchain::Toolchain;

#[path = "verilog_support/stock.rs"]
mod stock;

/// A leaf block in both texts, and its registers' names in both.
struct Leaf {
    path: String,
    stock: String,
    ours: String,
    registers: Vec<(String, String)>,
}

/// Collects each distinct leaf block once.
#[derive(Default)]
struct Leaves {
    path: Vec<String>,
    seen: BTreeSet<String>,
    found: Vec<Leaf>,
}

impl Probe for Leaves {
    fn visit_start_scope(&mut self, name: &str, node: &dyn Block) {
        self.path.push(name.to_owned());
        if !matches!(node.hdl(), Verilog::Combinatorial(_)) {
            return;
        }
        let design = verilog::emit(node, "dut").expect("emits");
        if design.modules.len() != 1 || !self.seen.insert(design.single_file()) {
            return;
        }
        self.found.push(Leaf {
            path: self.path.join("/"),
            stock: stock::emit(node, "dut"),
            ours: design.modules[0].text.clone(),
            registers: registers(&design),
        });
    }

    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.path.pop();
    }
}

fn leaves<B: Block>(mut block: B, top: &str) -> Vec<Leaf> {
    block.connect_all();
    let mut leaves = Leaves::default();
    block.accept(top, &mut leaves);
    leaves.found
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
    let output = Command::new(Toolchain::yosys().expect("Yosys"))
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

#[test]
fn leaf_blocks_are_equal() {
    let mut some = leaves(hdl::ip::cmac::MacReceive::default(), "mac_receive");
    some.extend(leaves(dma::completer::Completer::default(), "completer"));
    some.sort_by_key(|leaf| leaf.ours.len());
    some.truncate(3);
    assert_eq!(some.len(), 3);
    let results = prove(&some, "leaves");
    assert!(results.iter().all(|(_, proven)| *proven), "{results:?}");
}

#[test]
fn all_leaf_blocks() {
    if std::env::var_os("ZERONIC_LONG").is_none() {
        println!("skipped: set ZERONIC_LONG=1; it prints the table of proofs and takes an hour");
        return;
    }
    let mut all = leaves(hdl::ip::cmac::MacReceive::default(), "mac_receive");
    all.extend(leaves(dma::completer::Completer::default(), "completer"));
    all.extend(leaves(dma::requester::Requester::new(1000), "requester"));
    all.extend(leaves(tx_merge::TxMerge::default(), "tx_merge"));
    all.extend(leaves(rx_split::RxSplit::<10, 2, 4>::default(), "rx_split"));
    all.sort_by_key(|leaf| leaf.ours.len());
    for leaf in all {
        for (path, proven) in prove(&[leaf], "all_leaves") {
            println!("{} {path}", if proven { "proven  " } else { "UNPROVEN" });
        }
    }
}

#[test]
fn a_changed_operator_is_not_equal() {
    let mut leaves = leaves(hdl::ip::cmac::MacReceive::default(), "mac_receive");
    let leaf = leaves.first_mut().expect("a leaf");
    leaf.ours = leaf.ours.replacen("count_16 | ", "count_16 & ", 1);
    assert!(leaf.ours.contains("count_16 & "));
    let results = prove(&leaves[..1], "mutant");
    assert!(results.iter().all(|(_, proven)| !proven));
}

#[test]
fn check_of_designs() {
    let check = |text: String, name: &str| {
        let folder = scratch(&format!("check_{name}"));
        fs::write(folder.join("design.v"), text).expect("writes");
        let script = "read_verilog design.v\nhierarchy -check -top dut\nproc\n\
                      select -assert-none t:$dlatch t:$adlatch t:$dlatchsr\n\
                      flatten\nopt_clean\ncheck -assert\n";
        let (passed, log) = yosys(&folder, script);
        assert!(passed, "{name}: {log}");
    };
    let text = |block: &dyn Block| verilog::emit(block, "dut").expect("emits").single_file();
    let mut receive = hdl::ip::cmac::MacReceive::default();
    receive.connect_all();
    check(text(&receive), "mac_receive");
    let mut send = hdl::ip::cmac::MacSend::default();
    send.connect_all();
    check(text(&send), "mac_send");
    let mut completer = dma::completer::Completer::default();
    completer.connect_all();
    check(text(&completer), "completer");
}
