//! The host's fault log is the only witness of a refused posted write: the control stack stops all
//! flows of that region before it announces anything.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use host::clock::ManualClock;
use host::driver::bus::MemoryKind;
use host::driver::device::DeviceConfig;
use host::failure::Failure;
use host::transport::{LinkConfig, Tuning};
use lab::exchange::{Exchange, LabError, Observer, Side, Status, BUFFER_BYTES};
use lab::frame::Frame;
use lab::machine::Machine;
use lab::wire::Disturbance;
use pcie_sim::PcieConfig;
use sim::bus::SimulatedBus;
use sim::card::SimulatedCard;
use verilate::options::Options;

use crate::decisions::rig::Found;
use crate::decisions::wrapped::{Seen, Watching, Wrong};

/// Time that the protocols' clock moves on in a round.
const ROUND: Duration = Duration::from_micros(100);
/// Bytes received before the memory goes.
const RECEIVED_BEFORE: u64 = 2 * BUFFER_BYTES as u64;

/// Denies the card its receive buffers once data flows, and watches what is announced after.
struct Denial {
    /// The clock of both TCPs.
    time: ManualClock,
    card: Rc<RefCell<SimulatedCard>>,
    seen: Rc<RefCell<Seen>>,
    is_denied: bool,
    announced: u64,
}

impl Observer for Denial {
    fn round(&mut self, status: Status) -> Result<(), LabError> {
        self.time.advance(ROUND);
        let seen = self.seen.borrow();
        if seen.faults > 0 && status.received > self.announced {
            let bytes = status.received - self.announced;
            let broken = format!("{bytes} bytes announced after a refused write");
            return Err(LabError::Stopped(broken));
        }
        self.announced = status.received;
        if !self.is_denied && status.received >= RECEIVED_BEFORE {
            self.is_denied = true;
            let memory = seen.application.first().expect("registered memory");
            // The second half holds the buffers for what is received.
            let middle = memory.address + memory.bytes as u64 / 2;
            let end = memory.address + memory.bytes as u64;
            self.card.borrow_mut().pcie.deny(middle..end);
        }
        Ok(())
    }

    fn frame(&mut self, _side: Side, _frame: &Frame) {}
}

fn check(wrong: Wrong) -> Found {
    let pcie = PcieConfig::default();
    let card = SimulatedCard::new("small", pcie.clone(), Options::default());
    let seen = Rc::new(RefCell::new(Seen::default()));
    let bus = SimulatedBus::with_card(card.expect("it builds"), &pcie);
    let (bus, card) = bus.expect("a bus");
    let bus = Watching::on(bus, wrong, seen.clone());
    let links = [1, 2].map(|number| LinkConfig::lab(number, 1500, Tuning::REAL_TIME));
    let machine = Machine::with_smoltcp(bus, card.clone(), &links, DeviceConfig::with_seed(1));
    let mut machine = machine.expect("a card");
    // Both ends have the time that the denial sets.
    let time = machine.clock.take().expect("a clock");
    let mut denial = Denial { time, card, seen: seen.clone(), is_denied: false, announced: 0 };
    let plan = Exchange {
        bytes: 2 << 20,
        seed: 13,
        disturbance: Disturbance::default(),
        memory: MemoryKind::Application,
    };
    let remote = "10.77.0.2:5001".parse().expect("an address");
    let outcome = machine.exchange(remote, &plan, &mut denial);
    assert!(seen.borrow().faults > 0, "no write was refused: {outcome:?}");
    match outcome {
        Err(LabError::Connection(Failure::WriteRefused { .. })) => Ok(()),
        Err(LabError::Stopped(broken)) => Err(broken),
        other => Err(format!("the application was not told: {other:?}")),
    }
}

#[test]
fn decision_13_refused_write_stops_unannounced_flows() {
    if let Err(broken) = check(Wrong::Nothing) {
        panic!("{broken}");
    }
    let broken = check(Wrong::FaultsUnheard).expect_err("an unheard fault went unnoticed");
    println!("caught: {broken}");
}
