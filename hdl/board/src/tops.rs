//! The tops: a shell, and the pads that a board has.
//!
//! ```text
//!   Board ──► one of four tops, its pads placed ──► Verilog, constraints
//! ```
//! | top | boards |
//! |---|---|
//! | [`qsfp::QsfpTop`] | VCU1525, U200, U250: the module's pins and LEDs at the device |
//! | [`qsfp_flash::QsfpFlashTop`] | VCU118: the same, and a second flash chip |
//! | [`hbm_led::HbmLedTop`] | U55C, U55N: CATTRIP and LEDs |
//! | [`hbm::HbmTop`] | U280: CATTRIP |
//! | [`golden`] | golden images of VCU118, VCU1525: slot, free clock, a second flash chip |
//!
//! Invariants:
//! 1. The top of a board has a port for each of its pads, and beside those only negative lanes.

pub mod golden;
pub mod hbm;
pub mod hbm_led;
pub mod qsfp;
pub mod qsfp_flash;

use rust_hdl_core::prelude::*;

use crate::description::Board;
use crate::shell::ShellPlan;
use golden::{GoldenFlashTop, GoldenTop};
use hbm::HbmTop;
use hbm_led::HbmLedTop;
use hdl::ports::{design, ports_of, EmitError, Port};
use qsfp::QsfpTop;
use qsfp_flash::QsfpFlashTop;
use verilog::ModuleNames;

/// What the names of a top's modules begin with, behind what those of the card begin with: both
/// stand in one folder.
pub const PREFIX: &str = "top_";

/// The same of the golden image's modules.
pub const GOLDEN_PREFIX: &str = "golden_";

/// The emitted top of a board.
#[derive(Clone, Debug)]
pub struct EmittedTop {
    /// Its Verilog, without the card's.
    pub design: verilog::Design,
    /// Its ports, named as in the Verilog.
    pub ports: Vec<Port>,
    /// Constraints of its pads, in the order of its ports.
    pub constraints: Vec<PortConstraint>,
}

/// A constraint of one bit of a port.
#[derive(Clone, Debug)]
pub struct PortConstraint {
    /// The port.
    pub port: String,
    /// Its width in bits.
    pub bits: usize,
    /// The constraint.
    pub pin: PinConstraint,
}

/// Emits the top of a board around the card's module `card` in a configuration; the names of the
/// modules below the top begin with `prefix`.
pub fn emit_top(
    board: &Board,
    config: &str,
    card: &str,
    prefix: &str,
) -> Result<EmittedTop, EmitError> {
    let plan = ShellPlan {
        pcie_core: board.pcie.kind.core(),
        board: board.number,
        config,
        card,
        wired: board.pad("qsfp_modprsl").is_some(),
        flash: board.flash.plan(),
        free_clock_ps: board.free_clock_ps(),
    };
    let name = board.top();
    let leds = board.pad("led").map_or(0, |pad| pad.pins.len());
    let wired = plan.wired;
    match (wired, leds) {
        (true, _) if plan.flash.chips == 2 => {
            emit_block(QsfpFlashTop::<8>::new(board, plan), &name, prefix)
        }
        (true, _) => emit_block(QsfpTop::<3>::new(board, plan), &name, prefix),
        (false, 0) => emit_block(HbmTop::new(board, plan), &name, prefix),
        (false, _) => emit_block(HbmLedTop::new(board, plan), &name, prefix),
    }
}

/// Emits the top of a board's golden image, if there is one of ours: where a factory image is in
/// its place, that one stays.
pub fn emit_golden(board: &Board, prefix: &str) -> Option<Result<EmittedTop, EmitError>> {
    if !board.has_golden() {
        return None;
    }
    let name = board.golden_top();
    Some(match board.flash.chips() {
        1 => emit_block(GoldenTop::new(board), &name, prefix),
        _ => emit_block(GoldenFlashTop::new(board), &name, prefix),
    })
}

fn emit_block<B: Block>(mut top: B, name: &str, prefix: &str) -> Result<EmittedTop, EmitError> {
    let called = ModuleNames { prefix, ..ModuleNames::plain(name) };
    let design = design(&mut top, called)?;
    let flat = |port: Port| Port { name: port.verilog_name(), ..port };
    Ok(EmittedTop {
        design,
        ports: ports_of(&top).into_iter().map(flat).collect(),
        constraints: constraints_of(&top),
    })
}

/// The constraints of a block's ports, in their order.
pub fn constraints_of(block: &dyn Block) -> Vec<PortConstraint> {
    let mut probe = ConstraintProbe::default();
    block.accept("top", &mut probe);
    probe.found
}

#[derive(Default)]
struct ConstraintProbe {
    depth: usize,
    namespace: Vec<String>,
    found: Vec<PortConstraint>,
}

impl Probe for ConstraintProbe {
    fn visit_start_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth += 1;
    }

    fn visit_start_namespace(&mut self, name: &str, _node: &dyn Block) {
        self.namespace.push(name.to_owned());
    }

    fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
        if self.depth != 1 {
            return;
        }
        let mut path = self.namespace.clone();
        path.push(name.to_owned());
        let port = verilog::port_name(&path.join("$"));
        let constraints = signal.constraints().into_iter();
        self.found.extend(constraints.map(|pin| PortConstraint {
            port: port.clone(),
            bits: signal.bits(),
            pin,
        }));
    }

    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        self.namespace.pop();
    }

    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth -= 1;
    }
}
