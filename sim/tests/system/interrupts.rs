//! Interrupts of the whole card, on a link that stands at every moment of their way: vectors that
//! are moved, and a driver that sleeps instead of polling.
//!
//! ```text
//!   frame ──► entry ──► message ──►┐ RQ stands, from a cycle on, for a while
//!   mask, read back, rewrite, open ┘
//! ```

use std::time::Duration;

use abi::config::COMMAND_BYTES;
use abi::registers as r;
use host::driver::bus::Bus;
use host::driver::device::DeviceConfig;
use host::driver::rings::RingSizes;
use host::records::descriptor::raw;
use lab::machine::{Driver, Machine};
use pcie_sim::PcieConfig;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use sim::bus::SimulatedBus;
use sim::card::{SharedCard, SimulatedCard};
use sim::harness::traffic::{Addresses, PacketSpec};
use verilate::options::Options;

/// Cycles after which what was to come has come.
const REST_CYCLES: u64 = 3_000;
/// Cycles for which RQ takes nothing.
const STALL_CYCLES: u64 = 2_500;
/// When the frame comes.
const FRAME_CYCLE: u64 = 300;
/// Distance of the new address of a vector.
const MOVED: u32 = 0x40;

/// A machine, and where its interrupts begin.
struct Rig {
    machine: Machine<Driver<SimulatedBus>, SharedCard>,
    base: u64,
}

impl Rig {
    fn open() -> Rig {
        Rig::with(DeviceConfig::with_seed(1))
    }

    fn with(config: DeviceConfig) -> Rig {
        let pcie = PcieConfig::default();
        let card = SimulatedCard::new("small", pcie.clone(), Options::default());
        let bus = SimulatedBus::with_card(card.expect("it builds"), &pcie);
        let (bus, card) = bus.expect("a bus");
        let machine = Machine::driven(bus, card, config).expect("it opens");
        Rig { machine, base: pcie.interrupt_base }
    }

    fn run(&mut self, cycles: u64) {
        self.machine.card.borrow_mut().run(cycles);
    }

    fn write(&mut self, offset: u32, value: u32) {
        self.machine.host.device.bus().write_register(offset, value).expect("a write");
    }

    fn read(&mut self, offset: u32) -> u32 {
        self.machine.host.device.bus().read_register(offset).expect("an answer")
    }

    fn receive(&mut self) {
        let ends = Addresses::V4([10, 0, 0, 1], [10, 0, 0, 100]);
        let spec = PacketSpec::tcp(ends, (4000, 80), (0, 1), 0x10, b"payload".to_vec());
        self.machine.receive(spec.frame(0));
    }

    /// Header entries that have come.
    fn take(&mut self) -> usize {
        self.machine.host.take_entries().expect("a queue").len()
    }

    /// Offsets of the addresses to which messages have come.
    fn messages(&mut self) -> Vec<u64> {
        let mut card = self.machine.card.borrow_mut();
        let next = std::iter::from_fn(|| card.pcie.next_interrupt());
        next.map(|interrupt| interrupt.address - self.base).collect()
    }

    fn conclude(&mut self) {
        let violations = self.machine.card.borrow().pcie.violations().to_vec();
        assert!(violations.is_empty(), "{violations:?}");
    }
}

/// RQ stands from cycle `stall` on, the vector is masked in cycle `mask`, and a frame comes in
/// cycle [`FRAME_CYCLE`]. Whether the message had come before the mask was read back.
fn move_vector(rig: &mut Rig, stall: u64, mask: u64) -> bool {
    let what = format!("RQ stands from cycle {stall} on, masked in cycle {mask}");
    assert!(rig.machine.host.device.arm().expect("armed"), "nothing is in flight");
    rig.run(200);
    let last = stall.max(mask).max(FRAME_CYCLE);
    for cycle in 0..=last {
        if cycle == stall {
            rig.machine.card.borrow_mut().pcie.stall_requests(STALL_CYCLES);
        }
        if cycle == mask {
            rig.write(r::MSIX_TABLE + 12, 1);
        }
        if cycle == FRAME_CYCLE {
            rig.receive();
        }
        rig.run(1);
    }
    assert_eq!(rig.read(r::MSIX_TABLE + 12), 1, "{what}");
    let before = rig.messages();
    rig.write(r::MSIX_TABLE, rig.base as u32 + MOVED);
    rig.run(REST_CYCLES);
    assert_eq!(rig.messages(), [0; 0], "a message of a masked vector: {what}");
    let is_pending = rig.read(r::MSIX_PENDING) & 1 == 1;
    assert_eq!(is_pending, before.is_empty(), "pending bit: {what}");
    rig.write(r::MSIX_TABLE + 12, 0);
    rig.run(REST_CYCLES);
    let expected = if is_pending { vec![u64::from(MOVED)] } else { Vec::new() };
    assert_eq!(rig.messages(), expected, "after it was opened: {what}");
    if !is_pending {
        assert_eq!(before, [0], "{what}");
    }
    assert_eq!(rig.take(), 1, "{what}");
    // The owner is not left disarmed, and its messages go to the new place.
    assert!(rig.machine.host.device.arm().expect("armed"), "nothing is in flight");
    rig.run(200);
    rig.receive();
    rig.run(REST_CYCLES);
    assert_eq!(rig.messages(), [u64::from(MOVED)], "a lost owner: {what}");
    assert_eq!(rig.take(), 1, "{what}");
    rig.write(r::MSIX_TABLE, rig.base as u32);
    !is_pending
}

#[test]
fn masked_vector_never_sends_wherever_waiting() {
    let mut rig = Rig::open();
    let mut came = [0; 2];
    for stall in (300..540).step_by(12) {
        for mask in [0, 150, 200, 250, 300, 340, 380, 420, 500] {
            came[usize::from(move_vector(&mut rig, stall, mask))] += 1;
        }
    }
    println!("the message was pending {} times, had left {} times", came[0], came[1]);
    assert!(came[0] > 5 && came[1] > 5, "{came:?}");
    rig.conclude();
}

/// Longer than anything takes that is waited for, with the link standing.
const PATIENCE: Duration = Duration::from_micros(60);

#[test]
fn host_waiting_for_fence_sleeps() {
    let mut rig = Rig::open();
    let mut waits = 0;
    let mut trials = 0;
    // From before the doorbell reaches the card to after the confirmation.
    for stall in (0..400).step_by(8) {
        for lead in [0, 60, 130, 200, 260, 320] {
            let what = format!("RQ stands from cycle {stall} on, armed {lead} cycles later");
            let ticket = rig.machine.host.device.command([0; COMMAND_BYTES]);
            rig.machine.host.device.poll().expect("it polls");
            rig.run(stall);
            rig.machine.card.borrow_mut().pcie.stall_requests(300);
            rig.run(lead);
            trials += 1;
            while !rig.machine.host.device.is_confirmed(ticket) {
                let woken = rig.machine.host.device.wait(PATIENCE, None).expect("it waits");
                assert!(woken, "a lost wake-up: {what}");
                rig.machine.host.device.poll().expect("it polls");
                waits += 1;
            }
            // One that came although the confirmation was found without it.
            rig.run(400);
            rig.messages();
        }
    }
    println!("{waits} waits for {trials} fences");
    assert!(waits <= 2 * trials, "it polls: {waits} waits for {trials} fences");
    rig.conclude();
}

#[test]
fn host_waiting_for_room_sleeps() {
    const FRAMES: usize = 40;
    let rings = RingSizes { send_bits: 2, ..RingSizes::default() };
    let mut rig = Rig::with(DeviceConfig { rings, ..DeviceConfig::with_seed(1) });
    let mut random = SmallRng::seed_from_u64(seed::seed());
    let mut waits = 0;
    for number in 0..FRAMES {
        rig.machine.host.device.send(raw(&[number as u8; 60]));
    }
    rig.machine.host.device.poll().expect("it polls");
    while rig.machine.host.device.sends_waiting() > 0 {
        if random.random() {
            let cycles = random.random_range(0..400);
            rig.machine.card.borrow_mut().pcie.stall_requests(cycles);
        }
        rig.run(random.random_range(0..300));
        let woken = rig.machine.host.device.wait(PATIENCE, None).expect("it waits");
        // A look at the ring may find room without the interrupt.
        assert!(woken || rig.machine.host.device.poll().expect("it polls"), "a lost wake-up");
        rig.machine.host.device.poll().expect("it polls");
        waits += 1;
    }
    println!("{waits} waits for {FRAMES} frames in a ring of 4");
    assert!(waits <= 2 * FRAMES, "it polls");
    rig.run(REST_CYCLES);
    let sent = rig.machine.take_sent();
    let numbers = Vec::from_iter(sent.iter().map(|frame| usize::from(frame.bytes[0])));
    assert!(numbers.iter().copied().eq(0..FRAMES), "{numbers:?}");
    rig.conclude();
}

#[test]
fn card_reset_keeps_moderation() {
    let mut rig = Rig::open();
    let interval = Duration::from_micros(20);
    rig.machine.host.device.set_moderation(interval, 0).expect("it is set");
    let epoch = rig.read(r::EPOCH);
    rig.write(r::CONTROL, r::CONTROL_RESET);
    while rig.read(r::EPOCH) == epoch {}
    // The owner again, whose queue begins anew; nobody reads it.
    rig.write(r::CONTEXTS + r::CONTEXT_ENABLE, 1);
    rig.write(r::CONTROL, r::CONTROL_RX);
    rig.run(2_000);
    rig.messages();
    let mut times = Vec::new();
    for seen in 0..3 {
        rig.write(r::DOORBELLS + r::DOORBELL_ARM, seen);
        rig.receive();
        let start = rig.machine.card.borrow().now_ps();
        while rig.messages().is_empty() {
            rig.run(8);
            let now = rig.machine.card.borrow().now_ps();
            assert!(now < start + 100_000_000, "no message for entry {seen}");
        }
        times.push(Duration::from_nanos(rig.machine.card.borrow().now_ps() / 1000));
    }
    for pair in times.windows(2) {
        let apart = pair[1] - pair[0];
        assert!(apart + Duration::from_nanos(200) >= interval, "{apart:?} apart");
    }
}
