//! Ranges of the client's memory that a device may reach, by bus address.
//!
//! ```text
//!   bus address ──► range ──┬─ sealed file ──► one mapping of the whole file, shared by its ranges
//!                           ├─ other file  ──► read and written by calls: it may shrink
//!                           └─ no file     ──► messages to the client
//! ```
//! A guest with an IOMMU of its own maps each page by itself, tens of thousands of them. A mapping
//! or a descriptor for each would exhaust what the kernel allows a process (65,530; 1,024).
//!
//! Invariants
//! 1. Ranges do not overlap.
//! 2. No access goes outside of the ranges or against their rights; one that would touches nothing.
//! 3. No client can end this process by cutting off a file.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Weak};

use rustix::fs::{fcntl_get_seals, fcntl_getfl, fstat, FileType, OFlags, SealFlags};
use rustix::io::{pread, pwrite, Errno};

use crate::codec::{DmaMap, DmaUnmap, Rights, MAPS};
use crate::mapping::Mapping;

/// Bytes that are written last.
const WORD_BYTES: usize = 8;

/// Where the bytes of a range are.
#[derive(Clone, Debug)]
pub(crate) enum Backing {
    /// In a file that cannot shrink.
    Mapped(Arc<Mapping>),
    /// In a file that can.
    File(Arc<OwnedFd>),
    /// With the client.
    Messages,
}

#[derive(Debug)]
struct Range {
    last: u64,
    rights: Rights,
    offset: u64,
    backing: Backing,
}

/// A part of an access, within one range.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) address: u64,
    pub(crate) bytes: usize,
    /// Where it begins in the file.
    pub(crate) offset: u64,
    pub(crate) backing: Backing,
}

/// Device and inode of a file, and whether it is to be written.
type FileKey = (u64, u64, bool);

/// A file that ranges have in common, as long as there are any.
#[derive(Debug)]
enum Known {
    Mapped(Weak<Mapping>),
    File(Weak<OwnedFd>),
}

impl Known {
    /// The file, if it is still in use and has so many bytes mapped.
    fn backing(&self, bytes: u64) -> Option<Backing> {
        match self {
            Self::Mapped(mapping) => {
                let mapping = mapping.upgrade().filter(|it| it.bytes() as u64 >= bytes);
                mapping.map(Backing::Mapped)
            }
            Self::File(file) => file.upgrade().map(Backing::File),
        }
    }

    fn is_in_use(&self) -> bool {
        match self {
            Self::Mapped(mapping) => mapping.strong_count() > 0,
            Self::File(file) => file.strong_count() > 0,
        }
    }
}

/// The bytes of a range, for who reaches them without the client's session: a device with a time of
/// its own. It keeps the file, not the right to it: a range that is unmapped is to be dropped.
#[derive(Clone, Debug)]
pub struct RangeBytes {
    bytes: usize,
    offset: u64,
    file: RangeFile,
}

#[derive(Clone, Debug)]
enum RangeFile {
    Mapped(Arc<Mapping>),
    File(Arc<OwnedFd>),
}

impl RangeBytes {
    /// Length.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Copies out.
    ///
    /// # Errors
    /// The range ends before, or the client has cut its file off.
    pub fn read(&self, at: usize, into: &mut [u8]) -> Result<(), Errno> {
        let offset = self.place(at, into.len())?;
        match &self.file {
            RangeFile::Mapped(mapping) => {
                mapping.read(offset as usize, into);
                Ok(())
            }
            RangeFile::File(file) => read_file(file, offset, into),
        }
    }

    /// Copies in; the first word is written last.
    ///
    /// # Errors
    /// As of [`RangeBytes::read`].
    pub fn write(&self, at: usize, from: &[u8]) -> Result<(), Errno> {
        let offset = self.place(at, from.len())?;
        match &self.file {
            RangeFile::Mapped(mapping) => {
                mapping.write(offset as usize, from);
                Ok(())
            }
            RangeFile::File(file) => write_file(file, offset, from),
        }
    }

    fn place(&self, at: usize, bytes: usize) -> Result<u64, Errno> {
        let fits = at.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        fits.then_some(self.offset + at as u64).ok_or(Errno::FAULT)
    }
}

/// All ranges of a client.
#[derive(Debug, Default)]
pub(crate) struct Maps {
    ranges: BTreeMap<u64, Range>,
    files: BTreeMap<FileKey, Known>,
}

impl Maps {
    /// Adds a range.
    pub(crate) fn add(&mut self, map: &DmaMap, file: Option<OwnedFd>) -> Result<(), Errno> {
        if self.ranges.len() as u64 >= MAPS {
            return Err(Errno::NOSPC);
        }
        let last = map.address.checked_add(map.bytes - 1).ok_or(Errno::INVAL)?;
        let before = self.ranges.range(..=last).next_back();
        if before.is_some_and(|(_, range)| range.last >= map.address) {
            return Err(Errno::EXIST);
        }
        let backing = match file {
            None => Backing::Messages,
            Some(file) => self.open(map, file)?,
        };
        let range = Range { last, rights: map.rights, offset: map.offset, backing };
        self.ranges.insert(map.address, range);
        Ok(())
    }

    fn open(&mut self, map: &DmaMap, file: OwnedFd) -> Result<Backing, Errno> {
        let status = fstat(&file)?;
        let file_bytes = u64::try_from(status.st_size).unwrap_or(0);
        if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
            return Err(Errno::NODEV);
        }
        if map.offset + map.bytes > file_bytes {
            return Err(Errno::NXIO);
        }
        let key = (status.st_dev, status.st_ino, map.rights.write);
        let known = self.files.get(&key).and_then(|known| known.backing(map.offset + map.bytes));
        if let Some(backing) = known {
            return Ok(backing);
        }
        let (known, backing) = open(file, file_bytes, map.rights)?;
        self.files.retain(|_, known| known.is_in_use());
        self.files.insert(key, known);
        Ok(backing)
    }

    /// Removes the ranges inside of this one, as VFIO does; one that would have to be cut is an
    /// error. Returns what was removed.
    pub(crate) fn remove(&mut self, unmap: &DmaUnmap) -> Result<Vec<(u64, u64)>, Errno> {
        let (first, last) = match *unmap {
            DmaUnmap::All => (0, u64::MAX),
            DmaUnmap::Range { bytes: 0, .. } => return Err(Errno::INVAL),
            DmaUnmap::Range { address, bytes } => (address, address + (bytes - 1)),
        };
        let reaches = |address: u64| {
            let range = self.ranges.range(..=address).next_back();
            range.is_some_and(|(start, range)| {
                range.last >= address && (*start < first || range.last > last)
            })
        };
        if reaches(first) || reaches(last) {
            return Err(Errno::INVAL);
        }
        let inside: Vec<(u64, u64)> = self
            .ranges
            .range(first..=last)
            .map(|(start, range)| (*start, (range.last - start).saturating_add(1)))
            .collect();
        for (address, _) in &inside {
            self.ranges.remove(address);
        }
        Ok(inside)
    }

    /// The bytes of the range that begins at an address, where the client has passed a file.
    pub(crate) fn range_bytes(&self, address: u64) -> Option<RangeBytes> {
        let range = self.ranges.get(&address)?;
        let file = match &range.backing {
            Backing::Mapped(mapping) => RangeFile::Mapped(mapping.clone()),
            Backing::File(file) => RangeFile::File(file.clone()),
            Backing::Messages => return None,
        };
        let bytes = usize::try_from(range.last - address + 1).ok()?;
        Some(RangeBytes { bytes, offset: range.offset, file })
    }

    /// The pieces of an access, all of them permitted.
    pub(crate) fn pieces(
        &self,
        address: u64,
        bytes: usize,
        needs: Rights,
    ) -> Result<Vec<Piece>, Errno> {
        let mut pieces = Vec::new();
        let (mut address, mut left) = (address, bytes);
        while left > 0 {
            let range = self.ranges.range(..=address).next_back();
            let (start, range) =
                range.filter(|(_, range)| range.last >= address).ok_or(Errno::FAULT)?;
            let (read, write) = (range.rights.read, range.rights.write);
            if needs.read && !read || needs.write && !write {
                return Err(Errno::ACCESS);
            }
            let rest = usize::try_from(range.last - address).unwrap_or(usize::MAX);
            let bytes = left.min(rest.saturating_add(1));
            let offset = range.offset + (address - start);
            pieces.push(Piece { address, bytes, offset, backing: range.backing.clone() });
            left -= bytes;
            address = match address.checked_add(bytes as u64) {
                Some(next) => next,
                None if left == 0 => break,
                None => return Err(Errno::FAULT),
            };
        }
        Ok(pieces)
    }

    /// How many there are.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.ranges.len()
    }
}

/// Reads a file from an offset on.
pub(crate) fn read_file(file: &OwnedFd, offset: u64, into: &mut [u8]) -> Result<(), Errno> {
    all_of(into.len(), |done| pread(file, &mut into[done..], offset + done as u64))
}

/// Writes a file from an offset on, its first word last.
pub(crate) fn write_file(file: &OwnedFd, offset: u64, from: &[u8]) -> Result<(), Errno> {
    let (first, behind) = from.split_at(from.len().min(WORD_BYTES));
    let place = offset + first.len() as u64;
    all_of(behind.len(), |done| pwrite(file, &behind[done..], place + done as u64))?;
    all_of(first.len(), |done| pwrite(file, &first[done..], offset + done as u64))
}

/// Repeats a call that may do less than it was asked for.
fn all_of(bytes: usize, mut call: impl FnMut(usize) -> Result<usize, Errno>) -> Result<(), Errno> {
    let mut done = 0;
    while done < bytes {
        match call(done) {
            // The file has become shorter than the range.
            Ok(0) => return Err(Errno::FAULT),
            Ok(count) => done += count,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Opens a file that no other range has.
fn open(file: OwnedFd, file_bytes: u64, rights: Rights) -> Result<(Known, Backing), Errno> {
    let mode = fcntl_getfl(&file)? & OFlags::ACCMODE;
    if mode != OFlags::RDWR && (rights.write || mode != OFlags::RDONLY) {
        return Err(Errno::ACCESS);
    }
    if fcntl_get_seals(&file).is_ok_and(|it| it.contains(SealFlags::SHRINK)) {
        let bytes = usize::try_from(file_bytes).map_err(|_| Errno::FBIG)?;
        let mapping = Arc::new(Mapping::new(file.as_fd(), 0, bytes, rights.write)?);
        return Ok((Known::Mapped(Arc::downgrade(&mapping)), Backing::Mapped(mapping)));
    }
    let file = Arc::new(file);
    Ok((Known::File(Arc::downgrade(&file)), Backing::File(file)))
}

#[cfg(test)]
mod tests;
