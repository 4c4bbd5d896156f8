//! What a card is asked: one that has less than this host knows of, and one that has nothing to do.

use abi::config::SMALL;
use abi::counters::{COUNTERS_INFO, COUNTER_GROUPS, PEAKS};
use abi::registers::{DOORBELLS, DOORBELL_STATUS, EPOCH, FEATURES, FEATURE_PUSH, PUSH_BYTES};
use host::driver::bus::{Bus, Result};
use host::driver::device::{Device, DeviceConfig};
use host::records::descriptor::raw;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::hooked_bus::{HookedBus, Hooks};

/// The status of owner 0's rings.
const STATUS: u32 = DOORBELLS + DOORBELL_STATUS;
/// Polls after which a ring that does not move is looked at.
const POLLS: u32 = 4096;

/// A bus that writes lines, to a card that says what it has.
struct Says {
    features: u32,
    groups: u32,
    peaks: u32,
    lines: u32,
    /// Reads of the status of an owner's rings.
    statuses: u32,
    /// Reads of the epoch.
    epochs: u32,
}

impl Says {
    fn features(features: u32) -> Self {
        Self { features, groups: 0, peaks: 0, lines: 0, statuses: 0, epochs: 0 }
    }
}

impl Hooks<GoldenBus> for Says {
    fn read_register(&mut self, bus: &mut GoldenBus, offset: u32) -> Result<u32> {
        match offset {
            FEATURES => Ok(self.features),
            COUNTERS_INFO => Ok(self.groups | self.peaks << 8),
            STATUS => {
                self.statuses += 1;
                bus.read_register(offset)
            }
            EPOCH => {
                self.epochs += 1;
                bus.read_register(offset)
            }
            _ => bus.read_register(offset),
        }
    }

    fn writes_lines(&self, _bus: &GoldenBus) -> bool {
        true
    }

    fn write_line(&mut self, _: &mut GoldenBus, _: u32, _: &[u8; PUSH_BYTES]) -> Result<()> {
        self.lines += 1;
        Ok(())
    }
}

fn open(says: Says) -> Device<HookedBus<GoldenBus, Says>> {
    let bus = HookedBus { inner: GoldenBus::new(GoldenCard::new(SMALL)), hooks: says };
    Device::open(bus, DeviceConfig::with_seed(1)).expect("it opens")
}

/// Lines written for one send of one slot.
fn lines_of_a_send(features: u32) -> u32 {
    let mut device = open(Says::features(features));
    device.send(raw(&[0x55; 60]));
    while device.sends_waiting() > 0 {
        device.poll().expect("it polls");
    }
    device.poll().expect("it polls");
    device.bus().hooks.lines
}

#[test]
fn slot_is_pushed_only_where_supported() {
    assert_eq!(lines_of_a_send(FEATURE_PUSH), 2);
    assert_eq!(lines_of_a_send(!FEATURE_PUSH), 0);
    assert_eq!(lines_of_a_send(0), 0);
}

/// A card without some counters answers a read of one with nothing that has a name.
#[test]
fn only_existing_counters_are_read() {
    let counters = |groups: usize, peaks: usize| {
        let mut device =
            open(Says { groups: groups as u32, peaks: peaks as u32, ..Says::features(0) });
        device.counters().expect("they are readable").len()
    };
    let (groups, peaks) = (COUNTER_GROUPS.len(), PEAKS.len());
    let without = counters(0, 0);
    assert_eq!(counters(0, 1), without + 1);
    assert_eq!(counters(0, peaks - 1), without + peaks - 1);
    // A newer card has more than is known.
    assert_eq!(counters(0, 255), without + peaks);
    let first = COUNTER_GROUPS[0].counters.len();
    assert_eq!(counters(1, 0), without + first);
    let all: usize = COUNTER_GROUPS.iter().map(|group| group.counters.len()).sum();
    assert_eq!(counters(groups, peaks), without + all + peaks);
    assert_eq!(counters(255, 255), without + all + peaks);
}

/// A read takes a round trip on the bus: rings are looked at when they have work and do not move.
#[test]
fn idle_card_rings_are_not_read() {
    let mut device = open(Says::features(0));
    for _ in 0..3 * POLLS {
        device.poll().expect("it polls");
    }
    device.send(raw(&[0x55; 60]));
    for _ in 0..3 * POLLS {
        device.poll().expect("it polls");
    }
    assert_eq!(device.bus().hooks.statuses, 0);
}

/// A card that only receives has no work that could stand still: its epoch is read now and then, by
/// the bus's clock and not by polls.
#[test]
fn epoch_is_read_every_four_milliseconds() {
    // Rounds of the bus, of a microsecond each, from one poll to the next.
    for rounds in [0, 1, 10, 1000] {
        let mut device = open(Says::features(0));
        let before = device.bus().hooks.epochs;
        let begun = device.bus().now();
        for _ in 0..30_000u32.div_ceil(rounds.max(1)) {
            (0..rounds).for_each(|_| device.bus().advance().expect("time passes"));
            device.poll().expect("it polls");
        }
        let millis = (device.bus().now() - begun).as_millis();
        let read = device.bus().hooks.epochs - before;
        let expected = millis as u32 / 4;
        assert!((expected.saturating_sub(1)..=expected).contains(&read), "{rounds}: {read} reads");
    }
}
