//! Pages of a file in this process: the one file of this crate with unsafe code.
//!
//! Whoever else has the file reads and writes the same bytes at any time. So they are never
//! borrowed: they are copied in and out, or are single words.
//!
//! Invariants
//! 1. Each byte is loaded or stored once, by a volatile or atomic access; words where the address
//!    allows it.
//! 2. A write stores its first word last: a ring entry is whole when its first word is found.
//! 3. An access beyond the mapping, or without the right to it, panics: its caller has checked it.
//! 4. A mapping lies inside its file as that was when it was mapped. Only a seal against shrinking
//!    keeps it so; where there is none, a program that cuts the file off ends this one by SIGBUS.
#![allow(unsafe_code)]

use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::atomic::{fence, AtomicU32, Ordering};

use rustix::io::Errno;
use rustix::mm::{mmap, munmap, MapFlags, ProtFlags};

const WORD_BYTES: usize = size_of::<u64>();
const HALF_BYTES: usize = size_of::<u32>();

/// Pages of a file, mapped and shared.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
    writable: bool,
}

// SAFETY: the pages belong to the process, not to a thread, and are accessed by copies and atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above; threads that access the same bytes do what another process may do as well.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `bytes` bytes of a file from `offset`, a multiple of a page, on: to be read, and to be
    /// written where asked for.
    pub fn new(
        file: BorrowedFd<'_>,
        offset: u64,
        bytes: usize,
        writable: bool,
    ) -> Result<Self, Errno> {
        let file_bytes = u64::try_from(rustix::fs::fstat(file)?.st_size).unwrap_or(0);
        let end = offset.checked_add(bytes as u64).ok_or(Errno::OVERFLOW)?;
        if end > file_bytes {
            return Err(Errno::NXIO);
        }
        Self::mapped(file, offset, bytes, writable)
    }

    fn mapped(
        file: BorrowedFd<'_>,
        offset: u64,
        bytes: usize,
        writable: bool,
    ) -> Result<Self, Errno> {
        let write = if writable { ProtFlags::WRITE } else { ProtFlags::empty() };
        let (null, rights) = (std::ptr::null_mut(), ProtFlags::READ | write);
        // SAFETY: a new mapping at an address that the kernel chooses touches no other object.
        let start = unsafe { mmap(null, bytes, rights, MapFlags::SHARED, file, offset) }?;
        let start = NonNull::new(start.cast::<u8>()).ok_or(Errno::FAULT)?;
        Ok(Self { start, bytes, writable })
    }

    /// Maps a region of a device that VFIO has opened, such as a BAR, to be read and written. The
    /// file of a device has no length: the kernel refuses what is no part of the region.
    pub fn of_device(device: BorrowedFd<'_>, offset: u64, bytes: usize) -> Result<Self, Errno> {
        Self::mapped(device, offset, bytes, true)
    }

    /// Length.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether it may be written.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    fn at(&self, offset: usize, bytes: usize) -> NonNull<u8> {
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        assert!(fits, "{bytes} bytes at {offset} exceed a mapping of {}", self.bytes);
        // SAFETY: `offset` is at most the length of what `start` points to.
        unsafe { self.start.add(offset) }
    }

    fn word(&self, offset: usize) -> &AtomicU32 {
        let at = self.at(offset, size_of::<u32>()).cast::<AtomicU32>();
        assert!(at.is_aligned(), "a word at {offset} of a mapping is not aligned");
        // SAFETY: the word is mapped as long as `self` lives, and aligned. Whoever else has the
        // file changes what the atomic holds, as another thread would.
        unsafe { at.as_ref() }
    }

    /// Reads an aligned word; nothing that is read afterwards is older.
    pub fn load(&self, offset: usize) -> u32 {
        self.word(offset).load(Ordering::Acquire)
    }

    /// Writes an aligned word; what was written before is visible before it.
    pub fn store(&self, offset: usize, value: u32) {
        assert!(self.writable, "a write to a mapping that is read only");
        self.word(offset).store(value, Ordering::Release);
    }

    /// Writes an aligned word if it is still `expected`; whether it was.
    pub fn replace(&self, offset: usize, expected: u32, value: u32) -> bool {
        assert!(self.writable, "a write to a mapping that is read only");
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        self.word(offset).compare_exchange(expected, value, success, failure).is_ok()
    }

    /// Copies out.
    pub fn read(&self, offset: usize, into: &mut [u8]) {
        let source = self.at(offset, into.len());
        let head = head(source, into.len());
        let (first, rest) = into.split_at_mut(head);
        // SAFETY: `at` has checked the range, and the mapping can be read; `head` bytes on, the
        // address is a multiple of a word.
        unsafe {
            load_bytes(source, first);
            let mut at = source.add(head);
            let (words, last) = rest.as_chunks_mut::<WORD_BYTES>();
            for word in words {
                *word = at.cast::<u64>().read_volatile().to_ne_bytes();
                at = at.add(WORD_BYTES);
            }
            load_bytes(at, last);
        }
    }

    /// Copies in, the last byte first: whoever finds the first word finds the rest, as behind a
    /// write of a device. Aligned words, and halves of them at the ends, are one store each.
    pub fn write(&self, offset: usize, from: &[u8]) {
        assert!(self.writable, "a write to a mapping that is read only");
        let target = self.at(offset, from.len());
        let head = head(target, from.len());
        let (first, rest) = from.split_at(head);
        let (words, last) = rest.as_chunks::<WORD_BYTES>();
        // Nothing that was written before is seen later.
        fence(Ordering::Release);
        // SAFETY: as in `read`; the mapping can be written.
        unsafe {
            let start = target.add(head).cast::<u64>();
            store_end(start.add(words.len()).cast(), last);
            for (at, word) in words.iter().enumerate().rev() {
                if at == 0 {
                    fence(Ordering::Release);
                }
                start.add(at).write_volatile(u64::from_ne_bytes(*word));
            }
            fence(Ordering::Release);
            store_end(target, first);
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length, and nothing borrows it.
        let result = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
        debug_assert_eq!(result, Ok(()), "a mapping can always be unmapped");
    }
}

/// Bytes in front of the first whole word.
fn head(start: NonNull<u8>, bytes: usize) -> usize {
    start.as_ptr().align_offset(WORD_BYTES).min(bytes)
}

/// # Safety
/// As many bytes can be read at `at`.
unsafe fn load_bytes(at: NonNull<u8>, into: &mut [u8]) {
    for (index, byte) in into.iter_mut().enumerate() {
        // SAFETY: the caller says so.
        *byte = unsafe { at.add(index).read_volatile() };
    }
}

/// Stores less than a word, the last byte first, an aligned half of a word at once.
///
/// # Safety
/// As many bytes can be written at `at`.
unsafe fn store_end(at: NonNull<u8>, from: &[u8]) {
    let before = at.as_ptr().align_offset(HALF_BYTES).min(from.len());
    let (first, rest) = from.split_at(before);
    let (halves, last) = rest.as_chunks::<HALF_BYTES>();
    // SAFETY: the caller says so; `before` bytes on, the address is a multiple of half a word.
    unsafe {
        let start = at.add(before);
        store_bytes(start.add(rest.len() - last.len()), last);
        for (index, half) in halves.iter().enumerate().rev() {
            let half = u32::from_ne_bytes(*half);
            start.cast::<u32>().add(index).write_volatile(half);
        }
        store_bytes(at, first);
    }
}

/// # Safety
/// As many bytes can be written at `at`.
unsafe fn store_bytes(at: NonNull<u8>, from: &[u8]) {
    for (index, byte) in from.iter().enumerate().rev() {
        // SAFETY: the caller says so.
        unsafe { at.add(index).write_volatile(*byte) };
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;
    use crate::shared_file::SharedFile;

    #[test]
    fn bytes_come_back_at_every_alignment() {
        let file = SharedFile::new(4096).unwrap();
        let (one, other) = (file.map().unwrap(), file.map().unwrap());
        for offset in 0..17 {
            for count in 0..33 {
                let bytes: Vec<u8> = (0..count).map(|index| (index * 7 + offset) as u8).collect();
                one.write(offset, &[0xee; 64]);
                one.write(offset, &bytes);
                let mut read = vec![0; bytes.len()];
                other.read(offset, &mut read);
                assert_eq!(read, bytes, "{count} bytes at {offset}");
                let mut behind = [0; 1];
                other.read(offset + count, &mut behind);
                assert_eq!(behind, [0xee], "behind {count} bytes at {offset}");
            }
        }
    }

    #[test]
    fn words_are_seen_by_another_mapping() {
        let file = SharedFile::new(8192).unwrap();
        let (one, other) = (file.map().unwrap(), file.map().unwrap());
        one.store(4100, 0x1234_5678);
        assert_eq!(other.load(4100), 0x1234_5678);
        assert!(!one.replace(4100, 1, 2) && one.replace(4100, 0x1234_5678, 3));
        assert_eq!(other.load(4100), 3);
    }

    /// What a ring entry is: whoever finds its first word takes the rest.
    #[test]
    fn first_words_finder_finds_rest() {
        const WORDS: usize = 16;
        const WRITES: u64 = 3_000_000;
        let file = SharedFile::new(4096).unwrap();
        let (device, host) = (file.map().unwrap(), file.map().unwrap());
        let writer = std::thread::spawn(move || {
            let mut bytes = [0; 8 * WORDS];
            for number in 1..=WRITES {
                let (words, _) = bytes.as_chunks_mut::<8>();
                words.fill(number.to_ne_bytes());
                device.write(256, &bytes);
            }
        });
        let (mut met, mut last) = (0_u64, 0);
        while last < WRITES {
            let mut words = [0; 8 * WORDS];
            host.read(256, &mut words[..8]);
            host.read(256 + 8, &mut words[8..]);
            let (words, _) = words.as_chunks::<8>();
            let first = u64::from_ne_bytes(words[0]);
            for (at, word) in words.iter().enumerate() {
                let word = u64::from_ne_bytes(*word);
                assert!(word >= first, "word {at} is of write {word}, the first of {first}");
            }
            met += u64::from(first != last);
            last = first;
        }
        writer.join().unwrap();
        assert!(met > 0, "no write was met");
    }

    /// An index of 32 bits is read while it is written.
    #[test]
    fn four_bytes_are_one_store() {
        let file = SharedFile::new(4096).unwrap();
        let (device, host) = (file.map().unwrap(), file.map().unwrap());
        for offset in [64, 68] {
            let device = &device;
            std::thread::scope(|scope| {
                let writer = scope.spawn(move || {
                    for number in 0..10_000_000_u32 {
                        let value = if number % 2 == 0 { u32::MAX } else { 0 };
                        device.write(offset, &value.to_ne_bytes());
                    }
                });
                while !writer.is_finished() {
                    let value = host.load(offset);
                    assert!(value == 0 || value == u32::MAX, "{value:#010x} was never written");
                }
            });
        }
    }

    #[test]
    fn mapping_beyond_file_is_refused() {
        let file = SharedFile::new(4096).unwrap();
        for (offset, bytes) in [(0, 4097), (4096, 1), (!4095, 8192)] {
            assert!(Mapping::new(file.as_fd(), offset, bytes, false).is_err(), "{offset} {bytes}");
        }
    }

    #[test]
    #[should_panic(expected = "2 bytes at 4095 exceed a mapping of 4096")]
    fn an_access_beyond_the_end_panics() {
        SharedFile::new(4096).unwrap().map().unwrap().write(4095, &[1, 2]);
    }

    #[test]
    #[should_panic(expected = "read only")]
    fn a_write_without_the_right_panics() {
        let file = SharedFile::new(4096).unwrap();
        Mapping::new(file.as_fd(), 0, 4096, false).unwrap().store(0, 1);
    }
}
