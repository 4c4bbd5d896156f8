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

use abi::config::config_names;
use hdl::emit::{emit_card_for, CardEmitError, PREFIX};
use host::memory::{DeviceMapping, MemoryError, MemoryFile};
use ip::completion_buffer::CompletionBuffer;
use lab::frame::Frame;
use lab::machine::CardModel;
use lab::network_side::NetworkSide;
use lab::time::USER_CLOCK_PS;
use pcie_sim::{
    Bytes, CardInputs, CardOutputs, ConfigError, MemoryBytes, MemoryId, PcieConfig, PcieSim,
};
use verilate::block::BlockError;
use verilate::clocks::{ClockId, Clocks, Edge};
use verilate::design::Design;
use verilate::options::Options;
use verilate::shared::share;
use verilate::verilated::Model;
use verilate::width::lint_width_warnings;

use crate::harness::mac::{Mac, CLOCK_PS};
use crate::harness::mac_pins::{MacPins, WireState};
use crate::harness::pcie_ports::PciePorts;
use crate::harness::probe::Probe;

/// First rise of the MAC's clock: unrelated to the phase of the user clock.
const MAC_PHASE_PS: u64 = 777;

/// Pages that the host maps as well.
pub(crate) struct DevicePages(pub(crate) DeviceMapping);

impl Bytes for DevicePages {
    fn size(&self) -> usize {
        self.0.bytes().len()
    }

    fn read(&self, offset: usize, into: &mut [u8]) {
        self.0.bytes().read(offset, into);
    }

    fn write(&mut self, offset: usize, from: &[u8]) {
        self.0.bytes().write(offset, from);
    }
}

/// Why a card cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum CardError {
    /// The card does not build.
    #[error(transparent)]
    Block(#[from] BlockError),
    /// The card cannot be emitted as Verilog.
    #[error(transparent)]
    Emit(#[from] CardEmitError),
    /// There is no such configuration.
    #[error("there is no configuration '{0}'; known: {names}", names = config_names())]
    Config(String),
    /// No card is built for this slot.
    #[error("no card is built for {0:?}")]
    Buffer(CompletionBuffer),
    /// The PCIe parameters contradict themselves.
    #[error(transparent)]
    Pcie(#[from] ConfigError),
    /// The system cannot provide the memory of the simulated host or of a GPU.
    #[error("memory of the simulated machine: {0}")]
    Memory(#[from] std::io::Error),
    /// The memory of the simulated host or of a GPU cannot be mapped.
    #[error("memory of the simulated machine: {0}")]
    NotMapped(#[from] MemoryError),
}

impl NetworkSide for SimulatedCard {
    fn receive(&mut self, frame: Frame) {
        let now_ps = SimulatedCard::now_ps(self);
        self.mac.receive_frame(frame, now_ps);
    }

    fn take_sent(&mut self, into: &mut Vec<Frame>) {
        into.extend(self.mac.sent.drain(..));
    }

    fn is_quiet(&self) -> bool {
        self.mac.is_quiet()
    }

    fn wire_busy_ps(&self) -> u64 {
        self.mac.receive_free_ps().saturating_sub(SimulatedCard::now_ps(self))
    }

    fn now_ps(&self) -> u64 {
        SimulatedCard::now_ps(self)
    }

    fn traffic(&self) -> Option<u64> {
        let link = self.pcie.statistics();
        let frames = self.mac.received_count().frames + self.mac.sent_count().frames;
        let rests = self.pcie.is_idle() && self.mac.is_at_rest();
        rests.then_some(link.upstream.tlps + link.downstream.tlps + frames)
    }
}

impl CardModel for SimulatedCard {
    fn run(&mut self, cycles: u64) {
        SimulatedCard::run(self, cycles);
    }

    fn frames_in(&self) -> u64 {
        self.mac.received_count().frames
    }

    fn violations(&self) -> Vec<String> {
        SimulatedCard::violations(self)
    }

    fn time_ns(&self) -> Option<u64> {
        Some(SimulatedCard::now_ps(self) / 1000)
    }
}

/// A simulated card that its bus has as well.
pub type SharedCard = Rc<RefCell<SimulatedCard>>;

/// Where wall-clock time goes while the card is simulated. It is reported, never judged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Profile {
    /// Total time inside [`SimulatedCard::run`].
    pub total: Duration,
    link: Duration,
    wire: Duration,
    calls: u64,
}

impl Profile {
    /// One call in this many is timed and stands for all. The number is odd, so that no kind of
    /// call is left out.
    const EVERY: u64 = 15;

    fn sample(&mut self) -> Option<Instant> {
        self.calls += 1;
        self.calls.is_multiple_of(Self::EVERY).then(Instant::now)
    }

    fn add(&mut self, is_link: bool, time: Duration) {
        let part = if is_link { &mut self.link } else { &mut self.wire };
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

/// A model at ports of its own.
pub type ClockHook = Box<dyn FnMut(&mut Model)>;

/// The card with the models around it.
pub struct SimulatedCard {
    /// The model; waveforms are recorded through it.
    pub model: Model,
    /// Link, root complex and memories.
    pub pcie: PcieSim,
    /// The pages of the memories, which other parties map as well.
    pub files: BTreeMap<MemoryId, MemoryFile>,
    /// The MAC and its end of the wire.
    pub mac: Mac,
    /// What the MAC tells the card beside the frames; it reaches the card with the MAC's clock.
    pub wire: WireState,
    /// Records what passes the ports, if set.
    pub probe: Option<Probe>,
    /// Measures the time that the models around the card take, if set.
    pub profile: Option<Profile>,
    /// What else is at the model's ports, if set: called after each edge of the card's clock.
    pub beside: Option<ClockHook>,
    clocks: Clocks,
    user_clock: ClockId,
    mac_clock: ClockId,
    pins: MacPins,
    ports: PciePorts,
    outputs: CardOutputs,
    inputs: CardInputs,
}

/// The card in a named configuration, built.
fn design(config: &str, buffer: CompletionBuffer, options: Options) -> Result<Design, CardError> {
    let emitted = emit_card_for(config, buffer, PREFIX);
    let card = emitted.ok_or_else(|| CardError::Config(config.to_owned()))??;
    let design = Design::build(card.top, &card.design.single_file(), &card.ports, options)
        .map_err(BlockError::from)?;
    lint_width_warnings(design.warnings()).map_err(BlockError::Width)?;
    Ok(design)
}

impl SimulatedCard {
    /// Builds the Verilated model of the card in a named configuration (`hdl::card`), for the
    /// completion buffer of this slot, and connects it.
    pub fn new(config: &str, pcie: PcieConfig, options: Options) -> Result<Self, CardError> {
        let buffer =
            CompletionBuffer { headers: pcie.completion_headers, data: pcie.completion_data };
        if !buffer.is_supported() {
            return Err(CardError::Buffer(buffer));
        }
        let key = format!("card {config} {buffer:?} {options:?}");
        let design = share(&key, || design(config, buffer, options))?;
        SimulatedCard::of(&design, pcie)
    }

    /// Connects a card that is already built.
    pub fn of(design: &Design, pcie: PcieConfig) -> Result<Self, CardError> {
        let mut model = design.model();
        model.clear_inputs();
        let mut clocks = Clocks::new();
        let user_clock = clocks.add(&mut model, "user_clk", USER_CLOCK_PS, USER_CLOCK_PS / 2);
        let mac_clock = clocks.add(&mut model, "gt_txusrclk2", CLOCK_PS, MAC_PHASE_PS);
        let wire = WireState::UP;
        let mut pins = MacPins::new(&model);
        pins.drive(&mut model, &wire);
        let ports = PciePorts::new(&model);
        let mut files = BTreeMap::new();
        let mut pages = |memory, bytes| -> Result<MemoryBytes, CardError> {
            let file = MemoryFile::new(bytes)?;
            let mapping = file.all()?.map_device()?;
            files.insert(memory, file);
            Ok(Box::new(DevicePages(mapping)))
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
            wire,
            probe: None,
            profile: None,
            beside: None,
            clocks,
            user_clock,
            mac_clock,
            pins,
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
            wire,
            probe,
            profile,
            beside,
            clocks,
            user_clock,
            mac_clock: _,
            pins,
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
                    if let Some(beside) = beside {
                        beside(model);
                    }
                }
                (false, Edge::Before) => {
                    mac.sample(model, tick.time_ps);
                    if let Some(probe) = probe {
                        probe.wire(model, tick.time_ps);
                    }
                }
                (false, Edge::After) => {
                    pins.drive(model, wire);
                    mac.hold_in_reset(wire.rx_reset, wire.tx_reset);
                    mac.drive(model, tick.time_ps);
                }
            }
            if let (Some(start), Some(profile)) = (start, profile.as_mut()) {
                profile.add(is_user, start.elapsed());
            }
        });
        if let (Some(begin), Some(profile)) = (begin, profile.as_mut()) {
            profile.total += begin.elapsed();
        }
    }

    /// Stops the MAC's clock, or lets it run again.
    pub fn set_mac_clock(&mut self, runs: bool) {
        self.clocks.set_running(&mut self.model, self.mac_clock, runs);
    }

    /// Whether the card asks the other end of the wire to pause.
    pub fn asks_pause(&self) -> bool {
        self.pins.asks_pause(&self.model)
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
        let mac = self.mac.violations.iter().map(|violation| format!("mac: {violation}"));
        pcie.chain(mac).collect()
    }
}
