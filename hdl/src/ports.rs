//! From a block to its Verilog text and the list of its ports.
//!
//! ```text
//!   block ──┬── ports_of ──────► [Port]     name as in the Verilog, direction, bits
//!           └── design, emit ──► Verilog    connect, check, print
//! ```
//!
//! Invariants:
//! 1. The order of the list is the order of the fields, bundles expanded in place.
//! 2. A port is named by its field, `packet$valid` for field `valid` of bundle `packet`; in the
//!    Verilog it is `packet_valid` ([`Port::verilog_name`]).
//!
//! On error: `emit` and `design` return an error for a block with an open input, a logic loop, an
//! input that the block itself writes, a construct that Verilog cannot express, or a name that it
//! reserves.

use rust_hdl_core::check_error::{CheckError, PathedName};
use rust_hdl_core::prelude::*;
use verilog::ModuleNames;

/// Direction of a port, seen from the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PortDirection {
    /// Driven from outside.
    Input,
    /// Driven by the block.
    Output,
    /// Driven from both sides: a pad.
    InOut,
}

/// One port of a block as it stands in the emitted Verilog.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Port {
    /// Path of the field; parts of a bundle are joined by `$`.
    pub name: String,
    /// Direction, seen from the block.
    pub direction: PortDirection,
    /// Width in bits, at least 1.
    pub bits: usize,
    /// True for a port of type `Clock`.
    pub is_clock: bool,
}

impl Port {
    /// Name in the emitted Verilog: parts of a bundle are joined by `_`.
    pub fn verilog_name(&self) -> String {
        verilog::port_name(&self.name)
    }
}

/// Why a block cannot be emitted.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// Signals that nothing drives.
    #[error("{} open signals, first {}", .0.len(), .0[0])]
    Open(Vec<String>),
    /// Signals on a combinational loop.
    #[error("{} signals in a logic loop, first {}", .0.len(), .0[0])]
    Loop(Vec<String>),
    /// Inputs that the block itself writes.
    #[error("{} inputs written from inside, first {}", .0.len(), .0[0])]
    WrittenInput(Vec<String>),
    /// A construct that Verilog cannot express as Rust means it.
    #[error(transparent)]
    Verilog(#[from] verilog::EmitError),
}

/// Lists the ports of a block in field order.
pub fn ports_of(block: &dyn Block) -> Vec<Port> {
    let mut probe = PortProbe::default();
    block.accept("top", &mut probe);
    probe.ports
}

/// Connects, checks and prints a block as one text; the top module is called `top_name`.
pub fn emit<B: Block>(block: &mut B, top_name: &str) -> Result<String, EmitError> {
    Ok(design(block, ModuleNames::plain(top_name))?.single_file())
}

/// Connects, checks and prints a block, module by module, called as `called` says.
pub fn design<B: Block>(
    block: &mut B,
    called: ModuleNames<'_>,
) -> Result<verilog::Design, EmitError> {
    block.connect_all();
    check_all(block).map_err(EmitError::from)?;
    Ok(verilog::emit_as(block, called)?)
}

impl From<CheckError> for EmitError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::OpenSignal(map) => EmitError::Open(names(map.values())),
            CheckError::LogicLoops(list) => EmitError::Loop(names(list.iter())),
            CheckError::WritesToInputs(list) => EmitError::WrittenInput(names(list.iter())),
        }
    }
}

fn names<'a>(list: impl Iterator<Item = &'a PathedName>) -> Vec<String> {
    let mut names: Vec<String> = list.map(|x| format!("{}.{}", x.path, x.name)).collect();
    names.sort();
    names
}

#[derive(Default)]
struct PortProbe {
    scope_depth: usize,
    namespace: Vec<String>,
    ports: Vec<Port>,
}

impl Probe for PortProbe {
    fn visit_start_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.scope_depth += 1;
    }

    fn visit_start_namespace(&mut self, name: &str, _node: &dyn Block) {
        self.namespace.push(name.to_owned());
    }

    fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
        if self.scope_depth != 1 {
            return;
        }
        let direction = match signal.kind() {
            AtomKind::InputParameter => PortDirection::Input,
            AtomKind::OutputParameter | AtomKind::OutputPassthrough => PortDirection::Output,
            AtomKind::InOutParameter => PortDirection::InOut,
            _ => return,
        };
        let mut path = self.namespace.clone();
        path.push(name.to_owned());
        self.ports.push(Port {
            name: path.join("$"),
            direction,
            bits: signal.bits(),
            is_clock: signal.descriptor().name == "clock",
        });
    }

    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        self.namespace.pop();
    }

    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.scope_depth -= 1;
    }
}
