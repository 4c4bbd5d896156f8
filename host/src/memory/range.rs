//! Memory of any kind that a card may reach.

use super::address::AddressRange;
use super::dma_buf::DmaBuf;
use super::error::{whole_pages, MemoryError, Result};
use super::mapping::{
    ApplicationMapping, DeviceMapping, GuardedMapping, Mapping, Rights, SharedMapping,
};
use super::pages::FileRange;

/// Pages that a card may reach. A bus returns them for the application memory that it allocates,
/// and takes them from a program that has its own.
#[derive(Clone, Debug)]
pub enum MemoryRange {
    /// Pages of a sealed file, to be mapped by whoever needs them.
    File(FileRange),
    /// Memory of this process, mapped already.
    Address(AddressRange),
    /// Memory of another device. No bus takes it so far, and none of its bytes is mapped.
    DmaBuf(DmaBuf),
}

impl From<FileRange> for MemoryRange {
    fn from(range: FileRange) -> Self {
        Self::File(range)
    }
}

impl From<AddressRange> for MemoryRange {
    fn from(range: AddressRange) -> Self {
        Self::Address(range)
    }
}

impl From<DmaBuf> for MemoryRange {
    fn from(buffer: DmaBuf) -> Self {
        Self::DmaBuf(buffer)
    }
}

impl MemoryRange {
    /// Length in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::File(range) => range.bytes(),
            Self::Address(range) => range.bytes(),
            Self::DmaBuf(buffer) => buffer.bytes(),
        }
    }

    /// Checks that the range is whole pages: a card reaches whole pages.
    pub fn check_pages(&self) -> Result<()> {
        whole_pages(self.bytes() as u64).map(drop)
    }

    /// Maps the range for the DMA of a card, readable and writable: a simulated one copies by it, a
    /// real one is given its address ([`DeviceMapping::address`]). A range may be mapped so as
    /// often as it is needed.
    pub fn map_device(&self) -> Result<DeviceMapping> {
        self.open(Rights::ReadWrite).map(DeviceMapping::new)
    }

    /// Maps the range for the application.
    pub fn map(&self) -> Result<ApplicationMapping> {
        self.open(Rights::ReadWrite).map(ApplicationMapping::new)
    }

    /// Maps the range for words that host and card share.
    pub(crate) fn map_shared(&self) -> Result<SharedMapping> {
        self.open(Rights::ReadWrite).map(SharedMapping::new)
    }

    /// Maps the range for the control stack, which must open it before each access.
    pub(crate) fn guard(&self) -> Result<GuardedMapping> {
        self.open(Rights::None).map(GuardedMapping::new)
    }

    fn open(&self, rights: Rights) -> Result<Mapping> {
        match self {
            Self::File(range) => Mapping::of_file(range, rights),
            Self::Address(range) => Ok(Mapping::of_address(range)),
            Self::DmaBuf(buffer) => Err(MemoryError::NotMappable { bytes: buffer.bytes() }),
        }
    }
}
