//! A memory that answers no flush read: what lies there is not announced, its owner is told, and
//! everybody else goes on.
//!
//! ```text
//!   frames ──► card ──► payload in GPU memory ──► flush read ──✗
//!                └──► entry, marked `unflushed` ──► connection fails
//! ```

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use abi::header_entry as h;
use host::clock::ManualClock;
use host::driver::bus::{Bus, MemoryKind};
use host::driver::device::DeviceConfig;
use host::records::commands::Direction;
use host::transport::{LinkConfig, Tuning};
use lab::exchange::{Exchange, LabError, Observer, Side, Status};
use lab::frame::Frame;
use lab::machine::Machine;
use lab::wire::Disturbance;
use pcie_sim::{Fault, PcieConfig, Target};
use sim::bus::SimulatedBus;
use sim::card::SimulatedCard;
use sim::direct::{Direct, Flow};
use verilate::options::Options;

/// Time that the protocols' clock moves on in a round.
const ROUND: Duration = Duration::from_micros(100);
/// Payload of each packet.
const BYTES: usize = 1000;

fn small(pcie: &PcieConfig) -> SimulatedCard {
    SimulatedCard::new("small", pcie.clone(), Options::default()).expect("it builds")
}

/// Flow 1 in GPU memory, flow 2 in DRAM.
struct Bed {
    direct: Direct,
    flows: Vec<Flow>,
    flush: u64,
}

impl Bed {
    fn open() -> Bed {
        let pcie = PcieConfig::default();
        let mut direct = Direct::open(small(&pcie), &pcie, DeviceConfig::with_seed(1));
        let flush = direct.machine.host.device.bus().flush_address(MemoryKind::Gpu);
        let kinds = [MemoryKind::Gpu, MemoryKind::Application];
        let mut flows = Vec::new();
        for (id, kind) in (1..).zip(kinds) {
            let flow = Flow::new(id, 5000);
            let region = direct.region(kind, 8 * BYTES, 0);
            direct.install(&flow);
            let range = (0, 0, 8 * BYTES as u32);
            direct.done([flow.segment(Direction::Receive, range, (&region, 0))]);
            flows.push(flow);
        }
        Bed { direct, flows, flush: flush.expect("GPU memory is flushed") }
    }

    /// Sends the nth packet of both flows; the marks of flow 1's entry and of flow 2's.
    fn round(&mut self, number: usize) -> [u64; 2] {
        for flow in &self.flows {
            let packet = flow.packet((number * BYTES) as u32, &[number as u8; BYTES]);
            self.direct.receive(packet.frame(0), false);
        }
        // The hard block gives a lost read up after 50 microseconds.
        (0..40).for_each(|_| self.direct.run(1000));
        let mut marks = [2; 2];
        for entry in self.direct.entries() {
            let at = h::FLOW.get(&entry.metadata) as usize - 1;
            assert_eq!(marks[at], 2, "one entry each");
            marks[at] = h::UNFLUSHED.get(&entry.metadata);
        }
        marks
    }

    fn break_flushes(&mut self, fault: Fault, count: usize) {
        for _ in 0..count {
            let target = Target::Address(self.flush..self.flush + 4);
            self.direct.machine.card.borrow_mut().pcie.inject(fault, target);
        }
    }
}

#[test]
fn twice_failed_flush_marks_entries_only() {
    for fault in [Fault::Poison, Fault::UnsupportedRequest, Fault::CompleterAbort, Fault::Lost] {
        let mut bed = Bed::open();
        bed.break_flushes(fault, 1);
        assert_eq!(bed.round(0), [0, 0], "{fault:?}, once: repeated");
        bed.break_flushes(fault, 2);
        assert_eq!(bed.round(1), [1, 0], "{fault:?}, twice: told");
        assert_eq!(bed.round(2), [0, 0], "{fault:?}, no more");
        assert_eq!(bed.direct.counters()["flushes_failed"], 3, "{fault:?}");
        bed.direct.conclude();
    }
}

/// Breaks all flush reads once data flows.
struct Breaker {
    /// The clock of both TCPs.
    time: ManualClock,
    card: Rc<RefCell<SimulatedCard>>,
    flush: u64,
    is_broken: bool,
    received: u64,
}

impl Observer for Breaker {
    fn round(&mut self, status: Status) -> Result<(), LabError> {
        self.time.advance(ROUND);
        self.received = status.received;
        if !self.is_broken && status.received > 0 {
            self.is_broken = true;
            for _ in 0..1000 {
                let target = Target::Address(self.flush..self.flush + 4);
                let pcie = &mut self.card.borrow_mut().pcie;
                pcie.inject(Fault::UnsupportedRequest, target);
            }
        }
        Ok(())
    }

    fn frame(&mut self, _side: Side, _frame: &Frame) {}
}

#[test]
fn memory_without_flush_ends_its_connection() {
    let pcie = PcieConfig::default();
    let (bus, card) = SimulatedBus::with_card(small(&pcie), &pcie).expect("a bus");
    let flush = bus.flush_address(MemoryKind::Gpu);
    let links = [1, 2].map(|number| LinkConfig::lab(number, 1500, Tuning::REAL_TIME));
    let machine = Machine::with_smoltcp(bus, card.clone(), &links, DeviceConfig::with_seed(1));
    let mut machine = machine.expect("a card");
    let mut breaker = Breaker {
        // Both ends have the time that the breaker sets.
        time: machine.clock.take().expect("a clock"),
        card,
        flush: flush.expect("GPU memory is flushed"),
        is_broken: false,
        received: 0,
    };
    let plan = Exchange {
        bytes: 2 << 20,
        seed: 6,
        disturbance: Disturbance::default(),
        memory: MemoryKind::Gpu,
    };
    let remote = "10.77.0.2:5001".parse().expect("an address");
    let outcome = machine.exchange(remote, &plan, &mut breaker);
    assert!(breaker.is_broken, "no data came: {outcome:?}");
    let told =
        matches!(&outcome, Err(LabError::Connection(why)) if why.to_string().contains("no flush"));
    assert!(told, "{outcome:?} after {} bytes", breaker.received);
}
