//! The card of a demo: its RTL, or the golden model in its place.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;

use abi::config::CardConfig;
use anyhow::{Context, Result};
use host::driver::bus::Bus;
use lab::frame::Frame;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::network_side::NetworkSide;
use lab::time::USER_CLOCK_PS;
use pcie_sim::PcieConfig;
use sim::bus::SimulatedBus;
use sim::card::SimulatedCard;

/// Cycles in which the last frames settle.
const SETTLING_CYCLES: u64 = 2_000;

/// What a demo asks of a card.
pub trait DemoCard: NetworkSide + Clone {
    /// The host's way to it.
    type Bus: Bus;

    /// A bus to it.
    fn bus(&self) -> Result<Self::Bus>;
    /// Cycles so far.
    fn cycles(&self) -> u64;
    /// Lets the last frames settle.
    fn settle(&self);
    /// Frames that have entered it.
    fn frames_in(&self) -> u64;
    /// Rules that it has broken.
    fn violations(&self) -> Vec<String>;
    /// Begins a waveform.
    fn open_wave(&self, path: &Path) -> Result<()>;
    /// Ends it.
    fn close_wave(&self) -> Result<()>;
}

/// The emitted Verilog, in Verilator, with its settings of PCIe.
#[derive(Clone)]
pub struct Rtl {
    pub card: Rc<RefCell<SimulatedCard>>,
    pub pcie: PcieConfig,
}

impl NetworkSide for Rtl {
    fn receive(&mut self, frame: Frame) {
        self.card.receive(frame);
    }

    fn take_sent(&mut self, into: &mut Vec<Frame>) {
        self.card.take_sent(into);
    }

    fn is_quiet(&self) -> bool {
        self.card.is_quiet()
    }

    fn wire_busy_ps(&self) -> u64 {
        self.card.wire_busy_ps()
    }

    fn now_ps(&self) -> u64 {
        NetworkSide::now_ps(&self.card)
    }

    fn traffic(&self) -> Option<u64> {
        self.card.traffic()
    }
}

impl DemoCard for Rtl {
    type Bus = SimulatedBus;

    fn bus(&self) -> Result<SimulatedBus> {
        Ok(SimulatedBus::new(self.card.clone(), &self.pcie)?)
    }

    fn cycles(&self) -> u64 {
        self.card.borrow().cycles()
    }

    fn settle(&self) {
        self.card.borrow_mut().run(SETTLING_CYCLES);
    }

    fn frames_in(&self) -> u64 {
        self.card.borrow().mac.received_count().frames
    }

    fn violations(&self) -> Vec<String> {
        self.card.borrow().violations()
    }

    fn open_wave(&self, path: &Path) -> Result<()> {
        let opened = self.card.borrow_mut().model.open_wave(path);
        opened.with_context(|| format!("waveform {}", path.display()))
    }

    fn close_wave(&self) -> Result<()> {
        Ok(self.card.borrow_mut().model.close_wave()?)
    }
}

/// The golden model, which does late, at random by a seed, what the contract lets it do late.
#[derive(Clone)]
pub struct Golden {
    card: Rc<RefCell<GoldenCard>>,
    frames_in: Rc<Cell<u64>>,
}

impl Golden {
    /// A model of these sizes.
    pub fn new(config: CardConfig, seed: u64) -> Self {
        Self { card: GoldenCard::late(config, seed), frames_in: Rc::default() }
    }
}

impl NetworkSide for Golden {
    fn receive(&mut self, frame: Frame) {
        self.frames_in.set(self.frames_in.get() + 1);
        self.card.receive(frame);
    }

    fn take_sent(&mut self, into: &mut Vec<Frame>) {
        self.card.take_sent(into);
    }

    fn is_quiet(&self) -> bool {
        self.card.is_quiet()
    }

    fn wire_busy_ps(&self) -> u64 {
        self.card.wire_busy_ps()
    }

    fn now_ps(&self) -> u64 {
        self.card.now_ps()
    }

    fn traffic(&self) -> Option<u64> {
        self.card.traffic()
    }
}

impl DemoCard for Golden {
    type Bus = GoldenBus;

    fn bus(&self) -> Result<GoldenBus> {
        Ok(GoldenBus::new(self.card.clone()))
    }

    /// Of the clock that a round of the host counts.
    fn cycles(&self) -> u64 {
        self.now_ps() / USER_CLOCK_PS
    }

    fn settle(&self) {}

    fn frames_in(&self) -> u64 {
        self.frames_in.get()
    }

    /// The model breaks no rule of a bus that it does not have.
    fn violations(&self) -> Vec<String> {
        Vec::new()
    }

    fn open_wave(&self, _path: &Path) -> Result<()> {
        anyhow::bail!("the golden model has no signals")
    }

    fn close_wave(&self) -> Result<()> {
        Ok(())
    }
}
