//! Producer and consumer sides of the card's rings, over control memory.
//!
//! Indices are free-running; a slot is `index mod size`. The host never changes an entry that it
//! has posted.
//!
//! The card writes a header slot in one request, but the two lines of the slot may become visible
//! one after the other (PCIe Base Specification, 2.4.2), and the phase bit is in the first line.
//! The host therefore writes a mark into the second line of each free slot. If the mark is still
//! there when the phase is right, the host reads a register: the read completes after all earlier
//! writes of the card (2.4.1).

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{fence, Ordering};

use abi::config::{
    COMPLETION_BYTES, METADATA_BYTES, SLOT_BYTES, SLOT_HEADER_BYTES, SLOW_BUFFER_BYTES,
};
use abi::reason::{CommandStatus, Disposition};
use abi::{completion, header_entry, registers};
use arrayvec::ArrayVec;

use super::bus::{self, Bus, DmaMemory};
use super::error::{HostError, Result};

/// Bytes of a line, the unit in which a write becomes visible.
const LINE_BYTES: usize = 64;
/// Bytes of a second slot that repeat the first.
const SECOND_SLOT_SKIP: usize =
    METADATA_BYTES + SLOT_HEADER_BYTES - header_entry::SECOND_SLOT_HEADER_AT;
/// Bytes of the mark in a free header slot.
const MARK_BYTES: usize = 8;

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
        Self {
            command_bits: 8,
            send_bits: 9,
            header_bits: 10,
            slow_bits: 6,
        }
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
                return Err(HostError::BadSize {
                    name,
                    value,
                    min,
                    max,
                });
            }
        }
        Ok(())
    }
}

/// The producing side of the command ring or of the send ring.
#[derive(Debug)]
pub struct PostRing {
    memory: DmaMemory,
    entry_bytes: usize,
    bits: u32,
    produced: u32,
}

impl PostRing {
    /// A ring of 2^`bits` entries of `entry_bytes` in `memory`.
    pub fn new(memory: DmaMemory, entry_bytes: usize, bits: u32) -> Self {
        assert!(memory.bytes >= entry_bytes << bits, "ring memory too small");
        Self {
            memory,
            entry_bytes,
            bits,
            produced: 0,
        }
    }

    /// Entries posted so far, modulo 2^32.
    pub fn produced(&self) -> u32 {
        self.produced
    }

    /// Free entries, when the card has consumed up to `consumed`.
    pub fn free_entries(&self, consumed: u32) -> u32 {
        (1 << self.bits) - self.produced.wrapping_sub(consumed)
    }

    /// Writes one entry; the caller has checked [`PostRing::free_entries`] and rings the doorbell
    /// afterwards.
    pub fn post(&mut self, bus: &mut dyn Bus, entry: &[u8]) -> bus::Result<()> {
        assert_eq!(entry.len(), self.entry_bytes, "entry size");
        let slot = (self.produced & ((1 << self.bits) - 1)) as u64;
        bus.write_memory(self.memory.address + slot * self.entry_bytes as u64, entry)?;
        self.produced = self.produced.wrapping_add(1);
        Ok(())
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
    memory: DmaMemory,
    bits: u32,
    consumed: u32,
}

impl CompletionRing {
    /// A ring of 2^`bits` completion entries in `memory`.
    pub fn new(memory: DmaMemory, bits: u32) -> Self {
        assert!(
            memory.bytes >= COMPLETION_BYTES << bits,
            "ring memory too small"
        );
        Self {
            memory,
            bits,
            consumed: 0,
        }
    }

    /// The next completion, if the card has written it.
    pub fn poll(&mut self, bus: &mut dyn Bus) -> bus::Result<Option<Completion>> {
        let slot = u64::from(self.consumed & ((1 << self.bits) - 1));
        let address = self.memory.address + slot * COMPLETION_BYTES as u64;
        let mut entry = [0; COMPLETION_BYTES];
        bus.read_memory(address, &mut entry)?;
        if completion::PHASE.get(&entry) != phase_of(self.consumed, self.bits) {
            return Ok(None);
        }
        // What was read before the phase may be older than it.
        fence(Ordering::Acquire);
        bus.read_memory(address, &mut entry)?;
        self.consumed = self.consumed.wrapping_add(1);
        Ok(Some(Completion {
            index: completion::INDEX.get(&entry) as u32,
            status: CommandStatus::from_code(completion::STATUS.get(&entry) as u8),
        }))
    }
}

/// Whether an entry is of a packet whose payload was placed.
fn is_placed(slot: &[u8]) -> bool {
    let disposition = Disposition::from_code(header_entry::DISPOSITION.get(slot) as u8);
    header_entry::KIND.get(slot) == u64::from(header_entry::KIND_PACKET)
        && disposition.is_some_and(Disposition::is_placed)
}

/// Appends bytes whose number was checked.
fn extend(header: &mut HeaderBytes, bytes: &[u8]) {
    let fits = header.try_extend_from_slice(bytes);
    debug_assert!(fits.is_ok(), "{} header bytes more", bytes.len());
}

/// Phase bit of a free-running index: 1 on the first pass through the ring.
fn phase_of(index: u32, bits: u32) -> u64 {
    u64::from((index >> bits) & 1 == 0)
}

/// The header bytes that an entry of one or two slots may hold.
pub type HeaderBytes = ArrayVec<u8, { SLOT_HEADER_BYTES + SLOT_BYTES - SECOND_SLOT_SKIP }>;

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
}

/// The consuming side of a header queue with its slow buffers.
#[derive(Debug)]
pub struct HeaderQueue {
    owner: u8,
    slots: DmaMemory,
    bits: u32,
    consumed: u32,
    slow: DmaMemory,
    slow_buffers: u64,
    slow_consumed: u32,
    /// First bytes of the second line of every free slot. A packet contains it only by chance,
    /// which costs one register read.
    mark: [u8; MARK_BYTES],
    /// Slots and slow buffers last reported to the card.
    returned: (u32, u32),
}

impl HeaderQueue {
    /// The queue of an owner: 2^`bits` slots in `slots`, slow buffers in `slow`. Call it before the
    /// owner's context is enabled.
    pub fn new(
        bus: &mut dyn Bus,
        owner: u8,
        slots: DmaMemory,
        bits: u32,
        slow: DmaMemory,
    ) -> bus::Result<Self> {
        assert!(slots.bytes >= SLOT_BYTES << bits, "queue memory too small");
        let slow_buffers = slow.bytes / SLOW_BUFFER_BYTES;
        let queue = Self {
            owner,
            slots,
            bits,
            consumed: 0,
            slow,
            slow_buffers: slow_buffers as u64,
            slow_consumed: 0,
            mark: RandomState::new().build_hasher().finish().to_le_bytes(),
            returned: (0, 0),
        };
        for index in 0..1 << bits {
            queue.mark_free(bus, index)?;
        }
        Ok(queue)
    }

    fn mark_free(&self, bus: &mut dyn Bus, index: u32) -> bus::Result<()> {
        bus.write_memory(self.slot_address(index) + LINE_BYTES as u64, &self.mark)
    }

    /// Slots consumed so far.
    pub fn consumed(&self) -> u32 {
        self.consumed
    }

    /// Slots and slow buffers consumed, for the doorbells, if they changed since the last call.
    pub fn take_returns(&mut self) -> Option<(u32, u32)> {
        let now = (self.consumed, self.slow_consumed);
        let changed = now != self.returned;
        self.returned = now;
        changed.then_some(now)
    }

    fn slot_address(&self, index: u32) -> u64 {
        self.slots.address + u64::from(index & ((1 << self.bits) - 1)) * SLOT_BYTES as u64
    }

    /// Takes the next header entry into `entry`, if the card has published it. Returns whether it
    /// has; otherwise `entry` stays as it is.
    pub fn poll(&mut self, bus: &mut dyn Bus, entry: &mut HeaderEntry) -> Result<bool> {
        let address = self.slot_address(self.consumed);
        let mut slot = [0; SLOT_BYTES];
        bus.read_memory(address, &mut slot[..METADATA_BYTES])?;
        if header_entry::PHASE.get(&slot) != phase_of(self.consumed, self.bits) {
            return Ok(false);
        }
        // What was read before the phase may be older than it.
        fence(Ordering::Acquire);
        bus.read_memory(address, &mut slot)?;
        let header_bytes = header_entry::HEADER_BYTES.get(&slot) as usize;
        let in_second_line = (METADATA_BYTES + header_bytes).saturating_sub(LINE_BYTES);
        let marked = &self.mark[..in_second_line.min(MARK_BYTES)];
        if !marked.is_empty() && slot[LINE_BYTES..].starts_with(marked) {
            bus.read_register(registers::EPOCH)?;
            bus.read_memory(address, &mut slot)?;
        }
        let two_slots = header_entry::TWO_SLOTS.get(&slot) == 1;
        let room = match two_slots {
            true => SLOT_HEADER_BYTES + SLOT_BYTES - SECOND_SLOT_SKIP,
            false => SLOT_HEADER_BYTES,
        };
        self.check("header bytes", header_bytes as u64, room as u64 + 1)?;
        if is_placed(&slot) {
            let payload_bytes = header_entry::PAYLOAD_BYTES.get(&slot);
            let trimmed_bytes = header_entry::TRIMMED_BYTES.get(&slot);
            self.check("trimmed bytes", trimmed_bytes, payload_bytes + 1)?;
        }
        entry.owner = self.owner;
        entry.metadata.copy_from_slice(&slot[..METADATA_BYTES]);
        entry.header.clear();
        let in_first = header_bytes.min(SLOT_HEADER_BYTES);
        extend(
            &mut entry.header,
            &slot[METADATA_BYTES..METADATA_BYTES + in_first],
        );
        if two_slots {
            let mut second = [0; SLOT_BYTES];
            let address = self.slot_address(self.consumed.wrapping_add(1));
            bus.read_memory(address, &mut second)?;
            let rest = header_bytes - in_first;
            extend(
                &mut entry.header,
                &second[SECOND_SLOT_SKIP..SECOND_SLOT_SKIP + rest],
            );
        }
        entry.deferred = self.take_slow_buffer(bus, &slot)?;
        for _ in 0..1 + u32::from(two_slots) {
            self.mark_free(bus, self.consumed)?;
            self.consumed = self.consumed.wrapping_add(1);
        }
        Ok(true)
    }

    /// What the card writes is checked before it is used.
    fn check(&self, what: &'static str, value: u64, limit: u64) -> Result<()> {
        match value < limit {
            true => Ok(()),
            false => Err(HostError::BadEntry {
                owner: self.owner,
                what,
                value,
                limit,
            }),
        }
    }

    fn take_slow_buffer(&mut self, bus: &mut dyn Bus, slot: &[u8]) -> Result<Option<Vec<u8>>> {
        let buffer = header_entry::SLOW_BUFFER.get(slot);
        if buffer == u64::from(header_entry::SLOW_BUFFER_NONE) {
            return Ok(None);
        }
        let is_event = header_entry::KIND.get(slot) == u64::from(header_entry::KIND_EVENT);
        if is_event {
            return Ok(None);
        }
        let frame_bytes = header_entry::FRAME_BYTES.get(slot);
        let header_bytes = header_entry::HEADER_BYTES.get(slot);
        let payload_bytes = header_entry::PAYLOAD_BYTES.get(slot);
        let bytes = payload_bytes.min(frame_bytes.saturating_sub(header_bytes)) as usize;
        self.check("slow buffer", buffer, self.slow_buffers)?;
        self.check("deferred bytes", bytes as u64, SLOW_BUFFER_BYTES as u64 + 1)?;
        let mut payload = vec![0; bytes];
        let address = self.slow.address + buffer * SLOW_BUFFER_BYTES as u64;
        bus.read_memory(address, &mut payload)?;
        self.slow_consumed = self.slow_consumed.wrapping_add(1);
        Ok(Some(payload))
    }
}
