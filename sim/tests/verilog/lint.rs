//! Three front ends and Yosys find nothing in the emitted Verilog: the whole card at its default
//! and its small sizes, and the stages.
//!
//! ```text
//!   card, stages ──> one file per module ─┬─> Verilator -Wall    hdl/verilog/waivers.vlt
//!                                         ├─> slang -Wextra      no waiver
//!                                         ├─> Yosys check -assert, no latch
//!                                         └─> Icarus -Wall         memories apart
//! ```
//! Waivers stand with their reasons in that file; nothing else is let pass. Yosys and
//! Icarus take the card at
//! its small sizes and the tables with a list in the neighbour die: the other configurations have
//! the same joins, and it takes minutes for their flat text.

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;
use std::thread::{available_parallelism, scope};

use abi::config::CONFIGS;
use hdl::emit::on_large_stack;
use rust_hdl_core::prelude::*;
use skip::{skip, Need};
use tables::SmallTables;
use verilate::icarus::Icarus;
use verilate::slang::slang_command;
use verilate::toolchain::{Toolchain, Yosys};

/// The stages with a module of their own, as the registry names them.
const STAGES: [&str; 6] = [
    "rx_split::RxSplit",
    "tx_merge::TxMerge",
    "tables::tables::Tables",
    "dma::requester::Requester",
    "host_interface::completer::Completer",
    "ip::cmac::send::MacSend",
];

/// Configurations that Yosys does not take.
const LARGE: [&str; 3] = ["default", "default-slices", "lab"];

/// Writes a design as users get it; the folder, and the files in order.
fn write_design(design: &verilog::Design, name: &str) -> (PathBuf, Vec<String>) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lint").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("an old folder goes");
    }
    fs::create_dir_all(&folder).expect("a new folder");
    for (file, text) in design.files() {
        fs::write(folder.join(file), text).expect("writes");
    }
    let list = fs::read_to_string(folder.join("files.f")).expect("a list");
    (folder, list.lines().map(str::to_owned).collect())
}

/// The card in each configuration and the stages, each connected; emitted once for all tools.
fn designs() -> &'static [(String, verilog::Design)] {
    static DESIGNS: OnceLock<Vec<(String, verilog::Design)>> = OnceLock::new();
    DESIGNS.get_or_init(|| on_large_stack(emit_designs))
}

fn emit_designs() -> Vec<(String, verilog::Design)> {
    let card = |config: &str| {
        let card = hdl::emit::emit_card(config).expect("a configuration");
        (config.to_owned(), card.expect("emits").design)
    };
    let mut designs = Vec::from(CONFIGS.map(|config| card(config.name)));
    for name in STAGES {
        let entry = blocks::BLOCKS.iter().find(|entry| entry.name == name);
        let entry = entry.unwrap_or_else(|| panic!("no block {name}"));
        let short = name.rsplit("::").next().unwrap_or(name).to_lowercase();
        let mut block = (entry.make)();
        block.connect_all();
        let design = verilog::emit(&*block, &short).expect("emits");
        designs.push((short, design));
    }
    let mut far = SmallTables::far();
    far.connect_all();
    let design = verilog::emit(&far, "far_tables").expect("emits");
    designs.push(("far_tables".to_owned(), design));
    designs
}

fn text_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn verilator(folder: &Path, files: &[String], top: &str) -> (bool, String) {
    let tools = Toolchain::locate().expect("Verilator");
    let waivers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hdl/verilog/waivers.vlt");
    let output = Command::new(&tools.verilator)
        .env("VERILATOR_ROOT", &tools.root)
        .current_dir(folder)
        .args(["--lint-only", "-Wall", "--top-module", top])
        .arg(waivers)
        .args(files)
        .output()
        .expect("Verilator starts");
    (output.status.success(), text_of(&output))
}

fn slang(folder: &Path, files: &[String], top: &str) -> (bool, String) {
    let output = slang_command()
        .expect("slang")
        .current_dir(folder)
        .args(["--lint-only", "-Wextra", "-Werror"])
        .args(["--top", top])
        .args(files)
        .output()
        .expect("Python starts");
    (output.status.success(), text_of(&output))
}

fn yosys_check(folder: &Path, files: &[String], top: &str) -> (bool, String) {
    let script = format!(
        "read_verilog {}\nhierarchy -check -top {top}\nproc\n\
         select -assert-none t:$dlatch t:$adlatch t:$dlatchsr\n\
         opt_clean\nmemory_collect\nflatten\nopt_clean\ncheck -assert\n",
        files.join(" ")
    );
    fs::write(folder.join("check.ys"), script).expect("writes");
    let output = Command::new(Yosys::locate().expect("Yosys").program)
        .current_dir(folder)
        .args(["-q", "-s", "check.ys"])
        .output()
        .expect("Yosys starts");
    (output.status.success(), text_of(&output))
}

type Tool = fn(&Path, &[String], &str) -> (bool, String);

/// Runs a tool on all designs but some, as many at once as there are cores.
fn all_pass(tool: Tool, name: &str, left_out: &[&str]) {
    let next = AtomicUsize::new(0);
    let run = || {
        while let Some((short, design)) = designs().get(next.fetch_add(1, Ordering::Relaxed)) {
            if left_out.contains(&short.as_str()) {
                continue;
            }
            let (folder, files) = write_design(design, &format!("{name}_{short}"));
            let (passed, log) = tool(&folder, &files, &design.top_name());
            assert!(passed, "{short}: {log}");
        }
    };
    let cores = available_parallelism().map_or(1, NonZero::get);
    scope(|scope| {
        for _ in 0..cores {
            scope.spawn(run);
        }
    });
}

#[test]
fn verilator_warns_of_nothing() {
    all_pass(verilator, "verilator", &[]);
}

#[test]
fn slang_warns_of_nothing() {
    all_pass(slang, "slang", &[]);
}

#[test]
fn yosys_finds_no_latch_or_loop() {
    all_pass(yosys_check, "yosys", &LARGE);
}

/// What Icarus says of a memory that is read without a clock, which is right, and of attributes for
/// synthesis that it has no use for.
const NO_FAULTS: [&str; 2] = ["@* is sensitive to all", "Attributes are not supported on net"];

#[test]
fn icarus_elaborates_the_card() {
    let icarus = match Icarus::locate() {
        Ok(icarus) => icarus,
        Err(error) => return skip(Need::Packages, error),
    };
    let is_known = |line: &str| NO_FAULTS.iter().any(|known| line.contains(known));
    let elaborate = |folder: &Path, files: &[String], top: &str| {
        let said = icarus.elaborate(folder, files, top);
        let said = said.unwrap_or_else(|error| format!("{error}\n"));
        let said: String = said.split_inclusive('\n').filter(|l| !is_known(l)).collect();
        (said.is_empty(), said)
    };
    for (short, design) in designs() {
        if !LARGE.contains(&short.as_str()) {
            let (folder, files) = write_design(design, &format!("icarus_{short}"));
            let (passed, log) = elaborate(&folder, &files, &design.top_name());
            assert!(passed, "{short}: {log}");
        }
    }
    let (folder, files) =
        faulty("faulty_icarus.v", "reg [3:0] d;\nalways @* d = 4'd1;\nassign c = d;");
    assert!(!elaborate(&folder, &files, "faulty").0, "a process that never runs");
}

/// A module with one fault of each kind that a tool must find.
fn faulty(name: &str, body: &str) -> (PathBuf, Vec<String>) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lint");
    fs::create_dir_all(&folder).expect("a folder");
    let text = format!(
        "module faulty (input wire a, input wire [3:0] b, output wire [3:0] c);\n\
         {body}\nendmodule\n"
    );
    fs::write(folder.join(name), text).expect("writes");
    (folder, vec![name.to_owned()])
}

#[test]
fn each_tool_finds_its_fault() {
    let widths = "assign c = {a, b};";
    let twice = "assign c = b;\nassign c = {4{a}};";
    for (tool, name, body) in [
        (verilator as Tool, "faulty_verilator.v", widths),
        (slang as Tool, "faulty_slang.v", widths),
        (yosys_check as Tool, "faulty_yosys.v", twice),
    ] {
        let (folder, files) = faulty(name, body);
        let (passed, log) = tool(&folder, &files, "faulty");
        assert!(!passed, "{body}: {log}");
    }
}
