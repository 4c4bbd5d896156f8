//! The card of a demo: its RTL, or the golden model in its place.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use abi::config::CardConfig;
use anyhow::{Context, Result};
use host::driver::bus::Bus;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::network_side::NetworkSide;
use lab::time::USER_CLOCK_PS;
use pcie_sim::PcieConfig;
use sim::bus::SimulatedBus;
use sim::card::SimulatedCard;

/// Cycles in which the last frames settle.
const SETTLING_CYCLES: u64 = 2_000;

/// What a demo asks of a card.
pub trait DemoCard {
    /// The host's way to it.
    type Bus: Bus;
    /// The wire's way to it.
    type Port: NetworkSide;

    /// A bus to it.
    fn bus(&self) -> Result<Self::Bus>;
    /// Its port to the wire.
    fn port(&self) -> Self::Port;
    /// Simulated time so far, ps.
    fn now_ps(&self) -> u64 {
        self.port().now_ps()
    }
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
pub struct Rtl {
    pub card: Rc<RefCell<SimulatedCard>>,
    pub pcie: PcieConfig,
}

impl DemoCard for Rtl {
    type Bus = SimulatedBus;
    type Port = Rc<RefCell<SimulatedCard>>;

    fn port(&self) -> Self::Port {
        self.card.clone()
    }

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
pub struct Golden {
    card: Rc<RefCell<GoldenCard>>,
}

impl Golden {
    /// A model of these sizes.
    pub fn new(config: CardConfig, seed: u64) -> Self {
        Self { card: GoldenCard::late(config, seed) }
    }
}

impl DemoCard for Golden {
    type Bus = GoldenBus;
    type Port = Rc<RefCell<GoldenCard>>;

    fn port(&self) -> Self::Port {
        self.card.clone()
    }

    fn bus(&self) -> Result<GoldenBus> {
        Ok(GoldenBus::new(self.card.clone()))
    }

    /// Of the clock that a round of the host counts.
    fn cycles(&self) -> u64 {
        self.now_ps() / USER_CLOCK_PS
    }

    fn settle(&self) {}

    fn frames_in(&self) -> u64 {
        self.card.borrow().frames_in()
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
