//! Area and longest paths of a design, as Yosys maps it to UltraScale+.
//!
//! ```text
//!   Verilog ── synthesis ──> netlist ── flat ──┬── usage ──> LUTs, flip-flops, BRAM, URAM by block
//!                                              ├── levels ─> paths between registers, by clock
//!                                              └── fanout ─> nets with most loads
//!          └─ fingerprint ─────────────────────────> report <── both
//! ```
//! The hierarchy is kept: nothing is optimised across the boundary of a block, so that each figure
//! belongs to one block. A tool that flattens the design reports less.

pub mod cells;
pub mod fanout;
pub mod fingerprint;
pub mod flat;
pub mod levels;
pub mod netlist;
pub mod report;
pub mod synthesis;
pub mod usage;

use crate::area::flat::{Flat, FlatError};
use crate::area::levels::{Loop, Timing};
use crate::area::netlist::Netlist;
use crate::area::report::{Report, DOMAINS, LOADS_SHOWN};
use crate::area::synthesis::{Part, SynthesisError};

/// Blocks shown below the top.
const DEPTH: usize = 4;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum AreaError {
    /// No netlist.
    #[error(transparent)]
    Synthesis(#[from] SynthesisError),
    /// The netlist is incomplete, or has a black box.
    #[error(transparent)]
    Flat(#[from] FlatError),
    /// A combinational loop.
    #[error(transparent)]
    Loop(#[from] Loop),
    /// A clock port is missing.
    #[error("the design has no clock port '{0}'")]
    Clock(&'static str),
}

/// Synthesizes a design with the card's clock ports and measures it; `modules` are names and texts.
pub fn measure(top: &str, modules: &[(String, String)]) -> Result<Report, AreaError> {
    let netlist = synthesis::synthesize(&Part::each_of(modules))?;
    report_of(&netlist, top, fingerprint::fingerprint(modules))
}

/// Measures the netlist of a design with that fingerprint.
fn report_of(netlist: &Netlist, top: &str, fingerprint: String) -> Result<Report, AreaError> {
    let flat = Flat::of(netlist, top)?;
    let mut paths = Vec::new();
    for domain in DOMAINS {
        let clock = flat.top_net(domain.port).ok_or(AreaError::Clock(domain.port))?;
        let ports = flat.instances[0].module.ports.keys().map(String::as_str);
        let of_clock = |port: &&str| domain.prefixes.iter().any(|p| port.starts_with(p));
        let ports = ports.filter(of_clock).collect();
        paths.push(Timing::of(&flat, clock, ports)?.paths());
    }
    Ok(Report {
        fingerprint,
        blocks: usage::blocks(&flat, DEPTH),
        memories: usage::memories(&flat),
        shift_registers: usage::shift_registers(&flat),
        paths,
        wide_nets: fanout::wide_nets(&flat, LOADS_SHOWN),
    })
}
