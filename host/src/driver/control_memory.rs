//! Control memory: the rings, queues and slow buffers that host and card share.
//!
//! ```text
//!   host ── loads and stores of words ──►┌───────┐◄── DMA, at an address of the bus
//!                                        │ pages │
//!   phase of an entry: load_acquire ────►└───────┘
//! ```
//! Every access is an atomic load or store of a word of 8 bytes at a multiple of 8. Nothing refers
//! to bytes that the card may change: what was loaded is a copy, and is checked before it is used.
//! The word with the phase bit is loaded first, with acquire ordering, so what is loaded after it
//! is at least as new. What was stored is visible to the card when a register write after it
//! arrives ([`super::bus::Bus::write_register`]).
//!
//! Numbers in words are little-endian, as in all records of the contract. An access beyond the end
//! panics: offsets come from the sizes of the rings, or were checked against them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use crate::memory::{self, MemoryRange, SharedMapping};
use crate::records::words::WORD_BYTES;

/// A piece of control memory. Clones are the same memory. See the head of this file.
#[derive(Clone, Debug)]
pub struct ControlMemory {
    address: u64,
    pages: Arc<SharedMapping>,
}

impl ControlMemory {
    /// The pages of `range`, which the card finds at a bus address.
    pub fn new(address: u64, range: &MemoryRange) -> memory::Result<Self> {
        Ok(Self { address, pages: Arc::new(range.map_shared()?) })
    }

    /// Bus address of the first byte.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Length in bytes.
    pub fn bytes(&self) -> usize {
        self.pages.words().len() * WORD_BYTES
    }

    #[inline]
    fn word(&self, offset: usize) -> &AtomicU64 {
        &self.words(offset, WORD_BYTES)[0]
    }

    /// The words of `bytes` bytes at `offset`.
    #[inline]
    fn words(&self, offset: usize, bytes: usize) -> &[AtomicU64] {
        assert!(offset.is_multiple_of(WORD_BYTES), "offset {offset:#x}");
        let first = offset / WORD_BYTES;
        &self.pages.words()[first..first + bytes.div_ceil(WORD_BYTES)]
    }

    /// All of it as entries of `WORDS` words; what is left at the end is not part of any.
    #[inline]
    pub(super) fn entries<const WORDS: usize>(&self) -> &[[AtomicU64; WORDS]] {
        self.pages.words().as_chunks().0
    }

    /// A word.
    #[inline]
    pub fn load(&self, offset: usize) -> u64 {
        u64::from_le(self.word(offset).load(Ordering::Relaxed))
    }

    /// A word. Everything that is loaded after it is at least as new.
    #[inline]
    pub fn load_acquire(&self, offset: usize) -> u64 {
        u64::from_le(self.word(offset).load(Ordering::Acquire))
    }

    /// Writes a word.
    #[inline]
    pub fn store(&self, offset: usize, word: u64) {
        self.word(offset).store(word.to_le(), Ordering::Relaxed);
    }

    /// Writes a word behind everything that was stored before: how a card in a thread of its own
    /// publishes an entry.
    #[inline]
    pub fn store_release(&self, offset: usize, word: u64) {
        self.word(offset).store(word.to_le(), Ordering::Release);
    }

    /// Loads `into.len()` bytes, each word once, in no order.
    pub fn read(&self, offset: usize, into: &mut [u8]) {
        let words = self.words(offset, into.len());
        copy_words(words, into);
        let (whole, rest) = into.as_chunks_mut::<WORD_BYTES>();
        if let Some(word) = words.get(whole.len()) {
            let bytes = word.load(Ordering::Relaxed).to_ne_bytes();
            rest.copy_from_slice(&bytes[..rest.len()]);
        }
    }

    /// Stores whole words, in no order. Panics when `from` is none.
    #[inline]
    pub fn write(&self, offset: usize, from: &[u8]) {
        let (words, rest) = from.as_chunks::<WORD_BYTES>();
        assert!(rest.is_empty(), "{} bytes are no whole words", from.len());
        store_words(words, self.words(offset, from.len()));
    }
}

/// Loads words, each once, in no order, into as many bytes as there are of both.
#[inline]
pub(super) fn copy_words(from: &[AtomicU64], into: &mut [u8]) {
    let (whole, _) = into.as_chunks_mut::<WORD_BYTES>();
    for (bytes, word) in whole.iter_mut().zip(from) {
        *bytes = word.load(Ordering::Relaxed).to_ne_bytes();
    }
}

/// Stores the bytes of words, in no order, into as many words as there are of both.
#[inline]
pub(super) fn store_words(from: &[[u8; WORD_BYTES]], into: &[AtomicU64]) {
    for (word, bytes) in into.iter().zip(from) {
        word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
    }
}

/// Stores bytes, in no order, into as many words as they need, with zeros behind them in the last.
/// Panics when there are too few.
#[inline]
pub(super) fn store_bytes(from: &[u8], into: &[AtomicU64]) {
    let (whole, rest) = from.as_chunks::<WORD_BYTES>();
    store_words(whole, into);
    if rest.is_empty() {
        return;
    }
    let last = match from.last_chunk() {
        // The bytes before the rest are shifted out.
        Some(last) => u64::from_le_bytes(*last) >> (8 * (WORD_BYTES - rest.len())),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    into[whole.len()].store(last.to_le(), Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryFile;

    fn memory() -> (ControlMemory, MemoryRange) {
        let range = MemoryFile::new(8192).unwrap().range(4096, 4096).unwrap();
        (ControlMemory::new(0x1000, &range).unwrap(), range)
    }

    #[test]
    fn words_are_little_endian_page_bytes() {
        let (memory, range) = memory();
        assert_eq!((memory.address(), memory.bytes()), (0x1000, 4096));
        let device = range.map_device().unwrap();
        device.bytes().write(8, &[1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(memory.load(8), 0x0807_0605_0403_0201);
        assert_eq!(memory.load_acquire(8), memory.load(8));
        memory.store(4088, 0x1122);
        memory.store_release(4080, 0x33);
        let seen = device.bytes().to_vec(4080, 12);
        assert_eq!(seen, [0x33, 0, 0, 0, 0, 0, 0, 0, 0x22, 0x11, 0, 0]);
        let other = memory.clone();
        other.store(0, 7);
        assert_eq!(memory.load(0), 7);
    }

    /// Every length, at the start and at the very end of the memory.
    #[test]
    fn bytes_are_read_to_any_length() {
        let (memory, range) = memory();
        let device = range.map_device().unwrap();
        let numbered: Vec<u8> = (0..4096).map(|at| (at * 7) as u8).collect();
        device.bytes().write(0, &numbered);
        for length in 0..=64usize {
            for offset in [0, 8, 4096 - length.next_multiple_of(8)] {
                let mut bytes = vec![0xff; length];
                memory.read(offset, &mut bytes);
                assert_eq!(bytes, device.bytes().to_vec(offset, length));
            }
        }
        memory.write(16, &[9; 24]);
        assert_eq!(device.bytes().to_vec(15, 26), [&[105][..], &[9; 24], &[24]].concat());
    }

    #[test]
    fn nothing_is_reached_beyond_the_end() {
        let (memory, _) = memory();
        let panics = |access: &dyn Fn(&ControlMemory)| {
            let access = std::panic::AssertUnwindSafe(|| access(&memory));
            std::panic::catch_unwind(access).is_err()
        };
        assert!(!panics(&|memory| memory.read(4088, &mut [0; 8])));
        assert!(panics(&|memory| memory.read(4088, &mut [0; 9])));
        assert!(panics(&|memory| memory.write(4088, &[0; 16])));
        assert!(panics(&|memory| _ = memory.load(4096)));
        assert!(panics(&|memory| _ = memory.load(4)), "between two words");
        assert!(panics(&|memory| memory.write(0, &[0; 7])), "part of a word");
    }
}
