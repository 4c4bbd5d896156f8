//! The end of a card's use: nothing of it reaches memory any more, and all memory comes back.

use std::cell::RefCell;
use std::rc::Rc;

use abi::config::SMALL;
use abi::registers as r;
use host::clock::{Clock, ManualClock};
use host::driver::bus::{Bus, BusError, DmaMemory, MemoryKind, Result};
use host::driver::control_memory::ControlMemory;
use host::driver::device::{Device, DeviceConfig};
use host::driver::error::DriverError;
use host::driver::rings::RingSizes;
use host::observed::Observed;
use host::provider::{ApplicationId, Provider};
use host::transport::SmoltcpTransport;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::hooked_bus::{HookedBus, Hooks};
use lab::network_side::NetworkSide;

use crate::provider::owners::frame;
use crate::provider::rig::link;

/// What the bus has seen.
#[derive(Default)]
struct Seen {
    /// Addresses of the memory that the card has.
    held: Vec<u64>,
    /// Epoch and control register at each release.
    releases: Vec<(u32, u32)>,
    control: u32,
    /// Reads of STATUS after a reset that find requests of the old epoch still under way.
    pending: u32,
}

struct Watch {
    seen: Rc<RefCell<Seen>>,
    /// The card stays in its epoch.
    stuck: bool,
    /// Control memory that is still there to be allocated.
    left: usize,
}

impl Watch {
    fn is_released(&self, bus: &mut GoldenBus, address: u64) -> Result<()> {
        let epoch = bus.read_register(r::EPOCH)?;
        let seen = &mut *self.seen.borrow_mut();
        let before = seen.held.len();
        seen.held.retain(|held| *held != address);
        assert_eq!(seen.held.len() + 1, before, "{address:#x} released once");
        assert_eq!(seen.pending, 0, "{address:#x} released before the old epoch is over");
        seen.releases.push((epoch, seen.control));
        Ok(())
    }
}

impl Hooks<GoldenBus> for Watch {
    fn read_register(&mut self, bus: &mut GoldenBus, offset: u32) -> Result<u32> {
        match (offset, self.stuck) {
            (r::EPOCH, true) => Ok(7),
            (r::STATUS, _) => {
                let status = bus.read_register(offset)?;
                let seen = &mut *self.seen.borrow_mut();
                let ended = seen.control & r::CONTROL_RESET == 0 || seen.pending == 0;
                seen.pending = seen.pending.saturating_sub(1);
                Ok(if ended { status } else { status | r::STATUS_REQUESTS_PENDING })
            }
            _ => bus.read_register(offset),
        }
    }

    fn write_register(&mut self, bus: &mut GoldenBus, offset: u32, value: u32) -> Result<()> {
        if offset == r::CONTROL {
            self.seen.borrow_mut().control = value;
        }
        bus.write_register(offset, value)
    }

    fn allocate_control(
        &mut self,
        bus: &mut GoldenBus,
        bytes: usize,
        align: usize,
    ) -> Result<ControlMemory> {
        let left = self.left.checked_sub(1);
        self.left = left.ok_or(BusError::NoMemory { bytes })?;
        bus.allocate_control(bytes, align)
    }

    fn note_control(&mut self, memory: &ControlMemory) {
        self.seen.borrow_mut().held.push(memory.address());
    }

    fn release_control(&mut self, bus: &mut GoldenBus, memory: ControlMemory) -> Result<()> {
        self.is_released(bus, memory.address())?;
        bus.release_control(memory)
    }

    fn allocate(
        &mut self,
        bus: &mut GoldenBus,
        kind: MemoryKind,
        bytes: usize,
        align: usize,
    ) -> Result<DmaMemory> {
        let memory = bus.allocate(kind, bytes, align)?;
        self.seen.borrow_mut().held.push(memory.address);
        Ok(memory)
    }

    fn release(&mut self, bus: &mut GoldenBus, memory: DmaMemory) -> Result<()> {
        self.is_released(bus, memory.address)?;
        bus.release(memory)
    }
}

type Card = Rc<RefCell<GoldenCard>>;

fn bus() -> (HookedBus<GoldenBus, Watch>, Rc<RefCell<Seen>>, Card) {
    let (card, seen) = (GoldenCard::late(SMALL, seed::seed()), Rc::default());
    let bus = HookedBus {
        inner: GoldenBus::new(card.clone()),
        hooks: Watch { seen: Rc::clone(&seen), stuck: false, left: usize::MAX },
    };
    (bus, seen, card)
}

/// All memory came back, in a new epoch of a card that is stopped, and the card writes none.
fn check(seen: &Seen, epoch: u32, releases: usize, mut card: Card) {
    assert!(seen.held.is_empty(), "{:x?} stay", seen.held);
    let expected = vec![(epoch + 1, r::CONTROL_RESET); releases];
    assert_eq!(seen.releases, expected);
    card.receive(frame(1, 0, b"nobody's"));
    let faults = GoldenBus::new(card).take_faults();
    assert!(faults.is_empty(), "{faults:x?}");
}

#[test]
fn closed_or_dropped_device_leaves_nothing() {
    for close in [false, true] {
        let (bus, seen, card) = bus();
        let mut device = Device::open(bus, DeviceConfig::with_seed(1)).expect("it opens");
        let owner = device.open_owner(RingSizes::default());
        assert_eq!(owner.expect("an owner"), 1);
        let epoch = device.bus().read_register(r::EPOCH).expect("an epoch");
        assert_eq!(seen.borrow().held.len(), 12, "six rings an owner");
        match close {
            true => device.close().expect("it closes"),
            false => drop(device),
        }
        check(&seen.borrow(), epoch, 12, card);
    }
}

#[test]
fn provider_shutdown_releases_its_regions() {
    let (bus, seen, card) = bus();
    let clock = Clock::Manual(ManualClock::default());
    let transport = SmoltcpTransport::open(&link(1), clock).expect("a transport");
    let provider = Provider::open(bus, Observed::new(transport), DeviceConfig::with_seed(1));
    let mut provider = provider.expect("it opens");
    let (first, dram) = (ApplicationId::FIRST, MemoryKind::Application);
    let mut register = || provider.register(first, dram, 4096).expect("room");
    let [_, leaving] = [register(), register()];
    provider.deregister(leaving).expect("it goes");
    let device = provider.device();
    let epoch = device.bus().read_register(r::EPOCH).expect("an epoch");
    let rings = 6 * device.owners();
    provider.shut_down().expect("it ends");
    check(&seen.borrow(), epoch, rings + 2, card);
}

/// The new epoch is there, and the last write of the old one still waits for the link.
#[test]
fn memory_release_follows_old_epochs_requests() {
    for pending in [1, 2, 50] {
        let (bus, seen, card) = bus();
        let mut device = Device::open(bus, DeviceConfig::with_seed(1)).expect("it opens");
        let epoch = device.bus().read_register(r::EPOCH).expect("an epoch");
        seen.borrow_mut().pending = pending;
        device.close().expect("it closes");
        check(&seen.borrow(), epoch, 6, card);
    }
}

/// A card whose requests never end keeps its memory.
#[test]
fn card_with_endless_requests_keeps_memory() {
    let (bus, seen, _card) = bus();
    let device = Device::open(bus, DeviceConfig::with_seed(1)).expect("it opens");
    seen.borrow_mut().pending = u32::MAX;
    let error = device.close().unwrap_err();
    assert!(matches!(error, DriverError::RequestsPending(_)), "{error}");
    assert_eq!((seen.borrow().held.len(), seen.borrow().releases.len()), (6, 0));
}

/// A card that does not reset may still write: it keeps its memory.
#[test]
fn card_without_reset_keeps_its_memory() {
    let (bus, seen, _card) = bus();
    let mut device = Device::open(bus, DeviceConfig::with_seed(1)).expect("it opens");
    device.bus().hooks.stuck = true;
    let error = device.close().unwrap_err();
    assert!(matches!(error, DriverError::ResetTimeout(_)), "{error}");
    assert_eq!((seen.borrow().held.len(), seen.borrow().releases.len()), (6, 0));
}

/// Whatever fails of the rings of an owner, the others are there as before, and may be opened.
#[test]
fn unopened_owner_leaves_nothing() {
    for left in 0..6 {
        let (bus, seen, _card) = bus();
        let mut device = Device::open(bus, DeviceConfig::with_seed(1)).expect("it opens");
        device.bus().hooks.left = left;
        let error = device.open_owner(RingSizes::default()).unwrap_err();
        assert!(matches!(error, DriverError::Bus(BusError::NoMemory { .. })), "{error}");
        assert_eq!(seen.borrow().held.len(), 6, "after {left} rings");
        device.bus().hooks.left = 6;
        assert_eq!(device.open_owner(RingSizes::default()).expect("room"), 1);
        device.close().expect("it closes");
        assert!(seen.borrow().held.is_empty());
    }
    // The first one, too.
    let (mut bus, seen, _card) = bus();
    bus.hooks.left = 3;
    assert!(Device::open(bus, DeviceConfig::with_seed(1)).is_err());
    assert!(seen.borrow().held.is_empty(), "{:x?} stay", seen.borrow().held);
}
