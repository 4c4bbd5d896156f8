//! Generated parts of documents: the PCIe core's ports, the boards, the board window.
//!
//! ```text
//!   <!-- NAME --> ... <!-- end of NAME -->   compared; ZERONIC_BLESS=1 writes
//! ```

use std::path::{Path, PathBuf};

use abi::registers::BOARD_WINDOW as WINDOW;
use abi::window::BLOCKS;
use board::boards::BOARDS;
use board::description::Source;
use board::pcie_reasons::reason;
use hdl::ports::{ports_of, PortDirection};
use ip::pcie::{
    CompletionPort, Configuration, ConfigurationSpace, HostReplyPort, HostRequestPort, RequestPort,
    SequencePort,
};
use ip::pcie_core::PcieCore;

use crate::boards::top;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

/// Compares a part of a document, or writes it.
pub fn compare(document: &str, part: &str, text: &str) {
    let path = path(document);
    let kept = std::fs::read_to_string(&path).expect("a document");
    let (start, end) = (format!("<!-- {part} -->\n"), format!("<!-- end of {part} -->\n"));
    let (before, rest) = kept.split_once(&start).unwrap_or_else(|| panic!("no part {part}"));
    let (_, after) = rest.split_once(&end).expect("its end");
    let fresh = format!("{before}{start}\n{text}\n{end}{after}");
    if seed::blesses() {
        std::fs::write(&path, &fresh).expect("writes");
    }
    let kept = std::fs::read_to_string(&path).expect("a document");
    assert!(kept == fresh, "{document}, {part}: set ZERONIC_BLESS=1");
}

/// What the top connects each port of the core with, from its text.
fn connections(verilog: &str) -> Vec<(String, String)> {
    let instance = verilog.split("pcie4_uscale_plus_0 core (\n").nth(1).expect("the core");
    let lines = instance.lines().take_while(|line| line.trim() != ");");
    let pins = lines.map(|line| {
        let pin = line.trim().trim_start_matches('.').trim_end_matches(',');
        let (port, net) = pin.split_once('(').expect("a pin");
        (port.to_owned(), net.trim_end_matches(')').to_owned())
    });
    pins.collect()
}

#[test]
fn pcie_core_ports_are_the_manuals() {
    let verilog = top(&BOARDS[0]).design.single_file();
    let connections = connections(&verilog);
    let mut table = "| port | | bits | at | why |\n|---|---|---|---|---|\n".to_owned();
    let mut joined = 0;
    for port in ports_of(&PcieCore::new("pcie4_uscale_plus")) {
        let name = port.verilog_name();
        let connection = connections.iter().find(|(port, _)| *port == name);
        let (_, net) = connection.unwrap_or_else(|| panic!("{name} is not connected"));
        let direction = match port.direction {
            PortDirection::Input => "in",
            _ => "out",
        };
        let constant = net.split_once("'d").map(|(_, value)| value.to_owned());
        let at = match (&constant, net.as_str(), reason(&name)) {
            (Some(value), _, _) => value.clone(),
            (None, "", _) => "open".to_owned(),
            (None, _, Some(_)) => "pads".to_owned(),
            (None, _, None) => "card".to_owned(),
        };
        let is_card = at == "card";
        joined += usize::from(is_card);
        let why = if is_card { "" } else { reason(&name).unwrap_or("") };
        assert!(is_card || !why.is_empty(), "{name} has no reason");
        table += &format!("| `{name}` | {direction} | {} | {at} | {why} |\n", port.bits);
    }
    // All the card has of the core.
    let bundles: [&dyn rust_hdl_core::prelude::Block; 7] = [
        &RequestPort::default(),
        &CompletionPort::default(),
        &HostRequestPort::default(),
        &HostReplyPort::default(),
        &SequencePort::default(),
        &Configuration::default(),
        &ConfigurationSpace::default(),
    ];
    let mut of_card = 5;
    for bundle in bundles {
        of_card += atoms(bundle);
    }
    assert_eq!(joined, of_card, "ports joined with the card");
    compare("hardware.md", "ports of the PCIe core", &table);
}

/// Signals of a bundle.
fn atoms(bundle: &dyn rust_hdl_core::prelude::Block) -> usize {
    use rust_hdl_core::prelude::{Atom, Block, Probe};
    #[derive(Default)]
    struct Count(usize);
    impl Probe for Count {
        fn visit_start_scope(&mut self, _: &str, _: &dyn Block) {}
        fn visit_start_namespace(&mut self, _: &str, _: &dyn Block) {}
        fn visit_atom(&mut self, _: &str, _: &dyn Atom) {
            self.0 += 1;
        }
        fn visit_end_namespace(&mut self, _: &str, _: &dyn Block) {}
        fn visit_end_scope(&mut self, _: &str, _: &dyn Block) {}
    }
    let mut count = Count::default();
    bundle.accept("bundle", &mut count);
    count.0
}

#[test]
fn boards_match_the_manual() {
    let mut table = "| board | part | PCIe, die | MAC, die | clock of the wire, MHz | flash, user \
                     image | licence | pins with two sources |\n|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for board in BOARDS {
        let (pcie, mac, flash) = (&board.pcie, &board.mac, &board.flash);
        let names = std::iter::once(&board.name).chain(board.aliases);
        let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        let count = |wanted: Option<Source>| -> usize {
            let pads = board.pads.iter();
            let pads = pads.filter(|pad| wanted.is_none_or(|source| pad.source == source));
            pads.map(|pad| pad.pins.len()).sum()
        };
        table += &format!(
            "| {} | {} | {}_{}, {} | CMACE4_{}, {} | {} | {} bit, 0x{:08x} | {} | {} of {} |\n",
            names.join(", "),
            board.part,
            pcie.kind.primitive(),
            pcie.site,
            pcie.die,
            mac.site,
            mac.die,
            mac.clock_mhz,
            flash.width_bits,
            flash.user_offset_bytes,
            board.licence,
            count(Some(Source::Two)),
            count(None),
        );
    }
    compare("boards/README.md", "table of the boards", &table);
    let mut notes = String::new();
    for board in BOARDS {
        notes += &format!("- **{}**\n", board.title);
        for note in board.notes {
            notes += &format!("  - {note}\n");
        }
    }
    compare("boards/README.md", "notes of the boards", &notes);
}

#[test]
fn window_matches_the_manual() {
    let mut table = "| block | offset | bytes | words |\n|---|---|---|---|\n".to_owned();
    table +=
        &format!("| directory | 0x{WINDOW:05x} | 4096 | {} |\n", abi::window::directory().len());
    for block in BLOCKS {
        let words = match block.words {
            0 => "absent".to_owned(),
            words => words.to_string(),
        };
        let (kind, offset, bytes) = (block.kind, block.offset, block.bytes);
        table += &format!("| {kind:?} ({}) | 0x{offset:05x} | {bytes} | {words} |\n", kind as u32);
    }
    compare("boards/README.md", "blocks of the window", &table);
}
