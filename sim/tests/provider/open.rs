//! What `Device::open` finds at the other end of the bus.

use std::time::Duration;

use abi::config::{COMMAND_BYTES, SMALL};
use abi::registers;
use host::bus::{Bus, BusError, DmaFault, DmaMemory, MemoryKind};
use host::control::descriptor::raw;
use host::device::{Device, DeviceConfig};
use host::error::HostError;
use host::memory::MemoryRange;
use sim::golden_card::{GoldenBus, GoldenCard};

type Result<T, E = BusError> = std::result::Result<T, E>;

/// A bus that answers some registers in its own way.
struct Lying {
    bus: GoldenBus,
    lie: fn(u32, u32) -> Result<u32>,
    /// No doorbell reaches the card.
    is_deaf: bool,
}

impl Bus for Lying {
    fn read_register(&mut self, offset: u32) -> Result<u32> {
        let truth = self.bus.read_register(offset)?;
        (self.lie)(offset, truth)
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<()> {
        match self.is_deaf && offset >= registers::DOORBELLS {
            true => Ok(()),
            false => self.bus.write_register(offset, value),
        }
    }

    fn write_line(&mut self, offset: u32, line: &[u8; registers::PUSH_BYTES]) -> Result<()> {
        self.bus.write_line(offset, line)
    }

    fn allocate(&mut self, kind: MemoryKind, bytes: usize, align: usize) -> Result<DmaMemory> {
        self.bus.allocate(kind, bytes, align)
    }

    fn release(&mut self, memory: DmaMemory) -> Result<()> {
        self.bus.release(memory)
    }

    fn read_memory(&mut self, address: u64, into: &mut [u8]) -> Result<()> {
        self.bus.read_memory(address, into)
    }

    fn write_memory(&mut self, address: u64, from: &[u8]) -> Result<()> {
        self.bus.write_memory(address, from)
    }

    fn share(&self, memory: &DmaMemory) -> Result<MemoryRange> {
        self.bus.share(memory)
    }

    fn flush_address(&self, kind: MemoryKind) -> Option<u64> {
        self.bus.flush_address(kind)
    }

    fn take_faults(&mut self) -> Vec<DmaFault> {
        self.bus.take_faults()
    }

    fn advance(&mut self) -> Result<()> {
        self.bus.advance()
    }

    fn enable_interrupt(&mut self, vector: u16) -> Result<()> {
        self.bus.enable_interrupt(vector)
    }

    fn wait_interrupt(&mut self, limit: Duration) -> Result<Option<u16>> {
        self.bus.wait_interrupt(limit)
    }
}

fn try_open(lie: fn(u32, u32) -> Result<u32>) -> Result<Device<Lying>, HostError> {
    let bus = Lying {
        bus: GoldenBus::new(GoldenCard::new(SMALL)),
        lie,
        is_deaf: false,
    };
    Device::open(bus, DeviceConfig::default())
}

fn open(lie: fn(u32, u32) -> Result<u32>) -> HostError {
    match try_open(lie) {
        Ok(_) => panic!("it opened"),
        Err(error) => error,
    }
}

/// What an open card that hears nothing any more is found to be, by a command or by a send.
fn found(lie: fn(u32, u32) -> Result<u32>, by_command: bool) -> HostError {
    let mut device = try_open(|_, truth| Ok(truth)).expect("it opens");
    device.bus().lie = lie;
    device.bus().is_deaf = true;
    match by_command {
        true => drop(device.command([0; COMMAND_BYTES])),
        false => device.send(raw(&[0; 60])),
    }
    for _ in 0..10_000 {
        if let Err(error) = device.poll() {
            return error;
        }
    }
    panic!("nothing was found");
}

#[test]
fn a_card_that_was_reset_is_found() {
    let error = found(
        |offset, truth| match offset {
            registers::EPOCH => Ok(truth + 1),
            _ => Ok(truth),
        },
        true,
    );
    match error {
        HostError::EpochLost { before, now } => assert_eq!(now, before + 1),
        other => panic!("{other}"),
    }
}

#[test]
fn a_ring_that_has_stopped_is_found() {
    const STATUS: u32 = registers::DOORBELLS + registers::DOORBELL_STATUS;
    let error = found(
        |offset, truth| match offset {
            STATUS => Ok(registers::STATUS_SEND_STOPPED),
            _ => Ok(truth),
        },
        false,
    );
    assert_eq!(error.to_string(), "the send ring of owner 0 has stopped");
}

#[test]
fn another_device_is_not_a_card() {
    let error = open(|offset, truth| match offset {
        registers::ID => Ok(0x1014_10ee),
        _ => Ok(truth),
    });
    assert!(matches!(error, HostError::NotACard(0x1014_10ee)), "{error}");
}

#[test]
fn a_card_of_another_contract_is_refused() {
    let error = open(|offset, truth| match offset {
        registers::VERSION => Ok(truth + (1 << 16)),
        _ => Ok(truth),
    });
    match error {
        HostError::Version { card, host } => assert_eq!(card, host + (1 << 16)),
        other => panic!("{other}"),
    }
}

#[test]
fn a_reset_that_does_not_end_is_given_up() {
    let error = open(|offset, truth| match offset {
        registers::EPOCH => Ok(7),
        _ => Ok(truth),
    });
    assert!(matches!(error, HostError::ResetTimeout(_)), "{error}");
}

#[test]
fn a_card_that_is_gone_is_named() {
    let error = open(|offset, truth| match offset {
        registers::SIZES_0 => Err(BusError::NoAnswer(offset)),
        _ => Ok(truth),
    });
    assert!(
        matches!(
            error,
            HostError::Bus(BusError::NoAnswer(registers::SIZES_0))
        ),
        "{error}"
    );
}

#[test]
fn memory_is_what_it_was_allocated_as() {
    let mut bus = GoldenBus::new(GoldenCard::new(SMALL));
    let control = bus.allocate(MemoryKind::Control, 4096, 4096).expect("room");
    let payload = bus.allocate(MemoryKind::Application, 4096, 4096);
    let payload = payload.expect("room");
    let bad = |error: BusError| match error {
        BusError::BadAddress {
            address,
            bytes,
            kind,
        } => (address, bytes, kind),
        other => panic!("{other}"),
    };
    let shared = bus.share(&control).unwrap_err();
    assert_eq!(bad(shared), (control.address, 4096, "application"));
    let read = bus.read_memory(payload.address, &mut [0; 8]).unwrap_err();
    assert_eq!(bad(read), (payload.address, 8, "control"));
    let write = bus.write_memory(payload.address, &[0; 4]).unwrap_err();
    assert_eq!(bad(write), (payload.address, 4, "control"));
    let end = control.address + 4092;
    let over = bus.read_memory(end, &mut [0; 8]).unwrap_err();
    assert_eq!(bad(over), (end, 8, "control"));
}
