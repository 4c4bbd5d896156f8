//! What public sources say of boards, cores and properties: `ci/vivado/tables`.
//!
//! ```text
//!   description of a board ─► board.tcl, constraints ─┐
//!   bitstream/*.tcl ──────────────────────────────────┼─► replay.tcl ─► tables ─► rc 0
//!   a top of pads, cores and an empty card ───────────┘
//! ```

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use abi::config::SMALL;
use board::boards::{find, BOARDS};
use board::description::Board;
use board::script::board_tcl;
use verilate::toolchain::vivado_help;

use crate::{folder, problems, read, replay_build, Files, ROOT};

/// Names are looked up, not asked again behind synthesis: the card is empty.
pub const QUICK: (&str, &str) = ("REPLAY_YOSYS", "0");

pub fn find_board(name: &str) -> &'static Board {
    find(name).expect("a board")
}

/// A top with the pads of a board, the cores, and a card without anything in it.
fn top(board: &Board) -> String {
    let ports = board.pads.iter().map(|pad| match pad.pins.len() {
        1 => format!("    input  wire {},\n", pad.port),
        bits => format!("    input  wire [{}:0] {},\n", bits - 1, pad.port),
    });
    let ports: String = ports.collect();
    let (name, core) = (board.top(), board.pcie.kind.core());
    format!(
        "module zeronic_stub (\n    input  wire user_clk,\n    input  wire gt_txusrclk2\n);\n\
         endmodule\n\nmodule {name} (\n{}\n);\n    wire user_clk;\n    wire gt_txusrclk2;\n    \
         wire divided;\n\n    IBUFDS_GTE4 pads (\n        .I(pcie_refclk_p),\n        \
         .IB(pcie_refclk_n),\n        .ODIV2(divided)\n    );\n\n    {core}_0 pcie (\n        \
         .sys_clk(divided),\n        .user_clk(user_clk)\n    );\n\n    \
         cmac_usplus_0 mac (\n        \
         .gt_txusrclk2(gt_txusrclk2)\n    );\n\n    zeronic_stub card (\n        \
         .user_clk(user_clk),\n        .gt_txusrclk2(gt_txusrclk2)\n    );\nendmodule\n",
        ports.trim_end().trim_end_matches(',')
    )
}

/// A board's folder with an empty card: its own scripts, pins and configuration.
pub fn stub(board: &Board) -> Files {
    let script = board_tcl(board, "zeronic_stub", "zeronic_window", &SMALL);
    let script = script.lines().filter(|line| !line.contains("zeronic_window"));
    let script: String = script.map(|line| format!("{line}\n")).collect();
    let kept = |name: &str| read(&format!("constraints/{}/{name}.xdc", board.name));
    let floorplan = "create_pblock pblock_mac\n\
                     resize_pblock [get_pblocks pblock_mac] -add {SLR2}\n\
                     add_cells_to_pblock [get_pblocks pblock_mac] [get_cells { card }]\n";
    let mut files = Files::new();
    for (name, text) in [
        ("top.v", top(board)),
        ("files.f", "top.v\n".to_owned()),
        ("board.tcl", script),
        ("constraints/pins.xdc", kept("pins")),
        ("constraints/config.xdc", kept("config")),
        ("constraints/floorplan.xdc", floorplan.to_owned()),
        ("constraints/crossings.xdc", String::new()),
    ] {
        files.insert(name.to_owned(), text);
    }
    for name in ["build", "steps", "judge", "image", "ip", "flash"] {
        files.insert(format!("{name}.tcl"), read(&format!("bitstream/{name}.tcl")));
    }
    files
}

/// Every pin, site, parameter and property of every board is what a source says, or is listed.
#[test]
fn every_board_fact_has_row() {
    for board in BOARDS {
        let name = format!("vivado_facts_{}", board.name);
        let (code, text) = replay_build(&name, &stub(board), &[QUICK]);
        assert_eq!(problems(&text), [""; 0], "{}", board.name);
        assert_eq!(code, Some(0), "{}: {text}", board.name);
        let figure = text.lines().find_map(|line| line.strip_prefix("facts with a source "));
        let figure = figure.and_then(|rest| rest.split(',').next()).expect("a figure");
        let figure: usize = figure.parse().expect("a number");
        assert!(figure > 100, "{}: {figure}", board.name);
    }
}

/// Runs a script of a folder with words behind it; exit status and output.
pub fn run_script(name: &str, script: &str, words: &[&str]) -> (Option<i32>, String) {
    let output = Command::new("tclsh")
        .arg(Path::new(ROOT).join("ci/vivado/replay.tcl"))
        .arg(folder(name).join(script))
        .args(words)
        .env("VIVADO_HELP", vivado_help().expect("Vivado's help"))
        .output()
        .expect("tclsh runs; Debian's package is `tcl`");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

/// What a script for the hardware server is given.
pub fn flash_words(action: &str) -> Vec<&str> {
    let words = "url localhost:3121 idcode 04b31093 chip mt25qu01g-spi-x1_x2_x4_x8 file a.mcs";
    ["action", action].into_iter().chain(words.split(' ')).collect()
}

#[test]
fn flash_script_runs_to_its_end() {
    let name = "vivado_flash";
    let (code, text) = replay_build(name, &stub(find_board("vcu118")), &[QUICK]);
    assert_eq!(code, Some(0), "{text}");
    for action in ["write", "load"] {
        let (code, text) = run_script(name, "flash.tcl", &flash_words(action));
        assert_eq!((code, problems(&text).len()), (Some(0), 0), "{text}");
        assert!(text.contains("zeronic: done"), "{text}");
        assert_eq!(text.contains("program_hw_cfgmem"), action == "write", "{text}");
    }
}

/// Every command of Vivado that stands in a script is carried out by some run here, so that its
/// options are asked: none hides in a branch.
#[test]
fn every_script_command_is_carried_out() {
    let name = "vivado_commands";
    let mut files = stub(find_board("vcu118"));
    files.insert("netlist.tcl".to_owned(), read("bitstream/netlist.tcl"));
    files.insert("card.f".to_owned(), "top.v\n".to_owned());
    let mut said = replay_build(name, &files, &[QUICK, ("ZERONIC_JOBS", "2")]).1;
    // Behind the steps that are done, from a checkpoint; then anew, with a core that is there.
    said += &crate::again(name, &[QUICK]).1;
    let core = "build/ip/pcie4_uscale_plus_0";
    std::fs::create_dir_all(folder(name).join(core)).expect("a folder");
    std::fs::write(folder(name).join(core).join("pcie4_uscale_plus_0.xci"), "").expect("a file");
    std::fs::remove_file(folder(name).join("build/steps.txt")).expect("a file");
    said += &crate::again(name, &[QUICK]).1;
    said += &run_script(name, "netlist.tcl", &[]).1;
    for action in ["write", "load"] {
        said += &run_script(name, "flash.tcl", &flash_words(action)).1;
    }
    let mut xvc = flash_words("load");
    xvc.extend(["xvc", "localhost:2542"]);
    said += &run_script(name, "flash.tcl", &xvc).1;
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let run = said.lines().map(words).filter(|words| words.len() == 2);
    let run: BTreeSet<_> = run.filter(|words| words[0].parse::<u32>().is_ok()).collect();
    let run: BTreeSet<_> = run.into_iter().map(|words| words[1].clone()).collect();
    let output = Command::new("python3")
        .arg(Path::new(ROOT).join("ci/vivado/syntax.py"))
        .arg(vivado_help().expect("Vivado's help"))
        .output()
        .expect("python3 runs");
    let known = String::from_utf8(output.stdout).expect("text");
    let known: BTreeSet<_> = known.lines().filter_map(|line| line.split('\t').next()).collect();
    assert!(known.len() > 800, "{}", known.len());
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut count = 0;
    for (file, text) in files.iter().filter(|(name, _)| name.ends_with(".tcl")) {
        for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
            // A command is the first word of a line, or of what stands in a bracket or a brace.
            for part in line.split(['[', '{', ';']) {
                let word = part.trim_start().split(|c| !is_word(c)).next().unwrap_or("");
                if known.contains(word) && !TCL.contains(&word) {
                    count += 1;
                    assert!(run.contains(word), "{file}: {word} is in no run: {run:?}");
                }
            }
        }
    }
    assert!(count > 60, "{count}");
}

/// Words that Tcl has too, or that are none of a command where they stand.
const TCL: [&str; 4] = ["source", "file", "version", "step"];

/// What no source says is in the checklist of the boards' page, word for word.
#[test]
fn the_checklist_carries_what_is_unproven() {
    let output = Command::new("tclsh")
        .arg(Path::new(ROOT).join("ci/vivado/replay.tcl"))
        .arg("--list-unproven")
        .output()
        .expect("tclsh runs");
    assert!(output.status.success());
    let list = String::from_utf8(output.stdout).expect("text");
    assert!(list.lines().count() > 5, "{list}");
    let list: String = list.lines().map(|line| format!("- `{line}`\n")).collect();
    let path = Path::new(ROOT).join("docs/boards/README.md");
    let (start, end) = ("<!-- unproven -->\n\n", "\n<!-- end of unproven -->");
    let page = read("docs/boards/README.md");
    let at = page.find(start).expect("a mark") + start.len();
    let length = page[at..].find(end).expect("a mark");
    if std::env::var_os("ZERONIC_BLESS").is_some_and(|value| value == "1") {
        let text = [&page[..at], &list, &page[at + length..]].concat();
        std::fs::write(&path, text).expect("a page");
        return;
    }
    assert_eq!(page[at..at + length], list, "set ZERONIC_BLESS=1");
}

/// In a clone in which nothing has run, with nothing in the folder of the tools: both are fetched.
/// Where that cannot be, the verdict says what was not asked, and it is no success.
#[test]
fn requested_file_is_fetched_or_named() {
    let name = "vivado_fetched";
    let (code, text) = replay_build(name, &stub(find_board("vcu118")), &[QUICK]);
    assert_eq!(code, Some(0), "{text}");
    let run = |tools: &str, variables: &[(&str, &str)]| {
        let tools = folder(tools);
        let _ = std::fs::remove_dir_all(&tools);
        let _ = std::fs::remove_dir_all(folder(name).join("build"));
        let output = Command::new("tclsh")
            .arg(Path::new(ROOT).join("ci/vivado/replay.tcl"))
            .arg(folder(name).join("build.tcl"))
            .env("ZERONIC_TOOLS", &tools)
            .env_remove("YOSYS")
            .envs(variables.iter().copied())
            .output()
            .expect("tclsh runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), tools)
    };
    let (code, text, tools) = run("vivado_tools", &[]);
    assert_eq!((code, problems(&text).len()), (Some(0), 0), "{text}");
    assert!(text.contains("verdict: 0 problems\n"), "{text}");
    for package in ["pyosys", "xilinx-language-server"] {
        let entries = std::fs::read_dir(&tools).expect("a folder").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        assert!(names.into_iter().any(|name| name.starts_with(package)), "{package}");
    }
    std::fs::remove_dir_all(tools).expect("a folder");
    // Nothing can be fetched.
    let python = folder("vivado_python.sh");
    let script = "#!/bin/sh\ncase \"$1\" in *fetch.py) echo no network >&2; exit 1;; esac\n\
                  exec python3 \"$@\"\n";
    std::fs::write(&python, script).expect("a script");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&python, mode).expect("a program");
    let python = python.display().to_string();
    let nothing = ("PYTHON", python.as_str());
    let (code, text, _) = run("vivado_no_tools", &[nothing]);
    assert_eq!(code, Some(1), "{text}");
    assert_eq!(
        problems(&text),
        ["not asked: anything: no help of Vivado (no network); set VIVADO_HELP"]
    );
    let help = vivado_help().expect("Vivado's help").display().to_string();
    let (code, text, _) = run("vivado_no_tools", &[nothing, ("VIVADO_HELP", &help)]);
    assert_eq!(code, Some(1), "{text}");
    let said = "not asked: names behind synthesis: no Yosys (no network); set YOSYS";
    assert_eq!(problems(&text), [said]);
}

/// Each row names sources that are stated, and each source is one that a row names.
#[test]
fn sources_are_stated_and_used() {
    let sources = read("ci/vivado/tables/sources.tcl");
    let names = sources.lines().filter_map(|line| line.strip_prefix("source_of "));
    let names: Vec<_> = names.filter_map(|line| line.split_whitespace().next()).collect();
    let tables = ["parameters", "places", "pins", "properties", "buffers"];
    let tables = tables.map(|name| read(&format!("ci/vivado/tables/{name}.tcl"))).concat();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for name in names {
        assert!(tables.split(|c| !is_word(c)).any(|word| word == name), "{name} is not used");
    }
}
