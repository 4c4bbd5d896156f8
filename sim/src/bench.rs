//! A model, its clock and the agents around it, stepped a cycle at a time.
//!
//! ```text
//!   cycle:  every agent samples ──> clock rises ──> every agent drives ──> clock falls
//! ```
//!
//! A block with a second clock, `mac_clock`, gets that too, at the MAC's rate and with a phase that
//! drifts; a cycle is then one of `clock`, and agents of the MAC's clock are stepped within it.
//!
//! Invariants
//! 1. What an agent drives after an edge is seen by the block at the next one: no agent can win a
//!    race, so their order in the slice does not matter.

use std::path::Path;

use hdl::ports::{emit, ports_of, EmitError};
use rust_hdl_core::prelude::Block;

use crate::clocks::{ClockId, Clocks, Edge};
use crate::design::{BuildError, Design, Options};
use crate::mac;
use crate::verilated::Model;
use crate::wave::WaveError;
use crate::width::{lint_width_warnings, WidthFinding};

/// Whatever is connected to a model and lives by its clock: a driver, a sink, a monitor.
pub trait Agent {
    /// Just before the rising edge: read what the registers are about to see.
    fn sample(&mut self, model: &Model);
    /// Just after it: set the inputs for the next cycle.
    fn drive(&mut self, model: &mut Model);
}

/// Why a block has no model.
#[derive(Debug, thiserror::Error)]
pub enum BlockError {
    /// It has no Verilog.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// The Verilog does not build.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Verilator widens what Rust wraps.
    #[error("{} width findings, first {}", .0.len(), .0[0])]
    Width(Vec<WidthFinding>),
}

/// Emits a block as module `top_name`, builds it and judges Verilator's width warnings.
pub fn design_of<B: Block>(
    block: &mut B,
    top_name: &str,
    options: Options,
) -> Result<Design, BlockError> {
    let verilog = emit(block, top_name)?;
    let design = Design::build(top_name, &verilog, &ports_of(block), options)?;
    lint_width_warnings(design.warnings()).map_err(BlockError::Width)?;
    Ok(design)
}

/// Options as the environment asks: `ZERONIC_WAVES=FOLDER` turns waveforms on.
fn options_from_environment() -> Options {
    Options {
        trace: std::env::var_os("ZERONIC_WAVES").is_some(),
    }
}

/// First rise of `mac_clock`, ps.
const MAC_PHASE_PS: u64 = 1000;

/// What agents do on one side of an edge of their clock.
fn act(agents: &mut [&mut dyn Agent], model: &mut Model, edge: Edge) {
    match edge {
        Edge::Before => agents.iter_mut().for_each(|agent| agent.sample(model)),
        Edge::After => agents.iter_mut().for_each(|agent| agent.drive(model)),
    }
}

/// A model with its clock, or two.
pub struct Bench {
    /// The model; set and read its other ports freely between cycles.
    pub model: Model,
    clocks: Clocks,
    clock: ClockId,
}

impl Bench {
    /// Builds a block whose clock port is `clock` and starts it with all other inputs zero.
    ///
    /// With `ZERONIC_WAVES=FOLDER` the run is recorded in `FOLDER/TOP_NAME-THREAD.fst`.
    pub fn of<B: Block>(block: &mut B, top_name: &str) -> Result<Bench, BlockError> {
        let design = design_of(block, top_name, options_from_environment())?;
        let mut bench = Bench::new(design.model());
        if let Some(folder) = std::env::var_os("ZERONIC_WAVES") {
            let thread = std::thread::current();
            let test = thread.name().unwrap_or("main").replace("::", ".");
            let path = Path::new(&folder).join(format!("{top_name}-{test}.fst"));
            if let Err(error) = bench.record(&path) {
                eprintln!("zeronic: no waveform {}: {error}", path.display());
            }
        }
        Ok(bench)
    }

    /// The same with a fault: `original`, which stands once in the Verilog, becomes `planted`. Not
    /// recorded, and not judged for widths: the text is meant to be wrong.
    ///
    /// # Panics
    /// If `original` does not stand there exactly once: the fault would not be planted.
    pub fn with_fault<B: Block>(
        block: &mut B,
        top_name: &str,
        original: &str,
        planted: &str,
    ) -> Result<Bench, BlockError> {
        let verilog = emit(block, top_name)?;
        assert_eq!(verilog.matches(original).count(), 1, "`{original}`");
        let faulty = verilog.replace(original, planted);
        let options = options_from_environment();
        let design = Design::build(top_name, &faulty, &ports_of(block), options)?;
        Ok(Bench::new(design.model()))
    }

    /// Starts a model whose clock port is `clock`, 250 MHz, with all other inputs zero. If it has
    /// a `mac_clock`, that runs as the MAC's.
    pub fn new(mut model: Model) -> Bench {
        model.clear_inputs();
        let mut clocks = Clocks::new();
        let clock = clocks.add(&mut model, "clock", 4000, 2000);
        if model.find_port("mac_clock").is_some() {
            clocks.add(&mut model, "mac_clock", mac::CLOCK_PS, MAC_PHASE_PS);
        }
        model.eval();
        Bench {
            model,
            clocks,
            clock,
        }
    }

    /// Records waveforms from now on.
    pub fn record(&mut self, path: &Path) -> Result<(), WaveError> {
        self.model.open_wave(path)
    }

    /// One clock cycle.
    pub fn cycle(&mut self, agents: &mut [&mut dyn Agent]) {
        self.cycle_with_mac(agents, &mut []);
    }

    /// One cycle of `clock` with its agents, and what `mac_clock` does meanwhile with its own.
    pub fn cycle_with_mac(
        &mut self,
        agents: &mut [&mut dyn Agent],
        mac_agents: &mut [&mut dyn Agent],
    ) {
        let (clock, end) = (self.clock, self.now() + 1);
        while self.now() < end {
            self.clocks.step(
                &mut self.model,
                &mut |model, tick| match tick.clock == clock {
                    true => act(agents, model, tick.edge),
                    false => act(mac_agents, model, tick.edge),
                },
            );
        }
    }

    /// Several clock cycles.
    pub fn cycles(&mut self, count: u64, agents: &mut [&mut dyn Agent]) {
        for _ in 0..count {
            self.cycle(agents);
        }
    }

    /// How many cycles have passed.
    pub fn now(&self) -> u64 {
        self.clocks.cycles(self.clock)
    }

    /// Sets a port of up to 64 bits by name and settles the design.
    pub fn set(&mut self, port: &str, value: u64) {
        let port = self.model.port(port);
        self.model.set(port, value);
        self.model.eval();
    }

    /// Reads a port of up to 64 bits by name.
    pub fn get(&self, port: &str) -> u64 {
        self.model.get(self.model.port(port))
    }
}
