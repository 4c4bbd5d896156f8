//! A board's constraints as Vivado reads them: pins, configuration, floorplan.
//!
//! ```text
//!   constraints on the pads ──► pins.xdc
//!   flash                   ──► config.xdc
//!   dies of PCIe and MAC    ──► floorplan.xdc
//!   crossings of the window ──► window.xdc, for the module of the window
//! ```
//! Source: UG912 (properties), UG835 (commands), UG908 (configuration properties).

use rust_hdl_core::prelude::*;

use crate::description::Board;
use crate::tops::{EmittedTop, PortConstraint};

/// The files of a board: name and text; the receive list is in a die of its own, or not.
pub fn files(board: &Board, top: &EmittedTop, has_far_list: bool) -> Vec<(String, String)> {
    [
        ("pins.xdc", pins(board, &top.constraints)),
        ("config.xdc", config(board)),
        ("floorplan.xdc", floorplan(board, has_far_list)),
        ("window.xdc", window(board)),
    ]
    .map(|(name, text)| (name.to_owned(), text))
    .to_vec()
}

/// The head of a file.
fn head(board: &Board, what: &str) -> String {
    format!("# Zeronic: {}, {}: {what}.\n\n", board.title, board.part)
}

/// The line of a constraint; nothing for a kind that needs none.
pub fn line(constraint: &PortConstraint) -> Option<String> {
    let index = constraint.pin.index;
    let port = match constraint.bits {
        1 => constraint.port.clone(),
        _ => format!("{}[{index}]", constraint.port),
    };
    let property =
        |name: &str, value: &str| format!("set_property {name} {value} [get_ports {{ {port} }}]");
    match &constraint.pin.constraint {
        Constraint::Location(pin) => Some(property("PACKAGE_PIN", pin)),
        Constraint::Kind(kind) => Some(property("IOSTANDARD", standard(kind))),
        Constraint::Slew(SlewType::Fast) => Some(property("SLEW", "FAST")),
        Constraint::Slew(SlewType::Normal) => None,
        Constraint::Timing(Timing::Periodic(clock)) => Some(format!(
            "create_clock -name {} -period {} [get_ports {{ {port} }}]",
            clock.net, clock.period_nanoseconds
        )),
        Constraint::Timing(Timing::Custom(text)) | Constraint::Custom(text) => Some(text.clone()),
        Constraint::Timing(timing) => panic!("{port}: no pad of ours has {timing:?}"),
    }
}

/// Vivado's name of an IO standard.
fn standard(kind: &SignalType) -> &str {
    match kind {
        SignalType::LowVoltageCMOS_1v8 => "LVCMOS18",
        SignalType::Custom(name) => name,
        other => panic!("no pad of ours is {other:?}"),
    }
}

/// The pins: one line for each constraint, a blank line between ports.
pub fn pins(board: &Board, constraints: &[PortConstraint]) -> String {
    let mut text = head(board, "pins and the clocks at them");
    text += "# Negative lanes have no line: they follow from the positive ones.\n";
    let mut last = "";
    for constraint in constraints {
        if constraint.port != last {
            last = &constraint.port;
            let source = board.pad(last).map_or("", |pad| pad.source.name());
            text += &format!("\n# {last}: {source}\n");
        }
        if let Some(line) = line(constraint) {
            text += &line;
            text.push('\n');
        }
    }
    text
}

/// Configuration: flash, voltage, what happens when the image is broken.
pub fn config(board: &Board) -> String {
    let flash = &board.flash;
    let mut text = head(board, "configuration from flash");
    let mut put = |name: &str, value: &str| {
        text += &format!("set_property {name} {value} [current_design]\n");
    };
    put("CFGBVS", "GND");
    put("CONFIG_VOLTAGE", flash.voltage);
    put("BITSTREAM.GENERAL.COMPRESS", "TRUE");
    put("BITSTREAM.CONFIG.CONFIGFALLBACK", "ENABLE");
    put("BITSTREAM.CONFIG.SPI_32BIT_ADDR", "YES");
    put("BITSTREAM.CONFIG.SPI_BUSWIDTH", &flash.width_bits.to_string());
    put("BITSTREAM.CONFIG.SPI_FALL_EDGE", "YES");
    match flash.rate_mhz {
        Some(rate) => {
            put("BITSTREAM.CONFIG.EXTMASTERCCLK_EN", "DISABLE");
            put("BITSTREAM.CONFIG.CONFIGRATE", rate);
        }
        None => put("BITSTREAM.CONFIG.EXTMASTERCCLK_EN", "DIV-1"),
    }
    if flash.pull_unused_up {
        put("BITSTREAM.CONFIG.UNUSEDPIN", "PULLUP");
    }
    put("BITSTREAM.CONFIG.OVERTEMPSHUTDOWN", "ENABLE");
    text
}

/// Instances below the card that share the die of the MAC: its front, which runs with the MAC's
/// clock.
pub const MAC_CELLS: [&str; 12] = [
    "mac_receive",
    "mac_send/fifo",
    "mac_send/port",
    "datapath/rx_split/intake/ingress",
    "datapath/rx_split/intake/parse",
    "datapath/rx_split/intake/link_step",
    "datapath/rx_split/intake/window",
    "datapath/rx_split/intake/verify",
    "datapath/rx_split/intake/transport/profiles",
    "datapath/rx_split/intake/transport/fields",
    "datapath/rx_split/intake/transport/layout",
    "datapath/rx_split/intake/transport/key",
];

/// Instances below the card between its front and the rest: the crossings between their clocks, and
/// registers. No net leads past them, so where a die lies between those of PCIe and MAC they are in
/// it, and no net crosses two borders.
pub const BETWEEN_CELLS: [&str; 9] = [
    "mac_link",
    "mac_send/guard",
    "mac_send/crossing",
    "mac_send/level",
    "mac_send/cuts",
    "datapath/rx_split/intake/gate",
    "datapath/rx_split/intake/gate_seen",
    "datapath/rx_split/intake/packet_buffer",
    "datapath/rx_split/intake/transport/registers",
];

/// Instances below the card that share a die: paths run through them from end to end.
pub const CORE_CELLS: [&str; 5] = [
    "host_interface",
    "datapath/tables",
    "datapath/tx_merge",
    "datapath/rx_split/placement",
    "datapath/rx_split/delivery",
];

/// Where the instance of the card is in a top.
pub const CARD_PATH: &str = "shell/card";

/// The receive list, and the registers between it and its users, where it is in a die of its own.
pub const FAR_CELLS: [&str; 2] = ["datapath/tables/rx_list", "datapath/tables/rx_reach"];

/// The floorplan: the card in the die of PCIe, its front in that of the MAC, a far list in the die
/// beside that of PCIe. The registers on the way to it may be on either side of the border; what is
/// between front and card is in the die between, if there is one.
pub fn floorplan(board: &Board, has_far_list: bool) -> String {
    let mut text = head(board, "which die holds what");
    let slr = |die: u32| format!("SLR{die}");
    let (core, far) = (board.pcie.die, board.far_die());
    let [list, reach] = FAR_CELLS.each_ref().map(std::slice::from_ref);
    let mut blocks =
        vec![("core", slr(core), &CORE_CELLS[..]), ("mac", slr(board.mac.die), &MAC_CELLS[..])];
    if let Some(die) = board.die_between() {
        blocks.push(("between", slr(die), &BETWEEN_CELLS[..]));
    }
    if has_far_list {
        blocks.push(("list", slr(far), list));
        blocks.push(("reach", format!("{} {}", slr(core), slr(far)), reach));
    }
    for (name, dies, cells) in blocks {
        text += &format!("create_pblock pblock_{name}\n");
        text += &format!("resize_pblock [get_pblocks pblock_{name}] -add {{{dies}}}\n");
        for cell in cells {
            text += &format!(
                "add_cells_to_pblock [get_pblocks pblock_{name}] \
                 [get_cells {{ {CARD_PATH}/{cell} }}]\n"
            );
        }
        text.push('\n');
    }
    text.trim_end().to_owned() + "\n"
}

/// A clock of the window: its port there, and its period in ns.
type WindowClock = (&'static str, f64);

const USER: WindowClock = ("clock", 4.0);
/// 100 MHz made of the free clock.
const BASE: WindowClock = ("base_clock", 10.0);
const MAC: WindowClock = ("mac_clock", 3.103);
/// The period is that of the fastest free clock of any board.
const FREE: WindowClock = ("free_clock", 3.333);

/// Crossings of the card's window with a FIFO: instance, from and to which clock.
const MAC_FIFOS: [(&str, WindowClock, WindowClock); 2] =
    [("mac/requests", USER, BASE), ("mac/replies", BASE, USER)];

/// The same of every window, that of a golden image too.
const PORT_FIFOS: [(&str, WindowClock, WindowClock); 2] =
    [("images/requests", USER, BASE), ("images/replies", BASE, USER)];

/// Clocks that the window measures with the user clock: instance and clock.
const METERS: [(&str, WindowClock); 3] =
    [("clocks/mac", MAC), ("clocks/base", BASE), ("clocks/free", FREE)];

/// Top bit of a pointer of the FIFOs.
const POINTER_TOP: usize = 4;

/// Limits of the paths between the clocks of the window, for the module of the window.
///
/// As in the card, bits of a crossing arrive within a period of the faster clock; a net of two
/// lines a pair of clocks holds what is not named.
pub fn window(board: &Board) -> String {
    let mut text = window_head(board);
    for (path, from, to) in MAC_FIFOS.into_iter().chain(PORT_FIFOS) {
        text += &fifo(path, from, to);
    }
    for (path, measured) in METERS {
        text += &format!(
            "\n# {path}: one bit\nset_max_delay -datapath_only \
             -from [get_cells {{{path}/turn_reg}}] \
             -to [get_pins {{{path}/level/first_reg[0]/D}}] {}\n",
            limit(measured, USER)
        );
    }
    text += &format!(
        "\n# The MAC's alignment: one bit, from the core\nset_max_delay -datapath_only -from {} \
         -to [get_pins {{gpio/aligned_seen/first_reg[0]/D}}] {}\n",
        clock(MAC),
        limit(MAC, USER)
    );
    text +=
        "\n# Whatever else goes from clock to clock. User and MAC clock: the card's constraints.\n";
    text + &rest(&[(USER, BASE), (BASE, USER), (FREE, USER)])
}

/// The same for the window of a golden image.
pub fn golden_window(board: &Board) -> String {
    let mut text = window_head(board);
    for (path, from, to) in PORT_FIFOS {
        text += &fifo(path, from, to);
    }
    text += "\n# Whatever else goes from clock to clock.\n";
    text + &rest(&[(USER, BASE), (BASE, USER)])
}

fn window_head(board: &Board) -> String {
    head(board, "paths between the clocks of the board window")
        + "# Names are below the cell of the window. To be read after the cores' own constraints.\n"
}

fn clock((port, _): WindowClock) -> String {
    format!("[get_clocks -of_objects [get_ports {port}]]")
}

/// A period of the faster clock.
fn limit(from: WindowClock, to: WindowClock) -> String {
    format!("{:.3}", from.1.min(to.1))
}

/// A net for what has no line of its own.
fn rest(pairs: &[(WindowClock, WindowClock)]) -> String {
    let line = |(from, to): &(WindowClock, WindowClock)| {
        let (start, end) = (clock(*from), clock(*to));
        format!("set_max_delay -datapath_only -from {start} -to {end} {:.3}\n", to.1)
    };
    pairs.iter().map(line).collect()
}

/// The lines of a crossing with a FIFO.
fn fifo(path: &str, from: WindowClock, to: WindowClock) -> String {
    let limit = limit(from, to);
    let mut text = format!("\n# {path}: from {} to {}\n", from.0, to.0);
    for (name, seen) in [("write", "write_seen"), ("read", "read_seen")] {
        let start = format!(
            "[get_cells {{{path}/{name}_gray_reg[*] {path}/{name}_pointer_reg[{POINTER_TOP}]}}]"
        );
        let end = format!("[get_pins {{{path}/{seen}/first_reg[*]/D}}]");
        text += &format!("set_max_delay -datapath_only -from {start} -to {end} {limit}\n");
        text += &format!("set_bus_skew -from {start} -to {end} {limit}\n");
    }
    text += &format!(
        "set_max_delay -datapath_only -from {} \
         -to [get_pins {{{path}/head_reg[*]/D}}] {limit}\n",
        clock(from)
    );
    text
}
