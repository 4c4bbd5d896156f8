//! Memory that a program already has, named by its address.

use std::any::Any;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use super::error::{whole_pages, MemoryError, Result, PAGE_BYTES};

/// Whole pages of this process at an address: of its heap, of an arena, of huge pages. Clones are
/// the same memory, and the last one lets go of what keeps it mapped.
#[derive(Clone)]
pub struct AddressRange {
    start: NonNull<u8>,
    bytes: usize,
    _keep: Arc<dyn Any + Send + Sync>,
}

// SAFETY: the pages belong to the process, not to a thread, and are reached through copies alone.
unsafe impl Send for AddressRange {}
// SAFETY: as for `Send`; a shared range gives out nothing but its address and length.
unsafe impl Sync for AddressRange {}

impl fmt::Debug for AddressRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "AddressRange({} bytes at {:p})", self.bytes, self.start)
    }
}

impl AddressRange {
    /// The `bytes` bytes at `start`, whole pages that may be read and written, which is checked.
    /// `keep` is what keeps them mapped (an `Arc` of the arena, or of nothing where they always
    /// are): it is dropped with the last clone, and with the last mapping made of one.
    ///
    /// # Safety
    /// As long as `keep` lives, the pages stay mapped, readable and writable, at this address. As
    /// long as they are registered, the program holds no reference to their bytes (`&[u8]`,
    /// `&mut [u8]`): a card writes them when it likes. It reads and writes them by
    /// [`SharedBytes`](super::SharedBytes), or by pointers.
    pub unsafe fn new(
        start: *mut u8,
        bytes: usize,
        keep: Arc<dyn Any + Send + Sync>,
    ) -> Result<Self> {
        let address = start.addr();
        if !address.is_multiple_of(PAGE_BYTES) {
            return Err(MemoryError::NotAtPage { address });
        }
        let bytes = whole_pages(bytes as u64)?;
        let start = NonNull::new(start).ok_or(MemoryError::NotMapped { address, bytes })?;
        check_rights(address, bytes)?;
        Ok(Self { start, bytes, _keep: keep })
    }

    /// Address of the first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Checks that all of a range is mapped, readable and writable, as the kernel lists it.
fn check_rights(address: usize, bytes: usize) -> Result<()> {
    let listed = std::fs::read_to_string("/proc/self/maps");
    let listed =
        listed.map_err(|source| MemoryError::System { call: "/proc/self/maps", source })?;
    let mut next = address;
    let end = address.checked_add(bytes).ok_or(MemoryError::NotMapped { address, bytes })?;
    for (from, to, rights) in listed.lines().filter_map(mapping) {
        if to <= next {
            continue;
        }
        if from > next || next >= end {
            break;
        }
        if !rights.starts_with("rw") {
            return Err(MemoryError::NotWritable { address: next, rights: rights.to_owned() });
        }
        next = to;
    }
    match next >= end {
        true => Ok(()),
        false => Err(MemoryError::NotMapped { address: next, bytes }),
    }
}

/// First address, end and rights of a line of the list; the lines are in the order of addresses.
fn mapping(line: &str) -> Option<(usize, usize, &str)> {
    let (range, rest) = line.split_once(' ')?;
    let (from, to) = range.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    Some((number(from)?, number(to)?, rest.split(' ').next()?))
}
