//! A card that another process serves, by its socket.
//!
//! ```text
//!   read_register ─► message, reply      write_register, write_line ─► message, no reply
//!   doorbells     ─► stores, where the server has pages of them that can be mapped
//!   allocate, map ─► sealed file, passed to the server, which maps it
//!   interrupts    ─► one event a vector
//! ```
//! Register writes and lines keep their order: they are messages of one socket, and what was stored
//! in memory before is seen by whoever handles them. Stores to mapped doorbells would pass earlier
//! messages: so all other writes then wait for their reply, and no line is written.
//!
//! On error: the server's end shows as [`BusError::Device`] in the next call that sends something,
//! and in [`Bus::advance`] within [`LOOK_EVERY`] for a host that only polls memory.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use abi::pci_ids::{DEVICE_ID, VENDOR_ID};
use abi::registers::{
    BAR_BYTES, DOORBELLS, DOORBELL_ARM_SENDS, DOORBELL_STATUS, DOORBELL_STRIDE, PUSH_BYTES,
};
use host::driver::bus::{page_bits, Bus, BusError, DmaMemory, MemoryKind, Result};
use host::driver::bus_memory::new_pages;
use host::driver::control_memory::ControlMemory;
use host::memory::MemoryRange;
use thiserror::Error;
use vfio_user::codec::Rights;
use vfio_user::description::{INTERRUPT_MSIX, REGION_CONFIG};
use vfio_user::{Client, ClientError, Event, Mapping};

use crate::card::{device, ids, Reached, COMMAND, COMMAND_ON, LOOK_EVERY};
use crate::vectors::{Vectors, Woken};

/// The region of BAR 0.
const BAR_0: u32 = 0;

/// Why a card cannot be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// No device is served at the socket, or it talks nonsense.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// What is served there is no card of this kind.
    #[error(
        "{socket} serves device {vendor:04x}:{device:04x}, and not a Zeronic card \
         ({VENDOR_ID:04x}:{DEVICE_ID:04x})"
    )]
    OtherDevice {
        /// The socket.
        socket: String,
        /// Its vendor.
        vendor: u16,
        /// Its device.
        device: u16,
    },
    /// BAR 0 has another length.
    #[error("BAR 0 of {socket} has {bytes} bytes, and not {BAR_BYTES}")]
    OtherBar {
        /// The socket.
        socket: String,
        /// Its length.
        bytes: u64,
    },
}

/// The card behind a socket.
pub struct SocketBus {
    client: Client,
    vectors: Vectors,
    /// Doorbell pages, from that of owner 0 on.
    doorbells: Option<Mapping>,
    reached: Reached<()>,
    started: Instant,
    looked: Instant,
}

impl SocketBus {
    /// Opens the card at a socket, resets it, and lets it reach memory. Its doorbells are mapped
    /// where they can be.
    pub fn open(socket: &Path) -> std::result::Result<Self, OpenError> {
        let mut bus = Self::open_by_messages(socket)?;
        let areas = bus.client.mappable(BAR_0);
        if let Some(area) = areas.iter().find(|area| area.offset == u64::from(DOORBELLS)) {
            bus.doorbells = Some(bus.client.map_region(BAR_0, area.offset, area.bytes)?);
        }
        Ok(bus)
    }

    /// The same without a mapping: each doorbell is a message.
    pub fn open_by_messages(socket: &Path) -> std::result::Result<Self, OpenError> {
        let mut client = Client::connect(socket)?;
        let name = || socket.display().to_string();
        let mut first = [0; 4];
        client.read(REGION_CONFIG, 0, &mut first)?;
        let (vendor, device) = ids(first);
        if (vendor, device) != (VENDOR_ID, DEVICE_ID) {
            return Err(OpenError::OtherDevice { socket: name(), vendor, device });
        }
        let bytes = client.region_bytes(BAR_0);
        if bytes != BAR_BYTES as u64 {
            return Err(OpenError::OtherBar { socket: name(), bytes });
        }
        client.reset()?;
        client.write(REGION_CONFIG, COMMAND, &COMMAND_ON.to_le_bytes())?;
        let now = Instant::now();
        Ok(Self {
            client,
            vectors: Vectors::default(),
            doorbells: None,
            reached: Reached::default(),
            started: now,
            looked: now,
        })
    }

    /// Reads the configuration space.
    pub fn read_config(&mut self, offset: u64, into: &mut [u8]) -> Result<()> {
        self.client.read(REGION_CONFIG, offset, into).map_err(device)
    }

    /// Length of a region; 0: there is none of that index.
    pub fn region_bytes(&self, region: u32) -> u64 {
        self.client.region_bytes(region)
    }

    /// Reads a region of the device's own.
    pub fn read_region(&mut self, region: u32, offset: u64, into: &mut [u8]) -> Result<()> {
        self.client.read(region, offset, into).map_err(device)
    }

    /// Writes one, and returns when the device has taken it, and all that was stored before.
    pub fn write_region(&mut self, region: u32, offset: u64, from: &[u8]) -> Result<()> {
        self.client.write(region, offset, from).map_err(device)
    }

    /// Whether doorbells are stores.
    pub fn has_mapped_doorbells(&self) -> bool {
        self.doorbells.is_some()
    }

    /// Interrupt vectors of the card.
    pub fn vectors(&self) -> u32 {
        self.client.interrupt_count(INTERRUPT_MSIX)
    }

    /// Adds memory at the next address of that alignment, and returns it.
    fn add(&mut self, is_control: bool, range: MemoryRange, align: u64) -> Result<u64> {
        let client = &mut self.client;
        self.reached.add(is_control, range, align, |address, range| {
            let MemoryRange::File(file) = range else {
                return Err(device(
                    "only memory in a sealed file can be passed to a card behind a socket",
                ));
            };
            let rights = Rights { read: true, write: true };
            let (offset, bytes) = (file.offset() as u64, file.bytes() as u64);
            client.map_memory(address, bytes, file.descriptor(), offset, rights).map_err(device)
        })
    }

    fn remove(&mut self, address: u64) -> Result<()> {
        let client = &mut self.client;
        self.reached.remove(address, |bytes| client.unmap_memory(address, bytes).map_err(device))
    }

    /// Finds out whether the server is still there.
    fn look(&mut self) -> Result<()> {
        self.looked = Instant::now();
        self.client.serve().map_err(device)
    }
}

/// The offset, if it is inside BAR 0 and a multiple of the access.
fn check_offset(offset: u32, bytes: usize) -> Result<u64> {
    let is_good = (offset as usize).is_multiple_of(bytes) && offset as usize + bytes <= BAR_BYTES;
    is_good.then_some(offset.into()).ok_or(BusError::BadOffset(offset))
}

/// Where a doorbell lies in pages of so many bytes; `None` of what is none.
fn doorbell(offset: u32, bytes: usize) -> Option<usize> {
    let at = offset.checked_sub(DOORBELLS)?;
    let word = at % DOORBELL_STRIDE;
    let is_doorbell = word <= DOORBELL_ARM_SENDS && word != DOORBELL_STATUS;
    (is_doorbell && (at as usize) < bytes).then_some(at as usize)
}

impl Bus for SocketBus {
    fn read_register(&mut self, offset: u32) -> Result<u32> {
        let mut word = [0; 4];
        self.client.read(BAR_0, check_offset(offset, 4)?, &mut word).map_err(device)?;
        Ok(u32::from_le_bytes(word))
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<()> {
        let (at, bytes) = (check_offset(offset, 4)?, value.to_le_bytes());
        let Some(pages) = &self.doorbells else {
            return self.client.post(BAR_0, at, &bytes).map_err(device);
        };
        match doorbell(offset, pages.bytes()) {
            Some(at) => pages.store(at, value),
            None => self.client.write(BAR_0, at, &bytes).map_err(device)?,
        }
        Ok(())
    }

    fn writes_lines(&self) -> bool {
        self.doorbells.is_none()
    }

    fn write_line(&mut self, offset: u32, line: &[u8; PUSH_BYTES]) -> Result<()> {
        self.client.post_line(BAR_0, check_offset(offset, PUSH_BYTES)?, line).map_err(device)
    }

    fn allocate_control(&mut self, bytes: usize, align_bytes: usize) -> Result<ControlMemory> {
        let pages = new_pages(bytes)?;
        let address = self.add(true, pages.clone(), align_bytes as u64)?;
        Ok(ControlMemory::new(address, &pages)?)
    }

    fn release_control(&mut self, memory: ControlMemory) -> Result<()> {
        self.remove(memory.address())
    }

    fn allocate(&mut self, kind: MemoryKind, bytes: usize, align: usize) -> Result<DmaMemory> {
        let address = self.add(false, new_pages(bytes)?, align as u64)?;
        Ok(DmaMemory { address, bytes, kind })
    }

    fn map(&mut self, range: &MemoryRange) -> Result<DmaMemory> {
        let bytes = range.bytes();
        let address = self.add(false, range.clone(), 1 << page_bits(bytes as u64))?;
        Ok(DmaMemory { address, bytes, kind: MemoryKind::Application })
    }

    fn release(&mut self, memory: DmaMemory) -> Result<()> {
        self.remove(memory.address)
    }

    fn share(&self, memory: &DmaMemory) -> Result<MemoryRange> {
        self.reached.share(memory)
    }

    fn flush_address(&self, _kind: MemoryKind) -> Option<u64> {
        None
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn advance(&mut self) -> Result<()> {
        match self.looked.elapsed() < LOOK_EVERY {
            true => Ok(()),
            false => self.look(),
        }
    }

    fn enable_interrupt(&mut self, vector: u16) -> Result<()> {
        let event = Event::new().map_err(device)?;
        let start = vector.into();
        self.client.attach(INTERRUPT_MSIX, start, &[event.as_fd()]).map_err(device)?;
        self.vectors.add(vector, event);
        Ok(())
    }

    fn interrupt_fd(&self, vector: u16) -> Option<BorrowedFd<'_>> {
        self.vectors.descriptor(vector)
    }

    fn wait_interrupt(&mut self, limit: Duration) -> Result<Option<u16>> {
        let end = Instant::now() + limit;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let woken = self.vectors.wait(Some(self.client.as_fd()), left);
            match woken.map_err(device)? {
                Woken::Vector(vector) => return Ok(Some(vector)),
                Woken::Socket => self.look()?,
                Woken::Nothing => return Ok(None),
            }
        }
    }
}
