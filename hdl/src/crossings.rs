//! Where the card's two clocks meet, and the constraints that such a place needs.
//!
//! ```text
//!   emitted card ──> its text, module by module ──> Domains ──> crossings ──> lines of an XDC file
//! ```
//! A crossing is safe if its bits arrive within a period of the faster clock of each other, and of
//! the edge that sends them:
//!
//! | crossing | from | to |
//! |---|---|---|
//! | `AsyncFifo` | gray pointers; the top bits of the pointers, one with theirs | first flip-flop |
//! | | its memory | `head` |
//! | `ValueCrossing`, `PeakCrossing` | the value that is held | `seen` |
//! | | toggle and acknowledge | first flip-flop |
//! | `Synchronizer` by itself | whatever drives it | first flip-flop |
//! | `PairRam` | none: a block RAM with a clock at each port | |
//!
//! Below those lines is a net: any path from one clock to the other has a period of its target. So
//! no path is left without a limit, as it would be between asynchronous clock groups.
//!
//! Invariants:
//! 1. Names are below the card's own cell: the file is read with `-ref zeronic`, whatever is around
//!    it.
//! 2. Lines follow from the emitted text alone.
//!
//! Source: UG903, scoped constraints and `set_bus_skew`; UG949, asynchronous crossings.

pub mod domains;
mod leaves;
mod module_text;
pub mod places;

use std::fmt::Write;

use crate::crossings::domains::{ClockId, Crossing, Domain, Domains};
use crate::emit::EmittedCard;

/// A clock of the card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CardClock {
    /// Its port.
    pub port: &'static str,
    /// Its frequency in MHz.
    pub frequency_mhz: f64,
    /// How the names of the other ports of that clock begin.
    pub prefixes: &'static [&'static str],
}

/// The clocks of the card: of the PCIe hard block, and of the MAC.
pub const CLOCKS: [CardClock; 2] = [
    CardClock {
        port: "user_clk",
        frequency_mhz: 250.0,
        prefixes: &["user_", "s_axis_", "m_axis_", "pcie_", "cfg_", "m_axil_"],
    },
    CardClock {
        port: "gt_txusrclk2",
        frequency_mhz: 322.265_625,
        prefixes: &["rx_axis_", "tx_axis_", "usr_", "stat_", "ctl_", "tx_ovf", "tx_unf"],
    },
];

/// How the file begins.
const HEAD: &str = "\
# Crossings between the two clocks of the card. Written by `zeronic verilog`; do not edit.
#
# Read it with `read_xdc -ref zeronic` and PROCESSING_ORDER LATE: names are below the card's cell,
# and the clocks are those that the constraints of the PCIe and MAC cores have made.
# No clock groups: they would take away the limits that gray-coded pointers rely on.
";

/// The ports of each of [`CLOCKS`].
pub fn ports() -> [Domain<'static>; CLOCKS.len()] {
    CLOCKS.map(|clock| Domain { clock: clock.port, prefixes: clock.prefixes })
}

/// Follows the card's clocks.
pub fn domains(card: &EmittedCard) -> Domains {
    Domains::of(&card.design.texts(), &card.prefix, &ports())
}

/// The constraints of the card's crossings, an XDC file.
pub fn constraints(card: &EmittedCard) -> String {
    let mut text = HEAD.to_owned();
    for crossing in &domains(card).crossings {
        let clocks = (CLOCKS[crossing.clocks.0].port, CLOCKS[crossing.clocks.1].port);
        let block = &crossing.block;
        let title = format!("{}: {block}, {} to {}", crossing.path, clocks.0, clocks.1);
        put(&mut text, &format!("\n# {title}\n"));
        match paths(crossing).as_slice() {
            [] => put(&mut text, "# A block RAM with a clock at each port: no path crosses.\n"),
            paths => paths.iter().for_each(|path| put(&mut text, &path.lines())),
        }
    }
    put(&mut text, "\n# The net: whatever else goes from one clock to the other.\n");
    for (from, to) in [(1, 0), (0, 1)] {
        let (from, to, period) = (clock(from), clock(to), period_ns(to));
        let line = format!("set_max_delay -datapath_only -from {from} -to {to} {period:.3}\n");
        put(&mut text, &line);
    }
    text
}

/// A path of a crossing: where it starts and ends, and whether several bits go together.
struct Path {
    from: String,
    to: String,
    is_bus: bool,
}

impl Path {
    /// From registers to the data inputs of registers, `bits` wide.
    fn registers(from: &[String], to: &str, bits: usize) -> Path {
        Path {
            from: format!("[get_cells {{{}}}]", from.join(" ")),
            to: format!("[get_pins {{{to}/D}}]"),
            is_bus: bits > 1,
        }
    }

    /// The lines of the file.
    fn lines(&self) -> String {
        let Path { from, to, .. } = self;
        let limit_ns = (0..CLOCKS.len()).map(period_ns).fold(f64::INFINITY, f64::min);
        let mut text =
            format!("set_max_delay -datapath_only -from {from} -to {to} {limit_ns:.3}\n");
        if self.is_bus {
            put(&mut text, &format!("set_bus_skew -from {from} -to {to} {limit_ns:.3}\n"));
        }
        text
    }
}

/// The paths of a crossing.
fn paths(crossing: &Crossing) -> Vec<Path> {
    let at = &crossing.path;
    match crossing.block.as_str() {
        "AsyncFifo" => {
            let top = crossing.bits - 1;
            let pointer = |side: &str| {
                let from =
                    [format!("{at}/{side}_gray_reg[*]"), format!("{at}/{side}_pointer_reg[{top}]")];
                let to = format!("{at}/{side}_seen/first_reg[*]");
                Path::registers(&from, &to, crossing.bits)
            };
            let head = register(&format!("{at}/head"), crossing.message_bits);
            let data = Path { from: clock(crossing.clocks.0), ..Path::registers(&[], &head, 1) };
            vec![pointer("write"), pointer("read"), data]
        }
        "ValueCrossing" => value_paths(at, crossing.bits),
        "PeakCrossing" => value_paths(&format!("{at}/crossing"), crossing.bits),
        "Synchronizer" => vec![Path {
            from: clock(crossing.clocks.0),
            ..Path::registers(&[], &format!("{at}/first_reg[*]"), 1)
        }],
        _ => Vec::new(),
    }
}

fn value_paths(at: &str, bits: usize) -> Vec<Path> {
    let single = |name: &str| {
        let (from, to) = (format!("{at}/{name}_reg"), format!("{at}/{name}_seen/first_reg[0]"));
        Path::registers(&[from], &to, 1)
    };
    let held = register(&format!("{at}/held"), bits);
    let seen = register(&format!("{at}/seen"), bits);
    vec![Path::registers(&[held], &seen, bits), single("toggle"), single("acknowledge")]
}

/// The cells of a register as Vivado calls them: one, or one for each bit.
fn register(name: &str, bits: usize) -> String {
    match bits {
        1 => format!("{name}_reg"),
        _ => format!("{name}_reg[*]"),
    }
}

fn clock(id: ClockId) -> String {
    format!("[get_clocks -of_objects [get_ports {}]]", CLOCKS[id].port)
}

fn period_ns(id: ClockId) -> f64 {
    1_000.0 / CLOCKS[id].frequency_mhz
}

fn put(text: &mut String, more: &str) {
    // Writing to a String cannot fail.
    let _ = text.write_str(more);
}
