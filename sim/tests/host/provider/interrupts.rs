//! Waiting for the card instead of polling it.

mod waiting;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use host::driver::device::{Device, DeviceConfig};
use host::driver::error::DriverError;
use host::driver::rings::HeaderEntry;
use host::records::size::SizeError;
use lab::network_side::NetworkSide;
use pcie_sim::PcieConfig;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use sim::bus::SimulatedBus;
use sim::card::SimulatedCard;

use crate::provider::owners::frame;
use crate::provider::rig::{assert_clean, verilated_card};

/// Longer than any packet takes from the wire to its interrupt.
const PATIENCE: Duration = Duration::from_micros(50);

type Shared = Rc<RefCell<SimulatedCard>>;

fn open() -> (Device<SimulatedBus>, Shared) {
    let card = verilated_card();
    let bus = SimulatedBus::new(card.clone(), &PcieConfig::default()).expect("a bus");
    let device = Device::open(bus, DeviceConfig::with_seed(1)).expect("it opens");
    (device, card)
}

fn take(device: &mut Device<SimulatedBus>) -> usize {
    let (mut taken, mut entry) = (0, HeaderEntry::default());
    while device.next_header(&mut entry).expect("a queue") {
        taken += 1;
    }
    device.return_headers().expect("a doorbell");
    taken
}

#[test]
fn no_wake_up_is_lost() {
    let seed = seed::seed();
    let mut random = SmallRng::seed_from_u64(seed);
    let (mut device, mut card) = open();
    assert!(!device.wait(PATIENCE, None).expect("it waits"), "nothing to see");
    for burst in 0..150 {
        let frames = random.random_range(1..4);
        for _ in 0..frames {
            card.receive(frame(1, 0, b"payload"));
            // Before, while or after the entry is published, the interrupt is armed.
            let cycles = random.random_range(0..300);
            card.borrow_mut().run(cycles);
        }
        let mut seen = 0;
        while seen < frames {
            let woken = device.wait(PATIENCE, None).expect("it waits");
            assert!(woken, "burst {burst}: {seen} of {frames} seen");
            seen += take(&mut device);
        }
    }
    assert_clean(&card);
}

#[test]
fn interrupts_keep_their_distance() {
    let (mut device, mut card) = open();
    let interval = Duration::from_micros(20);
    device.set_moderation(interval, 0).expect("it is set");
    let mut woken_at = Vec::new();
    for number in 0..3 {
        card.receive(frame(1, 0, b"payload"));
        let woken = device.wait(PATIENCE, None).expect("it waits");
        assert!(woken, "frame {number}");
        woken_at.push(card.borrow().now_ps());
        assert_eq!(take(&mut device), 1);
    }
    for pair in woken_at.windows(2) {
        // The time is taken when the interrupt arrives, 64 ns apart.
        let apart = Duration::from_nanos((pair[1] - pair[0]) / 1000 + 100);
        assert!(apart >= interval, "{apart:?} apart");
    }
    // Four unseen entries do not wait for the end of a long interval.
    let interval = Duration::from_millis(1);
    device.set_moderation(interval, 4).expect("it is set");
    for _ in 0..3 {
        card.receive(frame(1, 0, b"payload"));
    }
    assert!(!device.wait(PATIENCE, None).expect("it waits"), "three only");
    card.receive(frame(1, 0, b"payload"));
    assert!(device.wait(PATIENCE, None).expect("it waits"), "four");
    assert_eq!(take(&mut device), 4);
    assert_clean(&card);
}

#[test]
fn interval_beyond_counter_is_refused() {
    let (mut device, _card) = open();
    let refused = device.set_moderation(Duration::from_secs(18), 0);
    match refused {
        Err(DriverError::Size(SizeError { value, max, .. })) => {
            assert_eq!((value, max), (18_000_000_000, 17_179_869_180));
        }
        other => panic!("{other:?}"),
    }
}
