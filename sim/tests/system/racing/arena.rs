//! The memory of one region: what the card may write, what it must not, and what must be there.
//!
//! ```text
//!   closed ── a segment is posted ──► open ── its end is confirmed ──► closed, overwritten
//!      └───── something to send ────► lent ── its end is confirmed ──────┘
//! ```
//! A byte that is not open has its value at every moment: announced bytes, guards between buffers,
//! what was truncated or removed, what is being sent.

use host::driver::bus::DmaMemory;
use rand::rngs::SmallRng;
use rand::Rng;
use sim::card::SimulatedCard;
use std::ops::Range;

/// Bytes between two buffers that belong to neither.
const GUARD_BYTES: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Closed,
    Open,
    Lent,
}

/// The memory. See the module's head.
pub struct Arena {
    /// Where it lies.
    pub memory: DmaMemory,
    shadow: Vec<u8>,
    uses: Vec<Use>,
}

impl Arena {
    /// Closed memory, filled with `pattern`.
    pub fn new(card: &mut SimulatedCard, memory: DmaMemory, pattern: u8) -> Arena {
        let mut arena =
            Arena { memory, shadow: vec![0; memory.bytes], uses: vec![Use::Closed; memory.bytes] };
        arena.put(card, 0, &vec![pattern; memory.bytes]);
        arena
    }

    fn put(&mut self, card: &mut SimulatedCard, offset: usize, bytes: &[u8]) {
        let address = self.memory.address + offset as u64;
        card.pcie.write(address, bytes).expect("it is mapped");
        self.shadow[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    fn get(&self, card: &SimulatedCard, offset: usize, bytes: usize) -> Vec<u8> {
        let mut window = vec![0; bytes];
        let address = self.memory.address + offset as u64;
        card.pcie.read(address, &mut window).expect("it is mapped");
        window
    }

    /// Room for `bytes` bytes and the guards around them in a part of the memory, where chance
    /// finds it.
    pub fn room(
        &self,
        random: &mut SmallRng,
        within: Range<usize>,
        bytes: usize,
    ) -> Option<Range<usize>> {
        let last = within.end.checked_sub(bytes + GUARD_BYTES)?;
        (0..8).find_map(|_| {
            let start = random.random_range(within.start + GUARD_BYTES..last);
            let guarded = start - GUARD_BYTES..start + bytes + GUARD_BYTES;
            let is_free = self.uses[guarded].iter().all(|byte| *byte == Use::Closed);
            is_free.then_some(start..start + bytes)
        })
    }

    /// The card may write here from now on.
    pub fn open(&mut self, range: Range<usize>) {
        self.uses[range].fill(Use::Open);
    }

    /// The card may read here: the bytes to send.
    pub fn lend(&mut self, card: &mut SimulatedCard, range: Range<usize>, bytes: &[u8]) {
        self.put(card, range.start, bytes);
        self.uses[range].fill(Use::Lent);
    }

    /// Nobody uses this any more: it is overwritten, so that a late access is seen.
    pub fn close(&mut self, card: &mut SimulatedCard, range: Range<usize>, pattern: u8) {
        self.put(card, range.start, &vec![pattern; range.len()]);
        self.uses[range].fill(Use::Closed);
    }

    /// The card says that it has written this.
    ///
    /// # Panics
    /// If the bytes are not there, or where none may be.
    pub fn note_written(&mut self, card: &SimulatedCard, address: u64, bytes: &[u8]) {
        let offset = (address - self.memory.address) as usize;
        let range = offset..offset + bytes.len();
        let is_open = self.uses[range.clone()].iter().all(|byte| *byte == Use::Open);
        assert!(is_open, "a write to {address:#x}, which is not open");
        let found = self.get(card, offset, bytes.len());
        assert!(found == bytes, "{address:#x}: not what its entry says");
        self.shadow[range].copy_from_slice(bytes);
    }

    /// # Panics
    /// If a byte that is not open changed; with `all`, any byte that no entry tells of.
    pub fn check(&self, card: &SimulatedCard, all: bool) {
        let found = self.get(card, 0, self.memory.bytes);
        for (offset, byte) in found.iter().enumerate() {
            let used = self.uses[offset];
            if *byte != self.shadow[offset] && (all || used != Use::Open) {
                let (expected, address) = (self.shadow[offset], self.memory.address);
                panic!(
                    "{:#x} ({used:?}) is {byte:#04x} and not {expected:#04x}",
                    address + offset as u64
                );
            }
        }
    }
}
