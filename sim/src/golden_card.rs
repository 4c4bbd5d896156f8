//! The golden device as a card behind a [`Bus`]: a driver runs on it without RTL. The device takes
//! no time; a round of the host takes as long as on the simulated card.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::time::Duration;

use abi::config::CardConfig;
use abi::registers::PUSH_BYTES;
use golden::device::{GoldenDevice, Memory};
use host::driver::bus::{page_bits, Bus, BusError, DmaFault, DmaMemory, MemoryKind, Result};
use host::driver::control_memory::ControlMemory;
use host::memory::{DeviceMapping, MemoryFile, MemoryRange};

use crate::bus::ADVANCE_CYCLES;
use crate::card::USER_CLOCK_PS;
use crate::harness::mac::Frame;
use crate::network_side::NetworkSide;

const BUS_BASE: u64 = 0x1_0000_0000;
const PAGE_BYTES: u64 = 4096;

/// One piece of memory, allocated or mapped.
struct Piece {
    is_control: bool,
    range: MemoryRange,
    bytes: DeviceMapping,
}

/// Host memory that the card reaches, and the accesses that were refused.
#[derive(Default)]
struct HostMemory {
    pieces: BTreeMap<u64, Piece>,
    faults: Vec<DmaFault>,
}

impl HostMemory {
    fn window(&mut self, address: u64, bytes: usize) -> Option<&mut [u8]> {
        let (&base, piece) = self.pieces.range_mut(..=address).next_back()?;
        let at = (address - base) as usize;
        piece.bytes.get_mut(at..at.checked_add(bytes)?)
    }
}

impl Memory for HostMemory {
    fn read(&mut self, address: u64, bytes: usize) -> Option<Vec<u8>> {
        self.window(address, bytes).map(|window| window.to_vec())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> bool {
        match self.window(address, bytes.len()) {
            Some(window) => window.copy_from_slice(bytes),
            None => {
                self.faults.push(DmaFault { address });
                return false;
            }
        }
        true
    }
}

/// The golden device with its host memory.
pub struct GoldenCard {
    device: GoldenDevice,
    memory: HostMemory,
    now_ps: u64,
    /// Frames handed in or taken out, and registers accessed.
    traffic: u64,
}

impl GoldenCard {
    /// A device of a configuration, just powered up, behind a handle to share.
    pub fn new(config: CardConfig) -> Rc<RefCell<GoldenCard>> {
        let device = GoldenDevice::new(config);
        Rc::new(RefCell::new(GoldenCard {
            device,
            memory: HostMemory::default(),
            now_ps: 0,
            traffic: 0,
        }))
    }

    /// Holds descriptors between their two look-ups, see [`GoldenDevice::hold_sends`].
    pub fn hold_sends(&mut self) {
        self.device.hold_sends();
    }

    /// Descriptors that are held.
    pub fn held_sends(&self) -> usize {
        self.device.held_sends()
    }

    /// Lets all that is held go on.
    pub fn release_sends(&mut self) {
        self.device.release_sends(&mut self.memory);
    }

    /// Failed sends whose event found the header queue of their owner full.
    pub fn send_events_lost(&self) -> u64 {
        self.device.send_events_lost
    }
}

impl NetworkSide for Rc<RefCell<GoldenCard>> {
    fn receive(&mut self, frame: Frame) {
        let card = &mut *self.borrow_mut();
        card.traffic += 1;
        card.device
            .receive(&frame.bytes, frame.is_bad, &mut card.memory);
    }

    fn take_sent(&mut self, into: &mut Vec<Frame>) {
        let card = &mut *self.borrow_mut();
        card.traffic += card.device.sent.len() as u64;
        into.extend(card.device.sent.drain(..).map(|bytes| Frame {
            bytes,
            ..Frame::default()
        }));
    }

    fn is_quiet(&self) -> bool {
        true
    }

    fn wire_busy_ps(&self) -> u64 {
        0
    }

    fn now_ps(&self) -> u64 {
        self.borrow().now_ps
    }

    fn traffic(&self) -> Option<u64> {
        let card = self.borrow();
        card.device.sent.is_empty().then_some(card.traffic)
    }
}

/// The golden card as a bus.
pub struct GoldenBus {
    card: Rc<RefCell<GoldenCard>>,
    bus_next: u64,
    /// Register writes that wait, of a bus that is late.
    late: Option<VecDeque<(u32, u32)>>,
}

impl GoldenBus {
    /// A bus to `card`.
    pub fn new(card: Rc<RefCell<GoldenCard>>) -> Self {
        Self {
            card,
            bus_next: BUS_BASE,
            late: None,
        }
    }

    /// A bus on which register writes wait for [`GoldenBus::carry_out`] or the next read, so that
    /// the card works between the calls of the host and not inside them.
    pub fn late(card: Rc<RefCell<GoldenCard>>) -> Self {
        Self {
            late: Some(VecDeque::new()),
            ..Self::new(card)
        }
    }

    /// The card takes the register writes that wait.
    pub fn carry_out(&mut self) {
        let late = self.late.iter_mut().flat_map(|late| late.drain(..));
        let card = &mut *self.card.borrow_mut();
        for (offset, value) in late {
            card.device.write_register(offset, value, &mut card.memory);
        }
    }

    /// Adds memory at the next address of that alignment, and returns it.
    fn add(&mut self, is_control: bool, range: MemoryRange, align: u64) -> Result<u64> {
        let bytes = range.bytes();
        let address = self.bus_next.next_multiple_of(align);
        let piece = Piece {
            is_control,
            bytes: range.map_device().map_err(device)?,
            range,
        };
        // An unmapped page between two pieces: an overrun is refused.
        self.bus_next = address + (bytes as u64).next_multiple_of(PAGE_BYTES) + PAGE_BYTES;
        self.card.borrow_mut().memory.pieces.insert(address, piece);
        Ok(address)
    }
}

/// New memory.
fn pages(bytes: usize) -> Result<MemoryRange> {
    let file = MemoryFile::new(bytes).map_err(device)?;
    file.all().map_err(device)
}

fn device(error: std::io::Error) -> BusError {
    BusError::Device(error.to_string())
}

impl Bus for GoldenBus {
    fn read_register(&mut self, offset: u32) -> Result<u32> {
        self.carry_out();
        let card = &mut *self.card.borrow_mut();
        card.traffic += 1;
        Ok(card.device.read_register(offset))
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<()> {
        let card = &mut *self.card.borrow_mut();
        card.traffic += 1;
        if let Some(late) = &mut self.late {
            late.push_back((offset, value));
            return Ok(());
        }
        card.device.write_register(offset, value, &mut card.memory);
        Ok(())
    }

    /// The golden device takes no time to read a ring, so it has no push window.
    fn write_line(&mut self, offset: u32, _line: &[u8; PUSH_BYTES]) -> Result<()> {
        Err(BusError::BadOffset(offset))
    }

    fn writes_lines(&self) -> bool {
        false
    }

    fn allocate_control(&mut self, bytes: usize, align: usize) -> Result<ControlMemory> {
        let pages = pages(bytes)?;
        let address = self.add(true, pages.clone(), align as u64)?;
        ControlMemory::new(address, &pages).map_err(device)
    }

    fn release_control(&mut self, memory: ControlMemory) -> Result<()> {
        let pieces = &mut self.card.borrow_mut().memory.pieces;
        pieces.remove(&memory.address());
        Ok(())
    }

    fn allocate(&mut self, kind: MemoryKind, bytes: usize, align: usize) -> Result<DmaMemory> {
        let address = self.add(false, pages(bytes)?, align as u64)?;
        Ok(DmaMemory {
            address,
            bytes,
            kind,
        })
    }

    fn map(&mut self, range: &MemoryRange) -> Result<DmaMemory> {
        let bytes = range.bytes();
        let address = self.add(false, range.clone(), 1 << page_bits(bytes as u64))?;
        Ok(DmaMemory {
            address,
            bytes,
            kind: MemoryKind::Application,
        })
    }

    fn release(&mut self, memory: DmaMemory) -> Result<()> {
        self.card.borrow_mut().memory.pieces.remove(&memory.address);
        Ok(())
    }

    fn share(&self, memory: &DmaMemory) -> Result<MemoryRange> {
        let card = self.card.borrow();
        match card.memory.pieces.get(&memory.address) {
            Some(piece) if !piece.is_control => Ok(piece.range.clone()),
            _ => Err(BusError::BadAddress {
                address: memory.address,
                bytes: memory.bytes,
            }),
        }
    }

    fn flush_address(&self, _kind: MemoryKind) -> Option<u64> {
        None
    }

    fn take_faults(&mut self) -> Vec<DmaFault> {
        std::mem::take(&mut self.card.borrow_mut().memory.faults)
    }

    fn advance(&mut self) -> Result<()> {
        self.card.borrow_mut().now_ps += ADVANCE_CYCLES * USER_CLOCK_PS;
        Ok(())
    }

    fn enable_interrupt(&mut self, _vector: u16) -> Result<()> {
        Ok(())
    }

    fn interrupt_fd(&self, _vector: u16) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Nothing happens between two calls, so there is nothing to wait for.
    fn wait_interrupt(&mut self, _limit: Duration) -> Result<Option<u16>> {
        Ok(None)
    }
}
