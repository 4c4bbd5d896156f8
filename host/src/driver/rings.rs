//! Producer and consumer sides of the card's rings, over control memory.
//!
//! Indices are free-running; a slot is `index mod size`. The host never changes an entry that it
//! has posted.
//!
//! The card writes a header slot in one request, but the two lines of the slot may become visible
//! one after the other (PCIe Base Specification, 2.4.2), and the phase bit is in the first line.
//! The host therefore writes a mark into the second line of each slot that it returns. If the mark
//! is still there when the phase is right, the host reads a register: the read completes after all
//! earlier writes of the card (2.4.1). A second slot is a request of its own before that of the
//! first, so it is whole.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::ops::{Deref, RangeInclusive};
use std::sync::atomic::{AtomicU64, Ordering};

use abi::config::{
    COMMAND_BYTES, COMPLETION_BYTES, METADATA_BYTES, SLOT_BYTES, SLOT_HEADER_BYTES,
    SLOW_BUFFER_BYTES,
};
use abi::reason::{CommandStatus, Disposition};
use abi::{completion, header_entry, registers};

use super::bus::Bus;
use super::control_memory::{copy_words, store_bytes, store_words, ControlMemory};
use super::error::{DriverError, Result};
use super::read::read;
use super::run_entry::{read_run, Wrong};
use crate::headers::run::Run;
use crate::records::size::SizeError;
use crate::records::words::{METADATA_WORDS, WORD_BYTES};

/// Bytes of a line, the unit in which a write becomes visible.
pub(super) const LINE_BYTES: usize = 64;
/// Words of a slot's first line.
const LINE_WORDS: usize = LINE_BYTES / WORD_BYTES;
/// Bytes of a second slot that repeat the first.
const SECOND_SLOT_SKIP: usize =
    METADATA_BYTES + SLOT_HEADER_BYTES - header_entry::SECOND_SLOT_HEADER_AT;
/// What an entry without a slow buffer says.
const NO_SLOW_BUFFER: u64 = header_entry::SLOW_BUFFER_NONE as u64;
/// Most header bytes of an entry, which then has two slots.
const HEADER_BYTES_MAX: usize = SLOT_HEADER_BYTES + SLOT_BYTES - SECOND_SLOT_SKIP;

/// Sizes of an owner's rings, log2 entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingSizes {
    /// Command ring and completion ring.
    pub command_bits: u32,
    /// Send ring, slots.
    pub send_bits: u32,
    /// Header queue, slots.
    pub header_bits: u32,
    /// Slow buffers.
    pub slow_bits: u32,
}

impl Default for RingSizes {
    fn default() -> Self {
        Self { command_bits: 8, send_bits: 9, header_bits: 10, slow_bits: 6 }
    }
}

impl RingSizes {
    pub(super) fn check(self) -> Result<()> {
        let (min, max) = (registers::RING_BITS_MIN, registers::RING_BITS_MAX);
        for (name, bits) in [
            ("command_bits", self.command_bits),
            ("send_bits", self.send_bits),
            ("header_bits", self.header_bits),
            ("slow_bits", self.slow_bits),
        ] {
            if !(min..=max).contains(&bits) {
                let (value, min, max) = (bits.into(), min.into(), max.into());
                return Err(DriverError::Size(SizeError { name, value, min, max }));
            }
        }
        Ok(())
    }
}

/// Words of a command.
pub const COMMAND_WORDS: usize = COMMAND_BYTES / WORD_BYTES;
/// Words of a completion entry.
const COMPLETION_WORDS: usize = COMPLETION_BYTES / WORD_BYTES;
/// Words of a slot of a send ring or header queue.
pub const SLOT_WORDS: usize = SLOT_BYTES / WORD_BYTES;

/// The producing side of a command ring (`PostRing<COMMAND_WORDS>`) or a send ring
/// (`PostRing<SLOT_WORDS>`).
#[derive(Debug)]
pub struct PostRing<const WORDS: usize> {
    memory: ControlMemory,
    bits: u32,
    produced: u32,
    announced: u32,
}

impl<const WORDS: usize> PostRing<WORDS> {
    /// A ring of 2^`bits` entries in `memory`.
    pub fn new(memory: ControlMemory, bits: u32) -> Self {
        let entries = memory.entries::<WORDS>().len();
        assert!(entries >= 1 << bits, "ring memory too small");
        Self { memory, bits, produced: 0, announced: 0 }
    }

    /// Entries posted so far, modulo 2^32.
    pub fn produced_count(&self) -> u32 {
        self.produced
    }

    /// Entries posted that no doorbell has announced yet.
    pub fn unannounced_count(&self) -> u32 {
        self.produced.wrapping_sub(self.announced)
    }

    /// The value of the doorbell that announces everything posted, if there is something new.
    pub fn announce(&mut self) -> Option<u32> {
        let is_new = self.unannounced_count() > 0;
        self.announced = self.produced;
        is_new.then_some(self.produced)
    }

    /// Free entries, when the card has consumed up to `consumed`.
    pub fn free_entries(&self, consumed: u32) -> u32 {
        (1 << self.bits) - self.produced.wrapping_sub(consumed)
    }

    /// Counts from 0 again, of a card that has forgotten the ring.
    pub(super) fn restart(&mut self) {
        (self.produced, self.announced) = (0, 0);
    }

    #[inline]
    fn entry(&self, index: u32) -> &[AtomicU64; WORDS] {
        let entries = self.memory.entries();
        &entries[(index & ((1 << self.bits) - 1)) as usize]
    }

    /// Writes the next entry: the words of `head`, then `rest`. What it had behind them stays. The
    /// caller has checked [`PostRing::free_entries`]. The card looks at the entry after the
    /// doorbell of [`PostRing::announce`].
    #[inline]
    pub fn post<const HEAD: usize>(&mut self, head: &[[u8; WORD_BYTES]; HEAD], rest: &[u8]) {
        let bytes = HEAD * WORD_BYTES + rest.len();
        assert!(bytes <= WORDS * WORD_BYTES, "{bytes} bytes in an entry");
        let (of_head, of_rest) = self.entry(self.produced).split_at(HEAD);
        store_words(head, of_head);
        store_bytes(rest, of_rest);
        self.produced = self.produced.wrapping_add(1);
    }

    /// Copies the entry that was posted last.
    pub fn copy_last(&self, into: &mut [u8]) {
        copy_words(self.entry(self.produced.wrapping_sub(1)), into);
    }
}

/// One entry of the completion ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Index of the last command that it confirms, counted since the ring was enabled.
    pub index: u32,
    /// Status of that command; `None` for a code that this library does not know.
    pub status: Option<CommandStatus>,
}

/// The consuming side of the completion ring.
#[derive(Debug)]
pub struct CompletionRing {
    memory: ControlMemory,
    bits: u32,
    consumed: u32,
}

impl CompletionRing {
    /// A ring of 2^`bits` completion entries in `memory`.
    pub fn new(memory: ControlMemory, bits: u32) -> Self {
        let bytes = COMPLETION_BYTES << bits;
        assert!(memory.bytes() >= bytes, "ring memory too small");
        Self { memory, bits, consumed: 0 }
    }

    /// Counts from 0 again, of a card that has forgotten the ring: no entry is there.
    pub(super) fn restart(&mut self) {
        let entries = self.memory.entries::<COMPLETION_WORDS>();
        entries[..1 << self.bits].iter().for_each(|entry| entry[0].store(0, Ordering::Relaxed));
        self.consumed = 0;
    }

    /// The next completion, if the card has written it.
    pub fn poll(&mut self) -> Option<Completion> {
        let slot = (self.consumed & ((1 << self.bits) - 1)) as usize;
        // All fields are in the word of the phase. What the card wrote before is older than it.
        let word = self.memory.load_acquire(slot * COMPLETION_BYTES);
        let entry = word.to_le_bytes();
        if completion::PHASE.get(&entry) != phase_of(self.consumed, self.bits) {
            return None;
        }
        self.consumed = self.consumed.wrapping_add(1);
        Some(Completion {
            index: completion::INDEX.get(&entry) as u32,
            status: CommandStatus::from_code(completion::STATUS.get(&entry) as u8),
        })
    }
}

/// What an entry may be of. Whoever takes an entry knows no other.
const KINDS: RangeInclusive<u64> = header_entry::KIND_PACKET as u64..=header_entry::KIND_RUN as u64;

/// Whether an entry is of a packet whose payload was placed.
fn is_placed(metadata: &[u8]) -> bool {
    let disposition = Disposition::from_code(header_entry::DISPOSITION.get(metadata) as u8);
    header_entry::KIND.get(metadata) == u64::from(header_entry::KIND_PACKET)
        && disposition.is_some_and(Disposition::is_placed)
}

/// Whether the second line of a slot, of which the card has written `bytes` bytes, may still be the
/// old one: it begins with the mark.
#[inline]
fn is_torn(slot: &Slot, bytes: usize, mark: u64) -> bool {
    if bytes <= LINE_BYTES {
        return false;
    }
    // The bits of the mark that are not beyond what the card has written.
    let beyond_bits = 8 * (LINE_BYTES + WORD_BYTES).saturating_sub(bytes);
    let word = slot[LINE_WORDS].load(Ordering::Acquire);
    (word ^ mark).to_le() << beyond_bits == 0
}

/// Phase bit of a free-running index: 1 on the first pass through the ring.
pub fn phase_of(index: u32, bits: u32) -> u64 {
    u64::from((index >> bits) & 1 == 0)
}

/// A slot of the header queue, as words.
type Slot = [AtomicU64; SLOT_WORDS];

/// The header bytes of an entry, from the Ethernet header on.
#[derive(Clone, Debug)]
pub struct HeaderBytes {
    bytes: [u8; HEADER_BYTES_MAX],
    count: usize,
}

impl HeaderBytes {
    /// Takes `count` bytes out of a slot, and of a second one if the entry has it. Whole words are
    /// loaded: the bytes after the header are unspecified. Their number was checked.
    #[inline]
    fn take(&mut self, count: usize, first: &Slot, second: Option<&Slot>) {
        self.count = count;
        let (in_first, in_second) = self.bytes.split_at_mut(SLOT_HEADER_BYTES);
        let in_line = LINE_BYTES - METADATA_BYTES;
        copy_words(&first[METADATA_WORDS..LINE_WORDS], in_first);
        if count > in_line {
            copy_words(&first[LINE_WORDS..], &mut in_first[in_line..]);
        }
        if let Some(second) = second {
            copy_words(&second[SECOND_SLOT_SKIP / WORD_BYTES..], in_second);
        }
    }
}

impl Default for HeaderBytes {
    fn default() -> Self {
        Self { bytes: [0; HEADER_BYTES_MAX], count: 0 }
    }
}

impl Deref for HeaderBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[..self.count]
    }
}

impl PartialEq for HeaderBytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for HeaderBytes {}

/// One header entry, taken from the queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderEntry {
    /// Owner of the queue.
    pub owner: u8,
    /// The 32 bytes of metadata; fields in [`abi::header_entry`].
    pub metadata: [u8; METADATA_BYTES],
    /// Header bytes, from the Ethernet header on.
    pub header: HeaderBytes,
    /// Deferred payload, copied out of its slow buffer.
    pub deferred: Option<Vec<u8>>,
    /// The packets behind the first, of an entry that stands for a run of them.
    pub run: Option<Run>,
}

/// The consuming side of a header queue with its slow buffers.
#[derive(Debug)]
pub struct HeaderQueue {
    owner: u8,
    slots: ControlMemory,
    bits: u32,
    consumed: u32,
    slow: ControlMemory,
    slow_consumed: u32,
    /// First word of the second line of every free slot. A packet contains it only by chance, which
    /// costs one register read.
    mark: u64,
    /// Slots and slow buffers last reported to the card.
    returned: (u32, u32),
    /// The card may sum packets up.
    takes_runs: bool,
}

impl HeaderQueue {
    /// The queue of an owner: 2^`bits` slots in `slots`, slow buffers in `slow`. Call it before the
    /// owner's context is enabled.
    pub fn new(owner: u8, slots: ControlMemory, bits: u32, slow: ControlMemory) -> Self {
        let bytes = SLOT_BYTES << bits;
        assert!(slots.bytes() >= bytes, "queue memory too small");
        let queue = Self {
            owner,
            slots,
            bits,
            consumed: 0,
            slow,
            slow_consumed: 0,
            mark: RandomState::new().build_hasher().finish(),
            returned: (0, 0),
            takes_runs: false,
        };
        queue.mark_free(0, 1 << bits);
        queue
    }

    /// Sets whether the card may sum packets up ([`registers::CONTEXT_ENABLE_COALESCE`]).
    pub fn with_runs(self, takes_runs: bool) -> Self {
        Self { takes_runs, ..self }
    }

    #[inline]
    fn slot(&self, index: u32) -> &Slot {
        let slots = self.slots.entries();
        &slots[(index & ((1 << self.bits) - 1)) as usize]
    }

    /// Marks `count` slots from an index on.
    fn mark_free(&self, from: u32, count: u32) {
        let slots = &self.slots.entries::<SLOT_WORDS>()[..1 << self.bits];
        for at in 0..count {
            let slot = from.wrapping_add(at) as usize & (slots.len() - 1);
            slots[slot][LINE_WORDS].store(self.mark, Ordering::Relaxed);
        }
    }

    /// Counts from 0 again, of a card that has forgotten the queue: no entry is there.
    pub(super) fn restart(&mut self) {
        let slots = self.slots.entries::<SLOT_WORDS>();
        slots[..1 << self.bits].iter().for_each(|slot| slot[0].store(0, Ordering::Relaxed));
        (self.consumed, self.slow_consumed, self.returned) = (0, 0, (0, 0));
        self.mark_free(0, 1 << self.bits);
    }

    /// Slots consumed so far.
    pub fn consumed_count(&self) -> u32 {
        self.consumed
    }

    /// Frees what was taken. Slots and slow buffers consumed, each for its doorbell if it changed
    /// since the last call.
    pub fn take_returns(&mut self) -> (Option<u32>, Option<u32>) {
        let (slots, slow) =
            std::mem::replace(&mut self.returned, (self.consumed, self.slow_consumed));
        self.mark_free(slots, self.consumed.wrapping_sub(slots));
        let changed = |now: u32, before: u32| (now != before).then_some(now);
        (changed(self.consumed, slots), changed(self.slow_consumed, slow))
    }

    /// The flow of the entry in the slot that is `ahead` slots behind the next one, and whether its
    /// packet has payload, if the card has published it. A guess: the slot may be the second one of
    /// an entry.
    #[inline]
    pub fn flow_ahead(&self, ahead: u32) -> Option<(u16, bool)> {
        let index = self.consumed.wrapping_add(ahead);
        let word = self.slot(index)[0].load(Ordering::Relaxed).to_ne_bytes();
        let is_there = header_entry::PHASE.get(&word) == phase_of(index, self.bits);
        let flow = header_entry::FLOW.get(&word) as u16;
        let has_payload = header_entry::DISPOSITION.get(&word) != Disposition::NoPayload as u64;
        is_there.then_some((flow, has_payload))
    }

    /// Takes the next header entry into `entry`, if the card has published it. Returns whether it
    /// has; otherwise `entry` stays as it is. An error leaves it unspecified.
    pub fn poll(&mut self, bus: &mut dyn Bus, entry: &mut HeaderEntry) -> Result<bool> {
        let slot = self.slot(self.consumed);
        let word = slot[0].load(Ordering::Acquire).to_ne_bytes();
        if header_entry::PHASE.get(&word) != phase_of(self.consumed, self.bits) {
            return Ok(false);
        }
        let metadata = &mut entry.metadata;
        metadata[..WORD_BYTES].copy_from_slice(&word);
        copy_words(&slot[1..METADATA_WORDS], &mut metadata[WORD_BYTES..]);
        let header_bytes = header_entry::HEADER_BYTES.get(metadata) as usize;
        let two_slots = header_entry::TWO_SLOTS.get(metadata) == 1;
        let room = if two_slots { HEADER_BYTES_MAX } else { SLOT_HEADER_BYTES };
        self.check("header bytes", header_bytes as u64, room as u64 + 1)?;
        let kind = header_entry::KIND.get(metadata);
        if !KINDS.contains(&kind) {
            return Err(self.bad_entry("kind (from 1 on)", kind, KINDS.end() + 1));
        }
        if is_placed(metadata) {
            let payload_bytes = header_entry::PAYLOAD_BYTES.get(metadata);
            let trimmed_bytes = header_entry::TRIMMED_BYTES.get(metadata);
            self.check("trimmed bytes", trimmed_bytes, payload_bytes + 1)?;
        }
        if is_torn(slot, METADATA_BYTES + header_bytes, self.mark) {
            read(bus, registers::EPOCH)?;
        }
        entry.owner = self.owner;
        let second = two_slots.then(|| self.slot(self.consumed.wrapping_add(1)));
        entry.header.take(header_bytes, slot, second);
        if kind == u64::from(header_entry::KIND_RUN) {
            self.take_run(entry)?;
            return Ok(true);
        }
        entry.run = None;
        entry.deferred = match header_entry::SLOW_BUFFER.get(&entry.metadata) {
            NO_SLOW_BUFFER => None,
            buffer => self.take_slow_buffer(&entry.metadata, buffer)?,
        };
        self.consumed = self.consumed.wrapping_add(1 + u32::from(two_slots));
        Ok(true)
    }

    /// What the card writes is checked before it is used.
    #[inline]
    fn check(&self, what: &'static str, value: u64, limit: u64) -> Result<()> {
        match value < limit {
            true => Ok(()),
            false => Err(self.bad_entry(what, value, limit)),
        }
    }

    #[cold]
    fn bad_entry(&self, what: &'static str, value: u64, limit: u64) -> DriverError {
        DriverError::BadEntry { owner: self.owner, what, value, limit }
    }

    /// An entry that stands for a run of packets, in one slot. Only an owner that was told to has
    /// such entries.
    fn take_run(&mut self, entry: &mut HeaderEntry) -> Result<()> {
        let kind = header_entry::KIND_RUN.into();
        let limit = if self.takes_runs { kind + 1 } else { kind };
        self.check("kind, of an owner without runs", kind, limit)?;
        let run = read_run(&entry.metadata, &entry.header);
        let owner = self.owner;
        let run = run.map_err(|Wrong { what, value, least, most }| DriverError::BadRun {
            owner,
            what,
            value,
            least,
            most,
        })?;
        (entry.run, entry.deferred) = (Some(run), None);
        self.consumed = self.consumed.wrapping_add(1);
        Ok(())
    }

    /// The payload of an entry whose field names a slow buffer.
    #[inline(never)]
    fn take_slow_buffer(&mut self, metadata: &[u8], buffer: u64) -> Result<Option<Vec<u8>>> {
        let is_event = header_entry::KIND.get(metadata) == u64::from(header_entry::KIND_EVENT);
        if is_event {
            return Ok(None);
        }
        let frame_bytes = header_entry::FRAME_BYTES.get(metadata);
        let header_bytes = header_entry::HEADER_BYTES.get(metadata);
        let payload_bytes = header_entry::PAYLOAD_BYTES.get(metadata);
        let bytes = payload_bytes.min(frame_bytes.saturating_sub(header_bytes)) as usize;
        let buffers = self.slow.bytes() / SLOW_BUFFER_BYTES;
        self.check("slow buffer", buffer, buffers as u64)?;
        self.check("deferred bytes", bytes as u64, SLOW_BUFFER_BYTES as u64 + 1)?;
        let mut payload = vec![0; bytes];
        self.slow.read(buffer as usize * SLOW_BUFFER_BYTES, &mut payload);
        self.slow_consumed = self.slow_consumed.wrapping_add(1);
        Ok(Some(payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryFile;

    fn memory() -> ControlMemory {
        let pages = MemoryFile::new(4096).unwrap().all().unwrap();
        ControlMemory::new(0, &pages).unwrap()
    }

    /// Every length of the rest, over more than one pass through the ring.
    #[test]
    fn entry_is_its_head_then_rest() {
        let memory = memory();
        let mut ring = PostRing::<SLOT_WORDS>::new(memory.clone(), 2);
        let pattern: Vec<u8> = (0..SLOT_HEADER_BYTES as u8).map(|at| at ^ 0x5a).collect();
        for length in 0..=SLOT_HEADER_BYTES {
            let index = length as u32;
            assert_eq!(ring.free_entries(index), 4);
            ring.post(&[[length as u8; WORD_BYTES]; METADATA_WORDS], &pattern[..length]);
            assert_eq!(ring.free_entries(index), 3);
            let mut entry = [0; SLOT_BYTES];
            ring.copy_last(&mut entry);
            assert_eq!(entry[..METADATA_BYTES], [length as u8; METADATA_BYTES]);
            assert_eq!(entry[METADATA_BYTES..][..length], pattern[..length]);
            let end = METADATA_BYTES + length;
            let padding = &entry[end..end.next_multiple_of(WORD_BYTES)];
            assert!(padding.iter().all(|byte| *byte == 0), "{padding:?}");
            let mut there = [0; SLOT_BYTES];
            memory.read(length % 4 * SLOT_BYTES, &mut there);
            assert_eq!(entry, there);
            assert_eq!(ring.unannounced_count(), 1);
            assert_eq!(ring.announce(), Some(index + 1));
            assert_eq!((ring.unannounced_count(), ring.announce()), (0, None));
        }
    }

    /// A slot whose second line begins with the mark, but for one byte.
    #[test]
    fn mark_counts_up_to_cards_writes() {
        const MARK: u64 = 0x1122_3344_5566_7788;
        let memory = memory();
        let torn = |bytes, word: u64| {
            memory.store(LINE_BYTES, word);
            is_torn(&memory.entries()[0], bytes, u64::to_le(MARK))
        };
        for bytes in METADATA_BYTES..=SLOT_BYTES {
            assert_eq!(torn(bytes, MARK), bytes > LINE_BYTES, "{bytes} bytes");
            for other in 0..WORD_BYTES {
                let is_written = LINE_BYTES + other < bytes;
                let expected = bytes > LINE_BYTES && !is_written;
                assert_eq!(torn(bytes, MARK ^ 0x80 << (8 * other)), expected);
            }
        }
    }
}
