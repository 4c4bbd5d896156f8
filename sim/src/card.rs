//! The Verilated card between its PCIe link and its wire.
//!
//! ```text
//!   host memory, IOMMU ── pcie_sim ══ RQ RC CQ CC ══►┌──────┐══ rx_axis, tx_axis ══ Mac ── wire
//!                                                    │ card │
//!                    user_clk 250 MHz ──────────────►│      │◄── gt_txusrclk2 322.27 MHz
//!                                                    └──────┘
//! ```
//! Time is that of the two clocks and advances only in [`SimulatedCard::run`]; no cycle is skipped.
//!
//! Invariants
//! 1. Every rule of the link and of the MAC's send port is checked in every cycle; see
//!    [`SimulatedCard::violations`].

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::bench::BlockError;
use crate::clocks::{ClockId, Clocks, Edge};
use crate::design::{Design, Options};
use crate::lab::Card;
use crate::mac::{Frame, Mac, CLOCK_PS};
use crate::pcie_ports::PciePorts;
use crate::probe::Probe;
use crate::verilated::Model;
use crate::width::lint_width_warnings;
use hdl::emit::{emit_card_for, CardEmitError};
use host::memory::MemoryFile;
use ip::board::CompletionBuffer;
use pcie_sim::{CardInputs, CardOutputs, ConfigError, MemoryBytes, MemoryId, PcieConfig, PcieSim};

/// Period of the card's clock: 250 MHz.
pub const USER_CLOCK_PS: u64 = 4000;
/// The MAC's clock starts at a phase that has nothing to do with the user clock's.
const MAC_PHASE_PS: u64 = 777;

/// Why a card cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum CardError {
    /// The card does not build.
    #[error(transparent)]
    Block(#[from] BlockError),
    /// There is no Verilog of it.
    #[error(transparent)]
    Emit(#[from] CardEmitError),
    /// There is no such configuration.
    #[error("there is no configuration '{0}'; known are default and small")]
    Config(String),
    /// No card is built for this slot.
    #[error("no card is built for {0:?}")]
    Buffer(CompletionBuffer),
    /// The PCIe parameters contradict themselves.
    #[error(transparent)]
    Pcie(#[from] ConfigError),
    /// The system has no memory for the host's or a GPU's.
    #[error("memory of the simulated machine: {0}")]
    Memory(#[from] std::io::Error),
}

impl Card for Rc<RefCell<SimulatedCard>> {
    fn receive(&mut self, frame: Frame) {
        let mut card = self.borrow_mut();
        let now_ps = card.now_ps();
        card.mac.receive_frame(frame, now_ps);
    }

    fn take_sent(&mut self, into: &mut Vec<Frame>) {
        into.extend(self.borrow_mut().mac.sent.drain(..));
    }

    fn is_quiet(&self) -> bool {
        self.borrow().mac.is_quiet()
    }

    fn wire_busy_ps(&self) -> u64 {
        let card = self.borrow();
        card.mac.receive_free_ps().saturating_sub(card.now_ps())
    }
}

/// Where the wall's time goes while the card is simulated. It is measured, never judged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Profile {
    /// All of it, inside [`SimulatedCard::run`].
    pub total: Duration,
    link: Duration,
    wire: Duration,
    calls: u64,
}

impl Profile {
    /// One call in this many is timed, and counts for all: an odd number, so that no kind of call
    /// is left out.
    const EVERY: u64 = 15;

    fn sample(&mut self) -> Option<Instant> {
        self.calls += 1;
        self.calls.is_multiple_of(Self::EVERY).then(Instant::now)
    }

    fn add(&mut self, is_link: bool, time: Duration) {
        let part = if is_link {
            &mut self.link
        } else {
            &mut self.wire
        };
        *part += time * Self::EVERY as u32;
    }

    /// Link, root complex and memories, with their ports.
    pub fn link(&self) -> Duration {
        self.link
    }

    /// The MAC and the wire, with their ports.
    pub fn wire(&self) -> Duration {
        self.wire
    }

    /// The rest: the Verilated model and its clocks.
    pub fn model(&self) -> Duration {
        self.total.saturating_sub(self.link + self.wire)
    }
}

/// The card with its surroundings.
pub struct SimulatedCard {
    /// The model; waveforms are recorded through it.
    pub model: Model,
    /// Link, root complex and memories.
    pub pcie: PcieSim,
    /// The pages of the memories, for mappings of other parties.
    pub files: BTreeMap<MemoryId, MemoryFile>,
    /// The MAC and its end of the wire.
    pub mac: Mac,
    /// Notes what passes the ports, once it is set.
    pub probe: Option<Probe>,
    /// Takes the time that the models around the card need, once it is set.
    pub profile: Option<Profile>,
    clocks: Clocks,
    user_clock: ClockId,
    ports: PciePorts,
    outputs: CardOutputs,
    inputs: CardInputs,
}

impl SimulatedCard {
    /// Builds the Verilated model of the card in a named configuration (`hdl::card`), for the
    /// completion buffer of this slot, and connects it.
    pub fn new(config: &str, pcie: PcieConfig, options: Options) -> Result<Self, CardError> {
        let buffer = CompletionBuffer {
            headers: pcie.completion_headers,
            data: pcie.completion_data,
        };
        if !buffer.is_supported() {
            return Err(CardError::Buffer(buffer));
        }
        let emitted = emit_card_for(config, buffer);
        let emitted = emitted.ok_or_else(|| CardError::Config(config.to_owned()))?;
        let card = emitted?;
        let design = Design::build(card.top, &card.design.single_file(), &card.ports, options)
            .map_err(BlockError::from)?;
        lint_width_warnings(design.warnings()).map_err(BlockError::Width)?;
        SimulatedCard::of(&design, pcie)
    }

    /// Connects a card that is built already.
    pub fn of(design: &Design, pcie: PcieConfig) -> Result<Self, CardError> {
        let mut model = design.model();
        model.clear_inputs();
        let mut clocks = Clocks::new();
        let user_clock = clocks.add(&mut model, "user_clk", USER_CLOCK_PS, USER_CLOCK_PS / 2);
        clocks.add(&mut model, "gt_txusrclk2", CLOCK_PS, MAC_PHASE_PS);
        let ports = PciePorts::new(&model);
        let mut files = BTreeMap::new();
        let mut pages = |memory, bytes| -> Result<MemoryBytes, CardError> {
            let file = MemoryFile::new(bytes)?;
            let mapping = file.map_device()?;
            files.insert(memory, file);
            Ok(Box::new(mapping))
        };
        let pcie = PcieSim::with_memories(pcie, &mut pages)?;
        let inputs = *pcie.inputs();
        ports.drive(&mut model, &inputs);
        let mac = Mac::new(&model, "rx_axis", "tx_axis");
        let outputs = CardOutputs::default();
        let mut card = SimulatedCard {
            model,
            pcie,
            files,
            mac,
            probe: None,
            profile: None,
            clocks,
            user_clock,
            ports,
            outputs,
            inputs,
        };
        card.pcie.enable_device();
        Ok(card)
    }

    /// Runs `cycles` cycles of the card's clock.
    pub fn run(&mut self, cycles: u64) {
        let Self {
            model,
            pcie,
            mac,
            probe,
            profile,
            clocks,
            user_clock,
            ports,
            outputs,
            inputs,
            files: _,
        } = self;
        let begin = profile.as_ref().map(|_| Instant::now());
        clocks.run(model, *user_clock, cycles, &mut |model, tick| {
            let is_user = tick.clock == *user_clock;
            let start = profile.as_mut().and_then(Profile::sample);
            match (is_user, tick.edge) {
                (true, Edge::Before) => {
                    ports.sample(model, outputs);
                    if let Some(probe) = probe {
                        probe.link(outputs, inputs, tick.time_ps);
                    }
                }
                (true, Edge::After) => {
                    *inputs = *pcie.step(outputs);
                    ports.drive(model, inputs);
                }
                (false, Edge::Before) => {
                    mac.sample(model, tick.time_ps);
                    if let Some(probe) = probe {
                        probe.wire(model, tick.time_ps);
                    }
                }
                (false, Edge::After) => mac.drive(model, tick.time_ps),
            }
            if let (Some(start), Some(profile)) = (start, profile.as_mut()) {
                profile.add(is_user, start.elapsed());
            }
        });
        if let (Some(begin), Some(profile)) = (begin, profile.as_mut()) {
            profile.total += begin.elapsed();
        }
    }

    /// Cycles of the card's clock so far.
    pub fn cycles(&self) -> u64 {
        self.clocks.cycles(self.user_clock)
    }

    /// Simulated time so far.
    pub fn now_ps(&self) -> u64 {
        self.clocks.now_ps()
    }

    /// Rules that the card broke, as text, oldest first.
    pub fn violations(&self) -> Vec<String> {
        let pcie = self
            .pcie
            .violations()
            .iter()
            .map(|report| format!("pcie, cycle {}: {:?}", report.cycle, report.violation));
        let mac = self
            .mac
            .violations
            .iter()
            .map(|violation| format!("mac: {violation}"));
        pcie.chain(mac).collect()
    }
}
