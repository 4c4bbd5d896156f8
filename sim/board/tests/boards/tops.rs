//! The tops: two front ends find nothing in them, they fit the card, and the vendor's blocks have
//! the ports that others know.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use board::boards::BOARDS;
use board::card_box::CardBox;
use board::description::{Board, PcieKind};
use board::tops::{emit_golden, emit_top, EmittedTop};
use hdl::emit::{EmittedCard, PREFIX};
use hdl::ports::{ports_of, Port, PortDirection};
use ip::pcie_core::PcieCore;
use verilate::slang::slang_command;
use verilate::toolchain::{Toolchain, Yosys};

use crate::whole::small;

/// Module of the card in the configuration of these tests.
const CARD: &str = "zeronic_small";

/// A module with the ports of the card, whose outputs are zero.
fn stub(card: &EmittedCard) -> String {
    let (mut ports, mut lines) = (Vec::new(), String::new());
    for port in &card.ports {
        let range = format!("[{}:0]", port.bits - 1);
        let direction = match port.direction {
            PortDirection::Input => "input",
            _ => "output",
        };
        ports.push(format!("{direction} wire {range} {}", port.name));
        if port.direction != PortDirection::Input {
            lines += &format!("assign {} = {}'d0;\n", port.name, port.bits);
        }
    }
    format!(
        "/* verilator lint_off UNUSEDSIGNAL */\nmodule {} (\n{}\n);\n{lines}endmodule\n",
        card.top,
        ports.join(",\n")
    )
}

/// Writes a board's top, the card's text and the models; the folder.
fn write_top(board: &Board, card: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("boards").join(board.name);
    std::fs::create_dir_all(&folder).expect("a folder");
    let prefix = format!("{PREFIX}{}", board::tops::PREFIX);
    let top = emit_top(board, "small", CARD, &prefix).expect("emits");
    write_all(&folder, board, card, &top);
    folder
}

/// Writes a board's golden image and the models; the folder.
fn written_golden(board: &Board) -> Option<PathBuf> {
    let top = emit_golden(board, "x_")?.expect("emits");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden_images").join(board.name);
    std::fs::create_dir_all(&folder).expect("a folder");
    write_all(&folder, board, "", &top);
    Some(folder)
}

fn write_all(folder: &Path, board: &Board, card: &str, top: &EmittedTop) {
    for (name, text) in [
        ("card.v", card.to_owned()),
        ("top.v", top.design.single_file()),
        ("models.v", ip::models::text(board.pcie.kind.core())),
    ] {
        std::fs::write(folder.join(name), text).expect("writes");
    }
}

fn log(output: &Output) -> String {
    let (out, error) = (&output.stdout, &output.stderr);
    String::from_utf8_lossy(out).into_owned() + &String::from_utf8_lossy(error)
}

fn verilator(folder: &Path, top: &str) -> (bool, String) {
    let tools = Toolchain::locate().expect("Verilator");
    let waivers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hdl/verilog/waivers.vlt");
    let output = Command::new(&tools.verilator)
        .env("VERILATOR_ROOT", &tools.root)
        .current_dir(folder)
        .args([
            "--lint-only",
            "-Wall",
            "-Wno-DECLFILENAME",
            "--timescale",
            "1ps/1ps",
            "--top-module",
            top,
        ])
        .arg(waivers)
        .args(["models.v", "card.v", "top.v"])
        .output()
        .expect("Verilator starts");
    (output.status.success(), log(&output))
}

fn slang(folder: &Path, top: &str) -> (bool, String) {
    let output = slang_command()
        .expect("slang")
        .current_dir(folder)
        .args(["--lint-only", "-Wextra", "-Werror"])
        .args(["--timescale", "1ps/1ps", "--top", top])
        .args(["models.v", "card.v", "top.v"])
        .output()
        .expect("Python starts");
    (output.status.success(), log(&output))
}

/// All of it for a board of each kind of PCIe block; around a stub of the card for every board.
#[test]
fn front_ends_accept_every_top() {
    let card = small();
    let stub = stub(card);
    let whole = card.design.single_file();
    let kinds = [PcieKind::Pcie4, PcieKind::Pcie4c];
    let of_kind = |kind| BOARDS.iter().find(|board| board.pcie.kind == kind);
    let whole = kinds.map(|kind| (of_kind(kind).expect("a board"), &whole));
    for (board, card) in BOARDS.iter().map(|board| (board, &stub)).chain(whole) {
        let folder = write_top(board, card);
        for tool in [verilator, slang] {
            let (passed, log) = tool(&folder, &board.top());
            assert!(passed, "{}: {log}", board.name);
        }
    }
}

/// Two boards have a golden image of ours; its pads are some of the board's.
#[test]
fn front_ends_accept_a_golden_image() {
    let mut count = 0;
    for board in BOARDS {
        let Some(folder) = written_golden(board) else { continue };
        for tool in [verilator, slang] {
            let (passed, log) = tool(&folder, &board.golden_top());
            assert!(passed, "{}: {log}", board.name);
        }
        let golden = emit_golden(board, "x_").expect("an image").expect("emits");
        let card = emit_top(board, "small", CARD, "x_").expect("emits");
        let whole = board::xdc::pins(board, &card.constraints);
        let lines = board::xdc::pins(board, &golden.constraints);
        for line in lines.lines() {
            assert!(whole.contains(line), "{}: {line}", board.name);
        }
        let placed = lines.matches("PACKAGE_PIN").count();
        let ports = golden.ports.iter();
        // Negative lanes follow from the positive ones.
        let own = ports.filter(|port| !["pcie_rx_n", "pcie_tx_n"].contains(&&port.name[..]));
        assert_eq!(placed, own.map(|port| port.bits).sum::<usize>(), "{}", board.name);
        count += 1;
    }
    assert_eq!(count, 2);
}

#[test]
fn fault_in_top_is_found() {
    let board = &BOARDS[1];
    let folder = write_top(board, &stub(small()));
    let path = folder.join("top.v");
    let text = std::fs::read_to_string(&path).expect("a top");
    let wrong = text.replace(".s_axis_rq_tuser(", ".s_axis_rq_tuser_of_nobody(");
    assert!(wrong != text);
    let folder = folder.join("faulty");
    std::fs::create_dir_all(&folder).expect("a folder");
    for name in ["card.v", "models.v"] {
        std::fs::copy(folder.join("..").join(name), folder.join(name)).expect("copies");
    }
    std::fs::write(folder.join("top.v"), wrong).expect("writes");
    for tool in [verilator, slang] {
        assert!(!tool(&folder, &board.top()).0);
    }
}

/// Every run of the emitter gives the same text.
#[test]
fn tops_repeat_from_run_to_run() {
    for board in BOARDS {
        let text = || {
            let top = emit_top(board, "default", "zeronic", "x_").expect("emits");
            (top.design.single_file(), board::xdc::files(board, &top, true))
        };
        assert!(text() == text(), "{}", board.name);
    }
}

fn flat(ports: &[Port]) -> BTreeMap<String, (PortDirection, usize)> {
    let row = |port: &Port| (port.verilog_name(), (port.direction, port.bits));
    ports.iter().map(row).collect()
}

#[test]
fn card_has_ports_the_tops_join() {
    assert_eq!(flat(&ports_of(&CardBox::new("zeronic"))), flat(&small().ports));
}

/// Ports of a primitive, from the library of Yosys: name without underscores to direction, width.
fn primitive(name: &str) -> BTreeMap<String, (PortDirection, usize)> {
    let yosys = Yosys::locate().expect("Yosys");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.il"));
    let script = format!(
        "read_verilog -lib +/xilinx/cells_xtra.v +/xilinx/cells_sim.v\n\
         dump -o {} ={name}/i:* ={name}/o:*\n",
        file.display()
    );
    let commands = file.with_extension("ys");
    std::fs::write(&commands, script).expect("writes");
    let output = Command::new(yosys.program).args(["-q", "-s"]).arg(&commands).output();
    let output = output.expect("Yosys starts");
    assert!(output.status.success(), "{name}: {}", log(&output));
    let text = std::fs::read_to_string(&file).expect("a list of ports");
    let mut ports = BTreeMap::new();
    for line in text.lines() {
        let Some(rest) = line.trim().strip_prefix("wire ") else { continue };
        let words: Vec<&str> = rest.split_whitespace().collect();
        let width = words.iter().position(|word| *word == "width");
        let bits = width.map_or(1, |at| words[at + 1].parse().expect("a width"));
        let direction = match words.contains(&"input") {
            true => PortDirection::Input,
            false => PortDirection::Output,
        };
        let port = words.last().expect("a name").trim_start_matches('\\');
        ports.insert(port.replace('_', ""), (direction, bits));
    }
    assert!(!ports.is_empty(), "{name}: {text}");
    ports
}

/// The soft logic around the primitive has other streams and no lanes; what else it brings out are
/// the primitive's own ports.
#[test]
fn pcie_core_has_primitives_ports() {
    for kind in ["PCIE40E4", "PCIE4CE4"] {
        let there = primitive(kind);
        let core = ports_of(&PcieCore::new("pcie4_uscale_plus"));
        assert_eq!(core.len(), 132);
        let mut compared = 0;
        for port in core {
            let name = port.verilog_name().to_uppercase().replace('_', "");
            let is_own = name.starts_with("CFG") || name.starts_with("PCIERQ");
            // A virtual function's ports are wider in the core than the memory that keeps them.
            let found = there.get(&name).filter(|_| is_own);
            if let Some(found) = found {
                assert_eq!(found, &(port.direction, port.bits), "{kind}: {name}");
                compared += 1;
            }
        }
        assert!(compared >= 60, "{kind}: {compared} ports compared");
    }
}

/// Pins that the vendor's primitives are given in our wrappers: name of the primitive, pins.
fn pins_of_wrappers() -> Vec<(String, Vec<String>)> {
    let verilog = emit_top(&BOARDS[0], "small", "zeronic", "x_").expect("emits");
    let verilog = verilog.design.single_file();
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut open = false;
    for line in verilog.lines().map(str::trim) {
        let word = line.split(' ').next().unwrap_or("");
        let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        if word.len() > 3 && word.chars().all(is_name) && line.ends_with('(') {
            found.push((word.to_owned(), Vec::new()));
            open = !line.ends_with("#(");
        } else if line.starts_with(") ") && line.ends_with('(') {
            // Parameters are over.
            open = true;
        } else if line == ");" {
            open = false;
        } else if let (true, Some((pin, _))) = (open, line.split_once('(')) {
            if let Some((_, pins)) = found.last_mut() {
                pins.push(pin.trim_start_matches('.').to_owned());
            }
        }
    }
    found
}

#[test]
fn wrappers_name_existing_primitive_pins() {
    let wrappers = pins_of_wrappers();
    let names: Vec<&str> = wrappers.iter().map(|(name, _)| name.as_str()).collect();
    for name in [
        "IBUFDS_GTE4",
        "IBUFDS",
        "BUFGCE",
        "IOBUF",
        "SYSMONE4",
        "STARTUPE3",
        "ICAPE3",
        "MMCME4_BASE",
    ] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    for (name, pins) in wrappers {
        let there = primitive(&name);
        assert!(!pins.is_empty(), "{name}");
        for pin in pins {
            // An inout has no place in the list of inputs and outputs.
            let is_known = there.contains_key(&pin.replace('_', "")) || pin == "IO";
            assert!(is_known, "{name} has no pin {pin}");
        }
    }
}
