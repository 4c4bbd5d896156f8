//! Descriptions and constraints: files, pins, an independent source, a second printer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use board::boards::{find, BOARDS};
use board::description::{Board, Pad, Source};
use board::placed::place;
use board::tops::{constraints_of, emit_top, EmittedTop};
use board::xdc;
use rust_hdl_core::prelude::*;
use verilate::toolchain::litex_boards_python;

use crate::checks::{wrong_pins, wrong_voltages};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn top(board: &Board) -> EmittedTop {
    emit_top(board, "default", "zeronic", "zeronic_top_").expect("the top is emitted")
}

fn pins(board: &Board) -> String {
    xdc::pins(board, &top(board).constraints)
}

#[test]
fn names_and_numbers_are_unique() {
    let mut names: Vec<&str> = Vec::new();
    let mut numbers = Vec::new();
    for board in BOARDS {
        names.push(board.name);
        names.extend(board.aliases);
        numbers.push(board.number);
    }
    let (all, count) = (names.len(), numbers.len());
    names.sort_unstable();
    names.dedup();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!((names.len(), numbers.len()), (all, count));
    assert!(numbers.iter().all(|number| *number != 0));
}

#[test]
fn aliases_find_their_board() {
    assert_eq!(find("bcu1525").map(|board| board.name), Some("vcu1525"));
    assert_eq!(find("c1100").map(|board| board.name), Some("u55n"));
    assert_eq!(find("pdp11"), None);
}

/// `ZERONIC_BLESS=1` writes the files instead.
#[test]
fn constraints_match_the_descriptions() {
    for board in BOARDS {
        let folder = root().join("constraints").join(board.name);
        for (name, text) in xdc::files(board, &top(board), false) {
            let path = folder.join(&name);
            if seed::blesses() {
                std::fs::create_dir_all(&folder).expect("a folder");
                std::fs::write(&path, &text).expect("a file");
            }
            let kept = std::fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(kept, text, "{}: set ZERONIC_BLESS=1", path.display());
        }
    }
}

#[test]
fn every_port_has_pins_or_reason() {
    for board in BOARDS {
        let top = top(board);
        assert!(top.ports.iter().all(|port| !port.name.contains('$')));
        let xdc = xdc::pins(board, &top.constraints);
        assert_eq!(wrong_pins(&top.ports, &xdc), [""; 0], "{}", board.name);
        // Every pad of the description is a port.
        for pad in board.pads {
            let port = top.ports.iter().find(|port| port.name == pad.port);
            let bits = port.map(|port| port.bits);
            assert_eq!(bits, Some(pad.pins.len()), "{}: {}", board.name, pad.port);
        }
    }
}

#[test]
fn planted_faults_of_pins_are_found() {
    let board = find("vcu118").expect("a board");
    let top = top(board);
    let good = xdc::pins(board, &top.constraints);
    for (from, to, found) in [
        ("PACKAGE_PIN AT32 ", "PACKAGE_PIN AV34 ", "pin AV34 is at led[0] and led[1]"),
        (
            "set_property PACKAGE_PIN AL8 [get_ports { pcie_refclk_n }]\n",
            "",
            "pcie_refclk_n has 0 pins",
        ),
        (
            "set_property IOSTANDARD LVCMOS18 [get_ports { pcie_reset_n }]\n",
            "",
            "pcie_reset_n has 0 IO standards",
        ),
        ("{ led[7] }", "{ led[8] }", "no port has a bit led[8]"),
        ("{ pcie_rx_p[3] }", "{ pcie_rx_n[3] }", "pcie_rx_n[3] has 1 pins"),
    ] {
        assert!(good.contains(from), "{from}");
        let wrong = wrong_pins(&top.ports, &good.replace(from, to));
        assert!(wrong.iter().any(|line| line == found), "{found}: {wrong:?}");
    }
}

/// Platform of `litex-boards` for a board, if it has one.
fn platform(board: &Board) -> Option<&'static str> {
    Some(match board.name {
        "vcu118" => "xilinx_vcu118",
        "vcu1525" => "sqrl_xcu1525",
        "u200" => "xilinx_alveo_u200",
        "u250" => "xilinx_alveo_u250",
        "u280" => "xilinx_alveo_u280",
        _ => return None,
    })
}

/// What the platform calls a port.
fn names_there(board: &Board, port: &str) -> Vec<&'static str> {
    match (port, board.name) {
        ("pcie_refclk_p", _) => vec!["pcie_x16:0.clk_p"],
        ("pcie_refclk_n", _) => vec!["pcie_x16:0.clk_n"],
        ("pcie_reset_n", _) => vec!["pcie_x16:0.rst_n"],
        ("pcie_rx_p", _) => vec!["pcie_x16:0.rx_p"],
        ("pcie_tx_p", _) => vec!["pcie_x16:0.tx_p"],
        ("qsfp_refclk_p", "u280") => vec!["qsfp_156mhz_clock:0.p"],
        ("qsfp_refclk_n", "u280") => vec!["qsfp_156mhz_clock:0.n"],
        ("qsfp_refclk_p", _) => vec!["mgt_si570_clock:0.p"],
        ("qsfp_refclk_n", _) => vec!["mgt_si570_clock:0.n"],
        ("qsfp_rx_p", _) => vec!["qsfp28:0.rxp"],
        ("qsfp_tx_p", _) => vec!["qsfp28:0.txp"],
        ("qsfp_modsell", _) => vec!["qsfp28:0.modskll"],
        ("qsfp_resetl", _) => vec!["qsfp28:0.resetl"],
        ("qsfp_lpmode", _) => vec!["qsfp28:0.lpmode"],
        ("qsfp_modprsl", _) => vec!["qsfp28:0.modprsl"],
        ("qsfp_intl", _) => vec!["qsfp28:0.intl"],
        ("i2c_scl", _) => vec!["i2c:0.scl"],
        ("i2c_sda", _) => vec!["i2c:0.sda"],
        ("free_clock_p", "vcu118") => vec!["clk125:0.p"],
        ("free_clock_n", "vcu118") => vec!["clk125:0.n"],
        ("free_clock_p", "u280") => vec!["sysclk:0.p"],
        ("free_clock_n", "u280") => vec!["sysclk:0.n"],
        ("free_clock_p", _) => vec!["clk300:0.p"],
        ("free_clock_n", _) => vec!["clk300:0.n"],
        ("led", _) => vec![
            "user_led:0",
            "user_led:1",
            "user_led:2",
            "user_led:3",
            "user_led:4",
            "user_led:5",
            "user_led:6",
            "user_led:7",
        ],
        _ => Vec::new(),
    }
}

/// Pins and IO standards of a platform, by name.
fn litex(platform: &str) -> BTreeMap<String, (Vec<String>, Option<String>)> {
    let script = root().join("sim/board/tests/boards/litex.py");
    let python = litex_boards_python().expect("litex-boards");
    let output = Command::new(python).arg(script).arg(platform).output().expect("Python starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{platform}: {error}");
    let text = String::from_utf8_lossy(&output.stdout);
    let rows = text.lines().map(|line| {
        let mut words = line.split(' ').map(str::to_owned);
        let name = words.next().expect("a name");
        let pins = words.next().expect("pins");
        let pins = pins.split(',').map(str::to_owned).collect();
        (name, (pins, words.next()))
    });
    rows.collect()
}

/// What the independent source says of a pad: nothing, the same, or something else.
fn compare_pad(
    board: &Board,
    pad: &Pad,
    there: &BTreeMap<String, (Vec<String>, Option<String>)>,
) -> Option<Result<(), String>> {
    let names = names_there(board, pad.port).into_iter().take(pad.pins.len());
    let found: Vec<_> = names.filter_map(|name| there.get(name)).collect();
    if found.is_empty() {
        return None;
    }
    let pins: Vec<&str> = found.iter().flat_map(|(pins, _)| pins).map(String::as_str).collect();
    let standards = found.iter().filter_map(|(_, standard)| standard.as_deref());
    let mine = pad.kind.standard().map(|standard| standard.name());
    if pins != pad.pins {
        return Some(Err(format!("{}: {:?}, there {pins:?}", pad.port, pad.pins)));
    }
    let other = standards.into_iter().find(|standard| Some(*standard) != mine);
    Some(match other {
        Some(other) => Err(format!("{}: {mine:?}, there {other}", pad.port)),
        None => Ok(()),
    })
}

/// A source that was not made from the same files says the same, wherever the description claims
/// that; nowhere else.
#[test]
fn independent_source_has_same_pins() {
    for board in BOARDS {
        let there = platform(board).map(litex).unwrap_or_default();
        for pad in board.pads {
            let verdict = compare_pad(board, pad, &there);
            let wanted = match &verdict {
                Some(Ok(())) => Source::Two,
                Some(Err(_)) => Source::Disputed,
                None => Source::One,
            };
            // What CATTRIP is called there is an LED: no name to look for.
            if pad.port != "hbm_cattrip" {
                assert_eq!(pad.source, wanted, "{}: {} {verdict:?}", board.name, pad.port);
            }
        }
    }
    let board = find("u200").expect("a board");
    let there = litex("xilinx_alveo_u200");
    let pad = board.pad("pcie_reset_n").expect("a pad");
    let mut wrong = *pad;
    wrong.pins = &["BD20"];
    assert!(matches!(compare_pad(board, &wrong, &there), Some(Err(_))));
}

/// Pins whose bank's voltage an independent source knows by the IO standard of the pin itself.
#[test]
fn a_wrong_voltage_is_found() {
    for board in BOARDS.iter().filter(|board| platform(board).is_some()) {
        let there = litex(platform(board).expect("a platform"));
        let mut banks = Vec::new();
        for (pins, standard) in there.values() {
            let is_single = |standard: &&String| standard.starts_with("LVCMOS");
            if let Some(standard) = standard.as_ref().filter(is_single) {
                banks.extend(pins.iter().map(|pin| (pin.as_str(), standard.as_str())));
            }
        }
        let good = pins(board);
        assert_eq!(wrong_voltages(&good, &banks), [""; 0], "{}", board.name);
        let known = good.lines().find(|line| {
            let pin = line.strip_prefix("set_property PACKAGE_PIN ");
            let pin = pin.and_then(|rest| rest.split(' ').next());
            pin.is_some_and(|pin| banks.iter().any(|(known, _)| *known == pin))
        });
        let port = known.and_then(|line| line.split("get_ports").nth(1)).expect("a known pin");
        let swapped: String = good
            .lines()
            .map(|line| match line.starts_with("set_property IOSTANDARD") && line.ends_with(port) {
                true => format!("set_property IOSTANDARD LVCMOS33 [get_ports{port}\n"),
                false => format!("{line}\n"),
            })
            .collect();
        assert_eq!(wrong_voltages(&swapped, &banks).len(), 1, "{}{port}", board.name);
    }
}

/// A flat block with pads of each kind.
#[derive(rust_hdl_macros::LogicBlock, Default)]
struct Flat {
    clock: Signal<In, Clock>,
    button: Signal<In, Bit>,
    led: Signal<Out, Bits<3>>,
}

impl Logic for Flat {
    fn update(&mut self) {}
}

/// A flat block whose pads are those of a board.
fn flat() -> Flat {
    let board = find("u200").expect("a board");
    let mut flat = Flat::default();
    // The names of the ports are those of the pads, so that custom lines are right as well.
    place(&mut flat.clock, board, "free_clock_p");
    place(&mut flat.button, board, "qsfp_intl");
    place(&mut flat.led, board, "led");
    flat
}

/// `rust-hdl-fpga-support` prints the pins of a flat block as we do; it ends with settings for
/// another voltage, and joins the parts of a bundle with `$`, so it does not print our tops.
#[test]
fn other_printer_agrees_on_flat_block() {
    let flat = flat();
    let theirs = rust_hdl_fpga_support::toolchains::vivado::generate_xdc(&flat);
    let (theirs, trailer) = theirs.split_once("set_property CFGBVS").expect("a trailer");
    assert!(trailer.contains("CONFIG_VOLTAGE 3.3"));
    let ours = constraints_of(&flat);
    let ours: Vec<String> = ours.iter().filter_map(xdc::line).collect();
    let theirs: Vec<&str> = theirs.trim_end().lines().collect();
    assert!(ours.len() > 15, "{ours:#?}");
    assert_eq!(ours, theirs);
}
