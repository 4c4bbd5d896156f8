//! What `Device::open` finds at the other end of the bus.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use abi::config::{COMMAND_BYTES, SLOT_BYTES, SMALL};
use abi::registers;
use host::clock::{Clock, ManualClock};
use host::driver::bus::{Bus, BusError, DmaFault, DmaMemory, MemoryKind};
use host::driver::control_memory::ControlMemory;
use host::driver::device::{Device, DeviceConfig};
use host::driver::error::DriverError;
use host::driver::rings::RingSizes;
use host::error::table::TableError;
use host::error::HostError;
use host::observed::Observed;
use host::provider::{ApplicationId, Provider};
use host::records::descriptor::raw;
use host::transport::{LinkConfig, SmoltcpTransport, Tuning};
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::hooked_bus::{HookedBus, Hooks, OwnerRings};

type Result<T, E = BusError> = std::result::Result<T, E>;

/// A bus that does some things in its own way.
pub type LyingBus = HookedBus<GoldenBus, Lies>;

/// What it does.
pub struct Lies {
    lie: fn(u32, u32) -> Result<u32>,
    /// No doorbell from this offset on reaches the card.
    deaf_from: u32,
    /// The host refused a write there.
    refused: Option<u64>,
    /// Largest alignment of application memory that is available.
    align_bytes_max: usize,
    /// What the card writes into the first slot of owner 0's header queue in place of what it
    /// should, seen by the host after [`Bus::advance`].
    pub slot: fn(&mut [u8]),
    rings: OwnerRings,
}

impl Hooks<GoldenBus> for Lies {
    fn read_register(&mut self, bus: &mut GoldenBus, offset: u32) -> Result<u32> {
        let truth = bus.read_register(offset)?;
        (self.lie)(offset, truth)
    }

    fn write_register(&mut self, bus: &mut GoldenBus, offset: u32, value: u32) -> Result<()> {
        self.rings.note_register(offset, value);
        match offset >= self.deaf_from {
            true => Ok(()),
            false => bus.write_register(offset, value),
        }
    }

    fn note_control(&mut self, memory: &ControlMemory) {
        self.rings.note_memory(memory);
    }

    fn allocate(
        &mut self,
        bus: &mut GoldenBus,
        kind: MemoryKind,
        bytes: usize,
        align: usize,
    ) -> Result<DmaMemory> {
        match align > self.align_bytes_max {
            true => Err(BusError::NoMemory { bytes }),
            false => bus.allocate(kind, bytes, align),
        }
    }

    fn take_faults(&mut self, bus: &mut GoldenBus) -> Vec<DmaFault> {
        let refused = self.refused.take().map(|address| DmaFault { address });
        refused.into_iter().chain(bus.take_faults()).collect()
    }

    fn advance(&mut self, bus: &mut GoldenBus) -> Result<()> {
        if let Some((memory, offset)) = self.rings.header_slot(0) {
            let mut slot = [0; SLOT_BYTES];
            memory.read(offset, &mut slot);
            (self.slot)(&mut slot);
            memory.write(offset, &slot);
        }
        bus.advance()
    }
}

/// What tells the truth.
fn honest() -> Lies {
    Lies {
        lie: |_, truth| Ok(truth),
        deaf_from: u32::MAX,
        refused: None,
        align_bytes_max: usize::MAX,
        slot: |_| {},
        rings: OwnerRings::of(0),
    }
}

fn with(hooks: Lies) -> LyingBus {
    let inner = GoldenBus::new(GoldenCard::new(SMALL));
    HookedBus { inner, hooks }
}

/// A bus that tells the truth about a card.
pub fn honest_to(card: Rc<RefCell<GoldenCard>>) -> LyingBus {
    HookedBus { inner: GoldenBus::new(card), hooks: honest() }
}

fn try_open(lie: fn(u32, u32) -> Result<u32>) -> Result<Device<LyingBus>, DriverError> {
    let hooks = Lies { lie, ..honest() };
    Device::open(with(hooks), DeviceConfig::with_seed(1))
}

fn provider(hooks: Lies) -> Provider<LyingBus, Observed<SmoltcpTransport>> {
    let link = LinkConfig {
        mac: [2, 0, 0, 0, 0, 1],
        addresses: Vec::new(),
        gateways: Vec::new(),
        mtu_bytes: 1500,
        tuning: Tuning::REAL_TIME,
    };
    let clock = Clock::Manual(ManualClock::default());
    let transport = SmoltcpTransport::open(&link, clock).expect("a transport");
    Provider::open(with(hooks), Observed::new(transport), DeviceConfig::with_seed(1))
        .expect("it opens")
}

fn open(lie: fn(u32, u32) -> Result<u32>) -> DriverError {
    match try_open(lie) {
        Ok(_) => panic!("it opened"),
        Err(error) => error,
    }
}

/// What an open card that hears nothing any more is found to be, by a command or by a send.
fn find_silent(lie: fn(u32, u32) -> Result<u32>, by_command: bool) -> DriverError {
    let mut device = try_open(|_, truth| Ok(truth)).expect("it opens");
    device.bus().hooks.lie = lie;
    device.bus().hooks.deaf_from = registers::DOORBELLS;
    match by_command {
        true => drop(device.command([0; COMMAND_BYTES])),
        false => device.send(raw(&[0; 60])),
    }
    for _ in 0..10_000 {
        if let Err(error) = device.poll() {
            return error;
        }
        device.bus().advance().expect("time passes");
    }
    panic!("nothing was found");
}

#[test]
fn reset_card_is_noticed() {
    let error = find_silent(
        |offset, truth| match offset {
            registers::EPOCH => Ok(truth + 1),
            _ => Ok(truth),
        },
        true,
    );
    match error {
        DriverError::EpochLost { before, now } => assert_eq!(now, before + 1),
        other => panic!("{other}"),
    }
}

/// A card that lost its power or its link answers no read, which returns ones.
#[test]
fn every_call_reports_a_lost_card() {
    const GONE: fn(u32, u32) -> Result<u32> = |_, _| Ok(u32::MAX);
    let is_gone = |error: DriverError| {
        assert!(matches!(error, DriverError::Gone), "{error}");
        assert!(error.to_string().starts_with("the card is gone"), "{error}");
    };
    is_gone(open(GONE));
    is_gone(find_silent(GONE, true));
    is_gone(find_silent(GONE, false));
    let gone = || {
        let mut device = try_open(|_, truth| Ok(truth)).expect("it opens");
        device.bus().hooks.lie = GONE;
        device
    };
    is_gone(gone().counters().unwrap_err());
    is_gone(gone().stopped_rings(0).unwrap_err());
    is_gone(gone().open_owner(RingSizes::default()).unwrap_err());
    is_gone(gone().wait(Duration::from_micros(10), None).unwrap_err());
    is_gone(gone().close().unwrap_err());
    let mut idle = gone();
    let error = (0..5000).find_map(|_| {
        idle.bus().advance().expect("time passes");
        idle.poll().err()
    });
    is_gone(error.expect("found"));
    // One register may read so.
    let mut device = try_open(|_, truth| Ok(truth)).expect("it opens");
    device.bus().hooks.lie = |offset, truth| match offset {
        registers::ID => Ok(truth),
        _ => Ok(u32::MAX),
    };
    let counters = device.counters().expect("counters");
    assert!(counters.iter().all(|(_, count)| *count == u64::MAX));
}

#[test]
fn stopped_ring_is_noticed() {
    const STATUS: u32 = registers::DOORBELLS + registers::DOORBELL_STATUS;
    let error = find_silent(
        |offset, truth| match offset {
            STATUS => Ok(registers::STATUS_SEND_STOPPED),
            _ => Ok(truth),
        },
        false,
    );
    assert_eq!(error.to_string(), "the send ring of owner 0 has stopped");
}

/// Owner 1's rings stop while owner 0's go on.
#[test]
fn stopped_ring_is_found_behind_busy_ones() {
    const PAGE: u32 = registers::DOORBELLS + registers::DOORBELL_STRIDE;
    const STATUS: u32 = PAGE + registers::DOORBELL_STATUS;
    let mut device = try_open(|_, truth| Ok(truth)).expect("it opens");
    let owner = device.open_owner(RingSizes::default()).expect("an owner");
    assert_eq!(owner, 1);
    device.bus().hooks.deaf_from = PAGE;
    device.bus().hooks.lie = |offset, truth| match offset {
        STATUS => Ok(registers::STATUS_COMMAND_STOPPED),
        _ => Ok(truth),
    };
    device.command_of(1, [0; COMMAND_BYTES]).expect("an owner");
    let error = (0..10_000).find_map(|_| {
        device.command([0; COMMAND_BYTES]);
        device.bus().advance().expect("it goes on");
        device.poll().err()
    });
    let error = error.expect("found");
    assert_eq!(error.to_string(), "the command ring of owner 1 has stopped");
}

/// A card that only receives owes nothing.
#[test]
fn idle_cards_reset_is_noticed() {
    let lie = |offset, truth: u32| match offset {
        registers::EPOCH => Ok(truth + 1),
        _ => Ok(truth),
    };
    let mut device = try_open(|_, truth| Ok(truth)).expect("it opens");
    let poll = |device: &mut Device<LyingBus>| {
        device.bus().advance().expect("time passes");
        device.poll()
    };
    (0..5000).for_each(|_| assert!(poll(&mut device).is_ok()));
    device.bus().hooks.lie = lie;
    let error = (0..5000).find_map(|_| poll(&mut device).err());
    assert!(matches!(error, Some(DriverError::EpochLost { .. })), "{error:?}");
    let mut device = try_open(|_, truth| Ok(truth)).expect("it opens");
    device.bus().hooks.lie = lie;
    let error = device.wait(Duration::from_micros(10), None).unwrap_err();
    assert!(matches!(error, DriverError::EpochLost { .. }), "{error}");
}

#[test]
fn refused_ring_write_names_its_address() {
    let mut provider = provider(Lies { refused: Some(0x12_3000), ..honest() });
    let error = provider.poll().unwrap_err();
    assert!(
        matches!(error, HostError::Driver(DriverError::WriteRefused { address: 0x12_3000 })),
        "{error}"
    );
    assert!(provider.poll().is_ok(), "said once");
}

/// Nobody who does not know the secrets can find addresses that share a bucket.
#[test]
fn hash_secrets_are_random_without_seed() {
    let secrets = |config| {
        let bus = GoldenBus::new(GoldenCard::new(SMALL));
        let device = Device::open(bus, config).expect("it opens");
        *device.secrets()
    };
    let seeded = |seed| secrets(DeviceConfig::with_seed(seed));
    assert!(seeded(7) == seeded(7) && seeded(7) != seeded(8));
    let [first, second] = [(); 2].map(|()| secrets(DeviceConfig::default()));
    assert!(first[0] != second[0] && first[1] != second[1]);
    assert!(first[0] != first[1]);
}

#[test]
fn another_device_is_not_a_card() {
    let error = open(|offset, truth| match offset {
        registers::ID => Ok(0x1014_10ee),
        _ => Ok(truth),
    });
    assert!(matches!(error, DriverError::NotACard(0x1014_10ee)), "{error}");
}

#[test]
fn golden_image_is_refused_with_remedy() {
    let error = open(|offset, truth| match offset {
        registers::ID => Ok(registers::GOLDEN_ID_VALUE),
        _ => Ok(truth),
    });
    assert!(matches!(error, DriverError::GoldenImage), "{error}");
    assert!(error.to_string().contains("zeronic flash"), "{error}");
}

#[test]
fn card_of_other_contract_is_refused() {
    let error = open(|offset, truth| match offset {
        registers::VERSION => Ok(truth + (1 << 16)),
        _ => Ok(truth),
    });
    match error {
        DriverError::Version { card, host } => {
            assert_eq!(card, host + (1 << 16))
        }
        other => panic!("{other}"),
    }
}

#[test]
fn endless_reset_is_given_up() {
    let error = open(|offset, truth| match offset {
        registers::EPOCH => Ok(7),
        _ => Ok(truth),
    });
    assert!(matches!(error, DriverError::ResetTimeout(_)), "{error}");
}

#[test]
fn lost_card_is_named() {
    let error = open(|offset, truth| match offset {
        registers::SIZES_0 => Err(BusError::NoAnswer(offset)),
        _ => Ok(truth),
    });
    assert!(matches!(error, DriverError::Bus(BusError::NoAnswer(registers::SIZES_0))), "{error}");
}

#[test]
fn memory_keeps_its_allocated_kind() {
    let mut bus = GoldenBus::new(GoldenCard::new(SMALL));
    let control = bus.allocate_control(4096, 4096).expect("room");
    let memory = DmaMemory {
        address: control.address(),
        bytes: control.bytes(),
        kind: MemoryKind::Application,
    };
    match bus.share(&memory).unwrap_err() {
        BusError::BadAddress { address, bytes } => {
            assert_eq!((address, bytes), (control.address(), 4096));
        }
        other => panic!("{other}"),
    }
    let payload = bus.allocate(MemoryKind::Application, 4096, 4096);
    assert!(bus.share(&payload.expect("room")).is_ok());
}

/// A region takes one page entry where the bus has a place for it, otherwise as few as it allows.
#[test]
fn region_is_aligned_within_bus_limits() {
    const BYTES: usize = 600 << 10;
    let register = |align_bytes_max| {
        let mut provider = provider(Lies { align_bytes_max, ..honest() });
        let region = provider.register(ApplicationId::FIRST, MemoryKind::Application, BYTES)?;
        Ok(provider.memory(region)?.address.trailing_zeros())
    };
    let align_bits = |align_bytes_max| register(align_bytes_max).expect("room");
    assert!(align_bits(usize::MAX) >= 20);
    assert!(align_bits(256 << 10) >= 18);
    let error: HostError = register(4096).unwrap_err();
    assert!(
        matches!(
            error,
            HostError::Table(TableError::PagesFull {
                region: 0,
                bytes: 0x9_6000,
                needed: 150,
                free: 64,
                limit: 64,
                ..
            })
        ),
        "{error}"
    );
}
