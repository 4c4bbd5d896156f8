//! A whole top, pads to card, where the card alone usually is: under simulated PCIe and a wire.
//!
//! ```text
//!   zeronic_bench, with the card's ports ── writes and reads the cores' user sides by their path
//!     └─ board: the top ─ shell ─┬─ pcie_side.core, mac_side.core: models, user sides left open
//!                                └─ card, window
//! ```
//! What passes there has passed the tops' joins: a port joined wrongly ends the connection.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::rc::Rc;
use std::sync::OnceLock;

use abi::registers;
use abi::registers::BOARD_WINDOW as WINDOW;
use abi::window as w;
use abi::window::{BlockKind, FlashOperation, PortOperation};
use abi::ABI_VERSION;
use board::boards::find;
use board::description::Board;
use board::tops::{emit_golden, emit_top, EmittedTop};
use hdl::emit::{emit_card, on_large_stack, EmittedCard, PREFIX};
use hdl::ports::{ports_of, Port, PortDirection};
use host::driver::bus::{Bus, MemoryKind};
use ip::pcie_core::PcieCore;
use lab::exchange::Exchange;
use lab::wire::Disturbance;
use pcie_sim::PcieConfig;
use sim::bus::SimulatedBus;
use sim::card::SimulatedCard;
use sim::moved::moves_bytes;
use sim::switched::replace_once;
use verilate::design::Design;
use verilate::options::Options;

use crate::device_pins::{Chips, CHIP_BYTES};

/// A top to be put in the card's place.
struct Whole<'a> {
    board: &'a Board,
    top: EmittedTop,
    /// Name of its module.
    module: String,
    /// Where the blocks between the pads are.
    path: &'a str,
    has_mac: bool,
}

fn range(bits: usize) -> String {
    match bits {
        1 => String::new(),
        bits => format!("[{}:0] ", bits - 1),
    }
}

/// The models with the outputs that are inputs of the card left to who writes them.
fn open_models(core: &str, inputs: &BTreeSet<&str>) -> String {
    let name = |text: &str| -> String {
        let is_name = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
        text.chars().take_while(is_name).collect()
    };
    let mut text = String::new();
    for line in ip::models::text(core).lines() {
        let trimmed = line.trim();
        let assigned = trimmed.strip_prefix("assign ").map(&name);
        let clocked = trimmed.contains(" <= ").then(|| name(trimmed));
        if assigned.or(clocked).is_some_and(|net| inputs.contains(net.as_str())) {
            continue;
        }
        let port = trimmed.trim_end_matches(',').rsplit(' ').next().unwrap_or("");
        let is_open = trimmed.starts_with("output") && inputs.contains(port);
        let line = if is_open { line.replacen(" wire ", " reg  ", 1) } else { line.to_owned() };
        text += &line;
        text.push('\n');
    }
    text
}

/// Ports of the bench beside the card's: the slot's reset, and the flash, whose own chip is at the
/// startup block.
fn other_ports() -> Vec<Port> {
    let port = |name: &str, direction, bits| Port {
        name: name.to_owned(),
        direction,
        bits,
        is_clock: false,
    };
    vec![
        port("perst", PortDirection::Input, 1),
        port("flash_serial_clock", PortDirection::Output, 1),
        port("flash_select", PortDirection::Output, 2),
        port("flash_mosi", PortDirection::Output, 1),
        port("flash_miso", PortDirection::Input, 2),
    ]
}

/// What joins these ports with a top whose startup block is at `path`.
fn flash_joins(path: &str) -> String {
    format!(
        "    wire second_n;
    assign flash_serial_clock = {path}.USRCCLKO;
    assign flash_select = {{~second_n, ~{path}.FCSBO}};
    assign flash_mosi = {path}.DO[0];
    always @* {path}.DI = {{2'b11, flash_miso[0], 1'b1}};
"
    )
}

/// The module with the card's ports around a top.
fn bench(whole: &Whole<'_>, ports: &[Port]) -> String {
    let (top, path) = (&whole.top, whole.path);
    let pcie: BTreeSet<String> =
        ports_of(&PcieCore::new("x")).iter().map(Port::verilog_name).collect();
    let mut text = "module zeronic_bench (\n".to_owned();
    let declared = ports.iter().map(|port| {
        let direction = match port.direction {
            PortDirection::Input => "input",
            _ => "output",
        };
        format!("    {direction} wire {}{}", range(port.bits), port.name)
    });
    text += &declared.collect::<Vec<_>>().join(",\n");
    text += "\n);\n";
    text += &flash_joins(&format!("{path}.device_side.startup.pins"));
    if !top.ports.iter().any(|port| port.name == "flash_select_n") {
        text += "    assign second_n = 1'b1;\n";
    }
    let pins = top.ports.iter().map(|port| {
        let net = match (port.name.as_str(), port.direction) {
            ("pcie_refclk_p" | "free_clock_p", _) => "user_clk".to_owned(),
            ("pcie_reset_n", _) => "~perst".to_owned(),
            ("qsfp_refclk_p", _) => "gt_txusrclk2".to_owned(),
            ("flash_select_n", _) => "second_n".to_owned(),
            ("flash_miso", _) => "flash_miso[1]".to_owned(),
            (_, PortDirection::Input) => format!("{}'d0", port.bits),
            (name, PortDirection::InOut) => format!("pad_{name}"),
            _ => String::new(),
        };
        format!("        .{}({net})", port.name)
    });
    let pins: Vec<String> = pins.collect();
    for port in top.ports.iter().filter(|port| port.direction == PortDirection::InOut) {
        let _ = writeln!(text, "    tri1 pad_{};", port.name);
    }
    let _ = writeln!(text, "    {} board (\n{}\n    );", whole.module, pins.join(",\n"));
    let others: Vec<String> = other_ports().into_iter().map(|port| port.name).collect();
    let own = |port: &&Port| !port.is_clock && !others.contains(&port.name);
    for port in ports.iter().filter(own) {
        let name = &port.name;
        let core = match pcie.contains(name) {
            true => format!("{path}.pcie_side.core"),
            false => format!("{path}.mac_side.core"),
        };
        let is_there = whole.has_mac || pcie.contains(name);
        let _ = match (port.direction, is_there) {
            // The core is in reset as long as the slot is.
            (_, true) if name == "user_reset" => {
                writeln!(text, "    always @* {core}.{name} = {name} | ~{core}.sys_reset;")
            }
            (PortDirection::Input, true) => writeln!(text, "    always @* {core}.{name} = {name};"),
            (PortDirection::Input, false) => Ok(()),
            (_, true) => writeln!(text, "    assign {name} = {core}.{name};"),
            (_, false) => writeln!(text, "    assign {name} = 0;"),
        };
    }
    text + "endmodule\n"
}

/// A design of a board's whole top; `plant` changes the top's text, for a short run.
pub fn whole(board: &Board, card: &EmittedCard, plant: Option<fn(String) -> String>) -> Design {
    let prefix = format!("{PREFIX}{}", board::tops::PREFIX);
    let whole = Whole {
        board,
        top: emit_top(board, "small", card.top, &prefix).expect("emits"),
        module: board.top(),
        path: "board.shell",
        has_mac: true,
    };
    whole.design(card, plant)
}

/// A design of a board's golden image, for a short run.
pub fn golden(board: &Board, card: &EmittedCard) -> Design {
    let whole = Whole {
        board,
        top: emit_golden(board, "x_").expect("an image").expect("emits"),
        module: board.golden_top(),
        path: "board.golden",
        has_mac: false,
    };
    whole.design(card, Some(|text| text))
}

impl Whole<'_> {
    fn design(&self, card: &EmittedCard, plant: Option<fn(String) -> String>) -> Design {
        let is_outside = |port: &&Port| !port.name.starts_with("m_axil_");
        let mut ports: Vec<Port> = card.ports.iter().filter(is_outside).cloned().collect();
        let is_open = |port: &&Port| port.direction == PortDirection::Input && !port.is_clock;
        let inputs = ports.iter().filter(is_open).map(|port| port.name.as_str());
        let models = open_models(self.board.pcie.kind.core(), &inputs.collect());
        ports.extend(other_ports());
        let verilog = self.top.design.single_file();
        let verilog = plant.map_or(verilog.clone(), |plant| plant(verilog));
        let card = if self.has_mac { card.design.single_file() } else { String::new() };
        let text = [models, card, verilog, bench(self, &ports)];
        let (name, text) = ("zeronic_bench", text.concat());
        let options = match plant {
            Some(_) => Options::QUICK,
            None => Options::default(),
        };
        let design = Design::build(name, &text, &ports, options);
        design.unwrap_or_else(|error| panic!("{}: {error}", self.board.name))
    }
}

/// The small card.
pub fn small() -> &'static EmittedCard {
    static SMALL: OnceLock<EmittedCard> = OnceLock::new();
    SMALL.get_or_init(|| emit_card("small").expect("a configuration").expect("emits"))
}

/// What is moved through a top.
fn plan() -> Exchange {
    Exchange {
        bytes: 512 << 10,
        seed: seed::seed(),
        disturbance: Disturbance::default(),
        memory: MemoryKind::Application,
    }
}

/// Offset of a word of a block.
fn word(kind: BlockKind, number: u32) -> u32 {
    kind.block().offset + 4 * number
}

/// Reads and writes the board window through PCIe, card and top.
fn window_answers(board: &Board, design: &Design) {
    let pcie = PcieConfig::default();
    let card = SimulatedCard::of(design, pcie.clone()).expect("a card");
    let mut bus = SimulatedBus::new(Rc::new(RefCell::new(card)), &pcie).expect("a bus");
    let mut read = |offset| bus.read_register(offset).expect("an answer");
    assert_eq!(read(registers::ID), registers::ID_VALUE);
    assert_eq!(read(WINDOW), w::DIRECTORY_MAGIC);
    let number = word(BlockKind::Identity, w::IDENTITY_BOARD);
    assert_eq!(read(number), board.number);
    assert_eq!(read(word(BlockKind::Monitor, 0)), 0x9d9a);
    let plan = board.flash.plan();
    assert_eq!(read(word(BlockKind::Flash, w::FLASH_SLOT)), plan.slot_bytes);
    assert_eq!(read(word(BlockKind::Flash, w::FLASH_SIZE)), plan.chip_bytes);
    assert_eq!(read(word(BlockKind::Flash, w::FLASH_CHIPS)), plan.chips);
    // The MAC's core is in reset for 4,096 cycles after configuration.
    let enable = word(BlockKind::Mac, 3);
    let led = word(BlockKind::Gpio, w::GPIO_LED);
    (0..20).for_each(|_| bus.advance().expect("time passes"));
    for (offset, value) in [(led, 0x55), (enable, 1)] {
        bus.write_register(offset, value).expect("it is posted");
        assert_eq!(bus.read_register(offset).expect("an answer"), value);
    }
    // The model of the device's port says that the first image was loaded.
    let command = word(BlockKind::ConfigurationPort, w::PORT_COMMAND);
    let asks = PortOperation::ReadStatus as u32;
    bus.write_register(command, asks).expect("it is posted");
    let status = word(BlockKind::ConfigurationPort, w::PORT_STATUS);
    while bus.read_register(status).expect("an answer") & 1 == 1 {}
    let booted = word(BlockKind::ConfigurationPort, w::PORT_BOOT_STATUS);
    assert_eq!(bus.read_register(booted).expect("an answer"), 1);
}

/// A golden image answers at the slot, says what it is, and reaches its flash.
#[test]
fn golden_image_answers_reaches_flash() {
    on_large_stack(|| {
        let card = small();
        for name in ["vcu118", "vcu1525"] {
            let board = find(name).expect("a board");
            let pcie = PcieConfig::default();
            let mut card = SimulatedCard::of(&golden(board, card), pcie.clone()).expect("a card");
            let chips = Rc::new(RefCell::new(Chips::new(&card.model, CHIP_BYTES)));
            let beside = chips.clone();
            card.beside = Some(Box::new(move |model| beside.borrow_mut().drive(model)));
            let mut bus = SimulatedBus::new(Rc::new(RefCell::new(card)), &pcie).expect("a bus");
            let mut read = |offset| bus.read_register(offset).expect("an answer");
            assert_eq!(read(registers::ID), registers::GOLDEN_ID_VALUE);
            assert_eq!(read(registers::VERSION), ABI_VERSION);
            for (place, value) in (0..).zip(w::golden_directory()) {
                assert_eq!(read(WINDOW + 4 * place), value);
            }
            let number = word(BlockKind::Identity, w::IDENTITY_BOARD);
            assert_eq!(read(number), board.number);
            assert_eq!(read(word(BlockKind::Monitor, 0)), 0x9d9a);
            assert_eq!(read(word(BlockKind::Mac, 0)), u32::MAX, "absent");
            assert_eq!(read(word(BlockKind::Gpio, 0)), u32::MAX, "absent");
            for chip in 0..board.flash.chips() {
                let identify = FlashOperation::Identify as u32 | chip << w::FLASH_CHIP.offset;
                let command = word(BlockKind::Flash, w::FLASH_COMMAND);
                bus.write_register(command, identify).expect("it is posted");
                let status = word(BlockKind::Flash, w::FLASH_STATUS);
                while bus.read_register(status).expect("an answer") & 1 == 1 {
                    bus.advance().expect("time passes");
                }
                let page = word(BlockKind::Flash, w::FLASH_PAGE);
                let found = bus.read_register(page).expect("an answer");
                assert_eq!(found & 0xffff, 0xbb20, "{name}, chip {chip}");
            }
        }
    });
}

/// One top for each kind of PCIe block.
#[test]
fn bytes_cross_whole_top_both_ways() {
    on_large_stack(|| {
        let card = small();
        for name in ["vcu118", "u280"] {
            let board = find(name).expect("a board");
            let design = whole(board, card, None);
            window_answers(board, &design);
            moves_bytes(&design, &plan(), 0).expect(name);
        }
    });
}

/// A port of a core that is joined with nothing is seen.
#[test]
fn missing_join_in_top_is_found() {
    on_large_stack(|| {
        let board = find("vcu118").expect("a board");
        let plant = |text: String| {
            let joined = ".m_axis_cq_tvalid(m_axis_cq_tvalid)";
            replace_once(&text, joined, ".m_axis_cq_tvalid()")
        };
        let design = whole(board, small(), Some(plant));
        moves_bytes(&design, &plan(), 0).expect_err("no register answers");
    });
}
