//! A model, its clock and the agents around it, stepped a cycle at a time.
//!
//! ```text
//!   cycle:  every agent samples ──> clock rises ──> every agent drives ──> clock falls
//! ```
//!
//! A block with a second clock, `mac_clock`, gets it at the MAC's rate and with a drifting phase. A
//! cycle is then one of `clock`; agents of the MAC's clock are stepped within it.
//!
//! Invariants
//! 1. The block sees what an agent drives after an edge at the next edge: there are no races, so
//!    the order of agents in the slice does not matter.

use std::any::type_name;
use std::path::Path;

use hdl::ports::{emit, ports_of};
use rust_hdl_core::prelude::Block;
use verilate::block::{design_of, BlockError};
use verilate::clocks::{ClockId, Clocks, Edge};
use verilate::design::Design;
use verilate::options::Options;
use verilate::shared::share;
use verilate::verilated::Model;
use verilate::wave::WaveError;

use crate::harness::agent::Agent;
use crate::harness::mac;
use crate::switched::{self, number_of, TextFault, FAULT_PORT};

/// Options from the environment: `ZERONIC_WAVES=FOLDER` turns waveforms on.
pub fn options_from_environment() -> Options {
    Options { trace: std::env::var_os("ZERONIC_WAVES").is_some(), ..Options::default() }
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
        Ok(Bench::start_recorded(&design, top_name))
    }

    /// As [`Bench::of`], for a block that many tests of a program take: it is made and emitted for
    /// the first of them. `variant` says what its name and its type do not: the arguments with
    /// which `make` makes it.
    pub fn of_shared<B: Block>(
        top_name: &str,
        variant: &str,
        make: impl FnOnce() -> B,
    ) -> Result<Bench, BlockError> {
        let key = format!("{top_name} {} {variant}", type_name::<B>());
        let build = || design_of(&mut make(), top_name, options_from_environment());
        Ok(Bench::start_recorded(&share(&key, build)?, top_name))
    }

    /// Starts a model, which is recorded if the environment says so.
    fn start_recorded(design: &Design, top_name: &str) -> Bench {
        let mut bench = Bench::new(design.model());
        if let Some(folder) = std::env::var_os("ZERONIC_WAVES") {
            let thread = std::thread::current();
            let test = thread.name().unwrap_or("main").replace("::", ".");
            let path = Path::new(&folder).join(format!("{top_name}-{test}.fst"));
            if let Err(error) = bench.record(&path) {
                eprintln!("zeronic: no waveform {}: {error}", path.display());
            }
        }
        bench
    }

    /// Builds a block with faults in its Verilog, of which one is switched on. All tests of a
    /// program name the same list, so that it is built once; `variant` and `make` as with
    /// [`Bench::of_shared`]. No waveform is recorded and widths are not judged: the text is meant
    /// to be wrong. It is not optimised either: a fault is found within few cycles, and its build
    /// takes longer.
    ///
    /// # Panics
    /// If a fault cannot be planted, or the one to switch on is not in the list.
    pub fn with_fault<B: Block>(
        top_name: &str,
        variant: &str,
        make: impl FnOnce() -> B,
        faults: &[TextFault],
        fault: TextFault,
    ) -> Result<Bench, BlockError> {
        let key = format!("{top_name} {} {variant} {faults:?}", type_name::<B>());
        let design = share(&key, || {
            let block = &mut make();
            let verilog = emit(block, top_name)?;
            let built = switched::build(top_name, &verilog, ports_of(block), faults);
            built.map_err(BlockError::from)
        })?;
        let mut bench = Bench::new(design.model());
        bench.set(FAULT_PORT, number_of(faults, fault));
        Ok(bench)
    }

    /// Starts a model whose clock port is `clock`, 250 MHz, with all other inputs zero. If it has
    /// a `mac_clock`, it runs at the MAC's rate.
    pub fn new(mut model: Model) -> Bench {
        model.clear_inputs();
        let mut clocks = Clocks::new();
        let clock = clocks.add(&mut model, "clock", 4000, 2000);
        if model.find_port("mac_clock").is_some() {
            clocks.add(&mut model, "mac_clock", mac::CLOCK_PS, MAC_PHASE_PS);
        }
        model.eval();
        Bench { model, clocks, clock }
    }

    /// Records waveforms from now on.
    pub fn record(&mut self, path: &Path) -> Result<(), WaveError> {
        self.model.open_wave(path)
    }

    /// One clock cycle.
    pub fn cycle(&mut self, agents: &mut [&mut dyn Agent]) {
        self.cycle_with_mac(agents, &mut []);
    }

    /// One cycle of `clock` with its agents, and the edges of `mac_clock` in it with theirs.
    pub fn cycle_with_mac(
        &mut self,
        agents: &mut [&mut dyn Agent],
        mac_agents: &mut [&mut dyn Agent],
    ) {
        let (clock, end) = (self.clock, self.now() + 1);
        while self.now() < end {
            self.clocks.step(&mut self.model, &mut |model, tick| match tick.clock == clock {
                true => act(agents, model, tick.edge),
                false => act(mac_agents, model, tick.edge),
            });
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
