//! A card in a slot of this machine, which the kernel's VFIO gives to this process.
//!
//! ```text
//!   read_register, write_register ─► load, store of the mapped BAR
//!   allocate ──────► pages, large ones where there are some, near the card; then as map
//!   map ───────────► pages of this process, pinned, at an address of the card's IOMMU
//!   interrupts    ─► one event a vector
//! ```
//! A line would reach the card in parts of eight bytes: the push window is not used.
//!
//! On error: a card that is gone answers all ones. A read that does so looks at the configuration
//! space, and [`Bus::advance`] looks every [`LOOK_EVERY`], for a host that only polls memory.
//! Writes that the IOMMU refuses are in the kernel's log, and in no file that a program may read.

use std::fmt::Display;
use std::io::ErrorKind;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use abi::pci_ids::{DEVICE_ID, VENDOR_ID};
use abi::registers::BAR_BYTES;
use host::driver::bus::{page_bits, Bus, BusError, DmaMemory, MemoryKind, Result};
use host::driver::control_memory::ControlMemory;
use host::memory::{DeviceMapping, MemoryRange};
use thiserror::Error;
use vfio_user::{Event, Mapping};

use crate::card::{device, ids, Reached, COMMAND, COMMAND_ON, LOOK_EVERY};
use crate::kernel::{self, card_pages, prefer_node, VfioDevice, LARGE_PAGE_BYTES, REGION_BAR_0};
use crate::vectors::{Vectors, Woken};

/// Why a card cannot be opened.
#[derive(Debug, Error)]
pub enum KernelOpenError {
    /// VFIO does not give the device.
    #[error(transparent)]
    Device(#[from] kernel::OpenError),
    /// The device is no card of this kind.
    #[error(
        "{address} is device {vendor:04x}:{device:04x}, and not a Zeronic card \
         ({VENDOR_ID:04x}:{DEVICE_ID:04x})"
    )]
    OtherDevice {
        /// Where it is.
        address: String,
        /// Its vendor.
        vendor: u16,
        /// Its device.
        device: u16,
    },
    /// BAR 0 has another length, or cannot be mapped.
    #[error(
        "BAR 0 of {address} has {bytes} bytes and is mapped: {mapped}; not {BAR_BYTES}, mapped"
    )]
    OtherBar {
        /// Where it is.
        address: String,
        /// Its length.
        bytes: u64,
        /// Whether it may be mapped.
        mapped: bool,
    },
    /// The device does not do what it was asked for.
    #[error("{what} of {address}: {reason}")]
    Refused {
        /// What was to be done.
        what: &'static str,
        /// Where it is.
        address: String,
        /// What the system said.
        reason: String,
    },
}

/// The card in a slot.
pub struct KernelBus {
    // Memory is dropped behind the device, whose end takes them from the card.
    device: VfioDevice,
    registers: Mapping,
    vectors: Vectors,
    vector_count: u16,
    reached: Reached<DeviceMapping>,
    started: Instant,
    looked: Instant,
}

impl KernelBus {
    /// Opens the card at an address, such as `0000:01:00.0`, resets it, and lets it reach memory.
    pub fn open(address: &str) -> std::result::Result<Self, KernelOpenError> {
        let device = VfioDevice::open(address)?;
        let refused = |what| {
            let address = address.to_owned();
            move |reason: &dyn Display| KernelOpenError::Refused {
                what,
                address,
                reason: reason.to_string(),
            }
        };
        let (vendor, id) = ids_of(&device).map_err(|error| refused("the identity")(&error))?;
        if (vendor, id) != (VENDOR_ID, DEVICE_ID) {
            let address = address.to_owned();
            return Err(KernelOpenError::OtherDevice { address, vendor, device: id });
        }
        let bar = device.region(REGION_BAR_0).map_err(|error| refused("BAR 0")(&error))?;
        if bar.bytes != BAR_BYTES as u64 || !bar.is_mappable() {
            let (address, mapped) = (address.to_owned(), bar.is_mappable());
            return Err(KernelOpenError::OtherBar { address, bytes: bar.bytes, mapped });
        }
        device.reset().map_err(|error| refused("the reset")(&error))?;
        device
            .write_config(COMMAND, &COMMAND_ON.to_le_bytes())
            .map_err(|error| refused("bus mastering")(&error))?;
        let registers = Mapping::of_device(device.as_fd(), bar.offset, BAR_BYTES)
            .map_err(|error| refused("the mapping of BAR 0")(&error))?;
        let count = device.vectors().map_err(|error| refused("the vectors")(&error))?;
        let mut bus = Self {
            device,
            registers,
            vectors: Vectors::default(),
            vector_count: u16::try_from(count).unwrap_or(u16::MAX),
            reached: Reached::default(),
            started: Instant::now(),
            looked: Instant::now(),
        };
        bus.attach_all().map_err(|error| refused("the interrupts")(&error))?;
        Ok(bus)
    }

    /// Reads the configuration space.
    pub fn read_config(&mut self, offset: u64, into: &mut [u8]) -> Result<()> {
        self.device.read_config(offset, into).map_err(device)
    }

    /// How VFIO was opened, in words.
    pub fn way(&self) -> &'static str {
        self.device.way()
    }

    /// The node whose memory is near the card.
    pub fn node(&self) -> Option<u32> {
        self.device.node()
    }

    /// Interrupt vectors of the card.
    pub fn vectors(&self) -> u32 {
        self.vector_count.into()
    }

    /// Gives each vector its event.
    fn attach_all(&mut self) -> Result<()> {
        let mut events = Vec::new();
        for _ in 0..self.vector_count {
            events.push(Event::new().map_err(device)?);
        }
        let all: Vec<BorrowedFd<'_>> = events.iter().map(|event| event.as_fd()).collect();
        if !all.is_empty() {
            self.device.attach(&all).map_err(device)?;
        }
        for (vector, event) in (0..self.vector_count).zip(events) {
            self.vectors.add(vector, event);
        }
        Ok(())
    }

    /// New memory near the card, at an address of that alignment.
    fn add_new(
        &mut self,
        is_control: bool,
        bytes: usize,
        align: u64,
    ) -> Result<(MemoryRange, u64)> {
        let (range, is_large) = card_pages(bytes)?;
        let align = if is_large { align.max(LARGE_PAGE_BYTES as u64) } else { align };
        let node = self.device.node();
        Ok((range.clone(), self.add(is_control, range, (align, node))?))
    }

    /// Adds memory at the next address of that alignment, and returns it. Where a node is named,
    /// nobody has touched the memory before.
    fn add(
        &mut self,
        is_control: bool,
        range: MemoryRange,
        (align, node): (u64, Option<u32>),
    ) -> Result<u64> {
        let card = &self.device;
        self.reached.add(is_control, range, align, |bus_address, range| {
            let mapping = range.map_device()?;
            if let Some(node) = node {
                // A wish: memory that is far is memory as well.
                let _ = prefer_node(&mapping, range.bytes(), node);
            }
            let (address, bytes) = (mapping.address().as_ptr().addr(), range.bytes() as u64);
            card.map(address, bus_address, bytes).map_err(|error| {
                let hint = match error.kind() {
                    ErrorKind::OutOfMemory => ": raise the limit of locked memory (ulimit -l)",
                    _ => "",
                };
                device(format!("{bytes} bytes for the card's DMA: {error}{hint}"))
            })?;
            Ok(mapping)
        })
    }

    fn remove(&mut self, address: u64) -> Result<()> {
        let card = &self.device;
        self.reached.remove(address, |bytes| card.unmap(address, bytes).map_err(device))
    }

    /// Whether the card is still there.
    fn look(&mut self) -> Result<()> {
        self.looked = Instant::now();
        match ids_of(&self.device).map_err(device)? {
            (VENDOR_ID, DEVICE_ID) => Ok(()),
            _ => Err(device("the card is gone: it answers all ones")),
        }
    }
}

/// Vendor and device of the card.
fn ids_of(card: &VfioDevice) -> std::io::Result<(u16, u16)> {
    let mut first = [0; 4];
    card.read_config(0, &mut first)?;
    Ok(ids(first))
}

/// The offset, if it is a word inside BAR 0.
fn word(offset: u32) -> Result<usize> {
    let at = offset as usize;
    let is_good = at.is_multiple_of(4) && at + 4 <= BAR_BYTES;
    is_good.then_some(at).ok_or(BusError::BadOffset(offset))
}

impl Bus for KernelBus {
    fn read_register(&mut self, offset: u32) -> Result<u32> {
        let value = u32::from_le(self.registers.load(word(offset)?));
        if value == u32::MAX && self.look().is_err() {
            return Err(BusError::NoAnswer(offset));
        }
        Ok(value)
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<()> {
        self.registers.store(word(offset)?, value.to_le());
        Ok(())
    }

    fn allocate_control(&mut self, bytes: usize, align_bytes: usize) -> Result<ControlMemory> {
        let (pages, address) = self.add_new(true, bytes, align_bytes as u64)?;
        Ok(ControlMemory::new(address, &pages)?)
    }

    fn release_control(&mut self, memory: ControlMemory) -> Result<()> {
        self.remove(memory.address())
    }

    fn allocate(&mut self, kind: MemoryKind, bytes: usize, align: usize) -> Result<DmaMemory> {
        let (_, address) = self.add_new(false, bytes, align as u64)?;
        Ok(DmaMemory { address, bytes, kind })
    }

    fn map(&mut self, range: &MemoryRange) -> Result<DmaMemory> {
        let bytes = range.bytes();
        let address = self.add(false, range.clone(), (1 << page_bits(bytes as u64), None))?;
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
        match vector < self.vector_count {
            true => Ok(()),
            false => Err(BusError::Device(format!(
                "the card has {} interrupt vectors, and none of number {vector}",
                self.vector_count
            ))),
        }
    }

    fn interrupt_fd(&self, vector: u16) -> Option<BorrowedFd<'_>> {
        self.vectors.descriptor(vector)
    }

    fn wait_interrupt(&mut self, limit: Duration) -> Result<Option<u16>> {
        match self.vectors.wait(None, limit).map_err(device)? {
            Woken::Vector(vector) => Ok(Some(vector)),
            Woken::Socket | Woken::Nothing => Ok(None),
        }
    }
}
