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
use host::clock::{Clock, ManualClock};
use host::driver::bus::{Bus, MemoryKind};
use host::driver::device::DeviceConfig;
use host::observed::Observed;
use host::provider::Provider;
use host::records::commands::Direction;
use host::transport::peer::SmoltcpPeer;
use host::transport::{LinkConfig, SmoltcpTransport, Tuning};
use lab::exchange::{Exchange, Lab, LabError, Observer, Side, Status};
use lab::frame::Frame;
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
        let flush = direct.device.bus().flush_address(MemoryKind::Gpu);
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
            self.direct.card.borrow_mut().pcie.inject(fault, target);
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
    let time = ManualClock::default();
    let clock = || Clock::Manual(time.clone());
    let transport = SmoltcpTransport::open(&LinkConfig::lab(1, 1500, Tuning::REAL_TIME), clock())
        .expect("a transport");
    let mut peer =
        SmoltcpPeer::open(&LinkConfig::lab(2, 1500, Tuning::REAL_TIME), clock()).expect("a peer");
    let pcie = PcieConfig::default();
    let mut card = Rc::new(RefCell::new(small(&pcie)));
    let bus = SimulatedBus::new(card.clone(), &pcie).expect("a bus");
    let flush = bus.flush_address(MemoryKind::Gpu);
    let mut breaker = Breaker {
        time,
        card: card.clone(),
        flush: flush.expect("GPU memory is flushed"),
        is_broken: false,
        received: 0,
    };
    let mut provider =
        Provider::open(bus, Observed::new(transport), DeviceConfig::with_seed(1)).expect("a card");
    let plan = Exchange {
        bytes: 2 << 20,
        seed: 6,
        disturbance: Disturbance::default(),
        memory: MemoryKind::Gpu,
    };
    let mut lab = Lab { provider: &mut provider, card: &mut card, peer: &mut peer, clock: None };
    let remote = "10.77.0.2:5001".parse().expect("an address");
    let outcome = lab.run(remote, &plan, &mut breaker);
    assert!(breaker.is_broken, "no data came: {outcome:?}");
    let told =
        matches!(&outcome, Err(LabError::Connection(why)) if why.to_string().contains("no flush"));
    assert!(told, "{outcome:?} after {} bytes", breaker.received);
}
