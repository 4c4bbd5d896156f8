//! The whole contract as one plain object without a clock: registers, rings, tables, frames in and
//! out.
//!
//! A driver can run on it without a card, and a test can compare a card with it. Every request
//! takes effect at once and in order, so every confirmation is a fence by construction.

mod holding;
mod open_runs;
mod registers;
mod runs;

use std::collections::VecDeque;

use abi::config::{
    CardConfig, COMMAND_BYTES, COMPLETION_BYTES, METADATA_BYTES, PROFILES, SLOT_BYTES,
    SLOT_HEADER_BYTES,
};
use abi::reason::{CommandStatus, Disposition, DropReason, SendError};
use abi::{completion, header_entry as h, registers as r, send_descriptor};

use self::open_runs::Runs;
use crate::coalesce::ends;
use crate::packet::check_length;
use crate::rings::{self, address_in, Context, Ring};
use crate::rx::{receive, undo, Delivery};
use crate::tables::{Flow, Tables};

/// Drop reasons and dispositions that a counter is kept of.
const CODES: usize = 16;
/// Send errors that a counter is kept of.
const SEND_CODES: usize = 8;

/// Host memory by bus address. `None` and `false` mean that the access was refused.
pub trait Memory {
    /// Reads bytes; `None` if the access is refused.
    fn read(&mut self, address: u64, bytes: usize) -> Option<Vec<u8>>;
    /// Writes bytes; `false` if the access is refused.
    fn write(&mut self, address: u64, bytes: &[u8]) -> bool;
}

#[derive(Clone, Debug, Default)]
struct Owner {
    context: Context,
    doorbells: [u32; 5],
    commands_taken: u32,
    commands_confirmed: u32,
    completions: u32,
    sends_taken: u32,
    headers: u32,
    slow: u32,
    /// By [`RingKind`]: rings that have stopped, until the context is enabled again.
    stopped: [bool; 2],
    /// The next fetch of that ring fails, because a test says so.
    unreadable: [bool; 2],
}

/// A ring that the device fetches from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingKind {
    /// Commands.
    Command,
    /// Send descriptors.
    Send,
}

impl From<RingKind> for Ring {
    fn from(kind: RingKind) -> Self {
        match kind {
            RingKind::Command => Ring::Command,
            RingKind::Send => Ring::Send,
        }
    }
}

impl Owner {
    /// What is posted in a ring and not taken; `None` when it stops here: its index is more than
    /// its size ahead, or it cannot be read.
    fn due(&self, ring: RingKind) -> Option<u32> {
        let taken = [self.commands_taken, self.sends_taken][ring as usize];
        let due = self.doorbells[ring as usize].wrapping_sub(taken);
        let fits = due <= 1 << Ring::from(ring).bits(&self.context);
        (fits && (due == 0 || !self.unreadable[ring as usize])).then_some(due)
    }

    fn takes(&self, ring: RingKind) -> bool {
        self.is_enabled() && !self.stopped[ring as usize]
    }

    fn is_enabled(&self) -> bool {
        rings::is_enabled(&self.context)
    }

    /// Its packets may be summed up in runs.
    fn coalesces(&self) -> bool {
        self.context[r::CONTEXT_ENABLE as usize / 4] & r::CONTEXT_ENABLE_COALESCE != 0
    }

    fn slow_is_full(&self) -> bool {
        self.slow.wrapping_sub(self.doorbells[3]) >= 1 << Ring::Slow.bits(&self.context)
    }

    /// `slots` more are free, beside those that `reserved` ones are kept for.
    fn has_header_slots(&self, slots: u32, reserved: u32) -> bool {
        let used = self.headers.wrapping_sub(self.doorbells[2]).wrapping_add(reserved);
        self.is_enabled() && used + slots <= 1 << Ring::Header.bits(&self.context)
    }
}

/// The device. See the module's head.
pub struct GoldenDevice {
    config: CardConfig,
    /// The tables, for checks.
    pub tables: Tables,
    owners: Vec<Owner>,
    epoch: u16,
    control: u32,
    profile_words: [u32; 2 * PROFILES],
    /// Packets by disposition.
    pub dispositions: [u64; CODES],
    /// Frames by drop reason.
    pub drops: [u64; CODES],
    /// Failed sends by reason.
    pub send_errors: [u64; SEND_CODES],
    /// Events of failed sends that found no free space in the header queue.
    pub send_events_lost: u64,
    /// Rings that stopped, commands and sends.
    pub rings_stopped: [u64; 2],
    /// Frames to send, oldest first.
    pub sent: VecDeque<Vec<u8>>,
    held: Option<HeldWork>,
    runs: Runs,
}

/// What waits while sends are held between their two look-ups.
#[derive(Default)]
struct HeldWork {
    /// Owner, descriptor, and its flow as it was looked up.
    sends: Vec<(usize, Vec<u8>, Option<Flow>)>,
    /// Owner and status of the commands carried out since: a confirmation waits for the sends that
    /// were looked up before.
    commands: Vec<(usize, CommandStatus)>,
}

impl GoldenDevice {
    /// A device of a configuration, just powered up.
    pub fn new(config: CardConfig) -> Self {
        Self {
            config,
            tables: Tables::new(config),
            owners: vec![Owner::default(); 1 << config.owner_bits],
            epoch: 1,
            control: 0,
            profile_words: [0; 2 * PROFILES],
            dispositions: [0; CODES],
            drops: [0; CODES],
            send_errors: [0; SEND_CODES],
            send_events_lost: 0,
            rings_stopped: [0; 2],
            sent: VecDeque::new(),
            held: None,
            runs: Runs::default(),
        }
    }

    /// From now on the ring cannot be read, as if its memory were not mapped, until its owner's
    /// context is enabled again.
    pub fn make_unreadable(&mut self, owner: usize, ring: RingKind) {
        self.owners[owner].unreadable[ring as usize] = true;
    }

    /// A ring stops until its owner's context is enabled again. That of sends makes an event.
    fn stop(&mut self, id: usize, ring: RingKind, memory: &mut dyn Memory) {
        self.owners[id].stopped[ring as usize] = true;
        self.rings_stopped[ring as usize] += 1;
        if ring == RingKind::Send {
            self.fail_send(id, SendError::ReadFailed, &[0; METADATA_BYTES], memory);
        }
    }

    /// The next entry of a ring, if there is one.
    fn fetch(
        &mut self,
        id: usize,
        (ring, ahead): (RingKind, u32),
        memory: &mut dyn Memory,
    ) -> Option<Vec<u8>> {
        let owner = &self.owners[id];
        if !owner.takes(ring) || owner.due(ring) == Some(0) {
            return None;
        }
        let (bytes, taken) = match ring {
            RingKind::Command => (COMMAND_BYTES, owner.commands_taken),
            RingKind::Send => (SLOT_BYTES, owner.sends_taken),
        };
        let at = Ring::from(ring).address(&owner.context, taken.wrapping_add(ahead));
        let entry = owner.due(ring).and_then(|_| memory.read(at, bytes));
        if entry.is_none() {
            self.stop(id, ring, memory);
        }
        entry
    }

    fn take_commands(&mut self, id: usize, memory: &mut dyn Memory) {
        while let Some(entry) = self.fetch(id, (RingKind::Command, 0), memory) {
            let status = self.tables.apply(id as u8, &entry);
            self.end_runs_of(ends(&entry), id, memory);
            let owner = &mut self.owners[id];
            owner.commands_taken = owner.commands_taken.wrapping_add(1);
            match &mut self.held {
                Some(held) => held.commands.push((id, status)),
                None => self.complete(id, status, memory),
            }
        }
    }

    fn complete(&mut self, id: usize, status: CommandStatus, memory: &mut dyn Memory) {
        let owner = &mut self.owners[id];
        let (context, index) = (&owner.context, owner.completions);
        let mut entry = [0; COMPLETION_BYTES];
        completion::INDEX.set(&mut entry, owner.commands_confirmed.into());
        completion::STATUS.set(&mut entry, status as u64);
        completion::PHASE.set(&mut entry, Ring::Completion.phase(context, index));
        completion::EPOCH.set(&mut entry, self.epoch.into());
        memory.write(Ring::Completion.address(context, index), &entry);
        owner.completions = owner.completions.wrapping_add(1);
        owner.commands_confirmed = owner.commands_confirmed.wrapping_add(1);
    }

    fn take_sends(&mut self, id: usize, memory: &mut dyn Memory) {
        while let Some(mut record) = self.fetch(id, (RingKind::Send, 0), memory) {
            let mut slots = 1;
            if send_descriptor::TWO_SLOTS.get(&record) == 1 {
                let Some(second) = self.fetch(id, (RingKind::Send, 1), memory) else { return };
                record.extend(second);
                slots = 2;
            }
            let seen = self.tables.flow(send_descriptor::FLOW.get(&record) as u16);
            let seen = seen.cloned();
            match &mut self.held {
                Some(held) => held.sends.push((id, record, seen)),
                None => self.send_seen(id, &record, seen.as_ref(), memory),
            }
            let owner = &mut self.owners[id];
            owner.sends_taken = owner.sends_taken.wrapping_add(slots);
            let taken = owner.sends_taken.to_le_bytes();
            memory.write(address_in(&owner.context, r::CONTEXT_SEND_STATUS), &taken);
        }
    }

    /// Counts the failed send of a descriptor, and makes an event for its owner.
    pub fn fail_send(
        &mut self,
        id: usize,
        error: SendError,
        record: &[u8],
        memory: &mut dyn Memory,
    ) {
        self.send_errors[error as usize] += 1;
        if !self.has_header_slots(id, 1) {
            self.send_events_lost += 1;
            return;
        }
        let mut metadata = [0; METADATA_BYTES];
        h::KIND.set(&mut metadata, h::KIND_EVENT.into());
        h::DISPOSITION.set(&mut metadata, error as u64);
        h::FLOW.set(&mut metadata, send_descriptor::FLOW.get(record));
        h::GENERATION.set(&mut metadata, send_descriptor::GENERATION.get(record));
        h::EVENT_VALUE.set(&mut metadata, send_descriptor::POSITION.get(record));
        h::SLOW_BUFFER.set(&mut metadata, h::SLOW_BUFFER_NONE.into());
        self.publish(id, metadata, &[], memory);
    }

    /// Takes a frame from the wire; `bad_fcs` as the MAC marks it.
    pub fn receive(&mut self, frame: &[u8], bad_fcs: bool, memory: &mut dyn Memory) {
        if let Err(reason) = self.try_receive(frame, bad_fcs, memory) {
            self.drops[reason as usize] += 1;
        }
    }

    fn try_receive(
        &mut self,
        frame: &[u8],
        bad_fcs: bool,
        memory: &mut dyn Memory,
    ) -> Result<(), DropReason> {
        if self.control & r::CONTROL_RX == 0 {
            return Err(DropReason::Stopped);
        }
        check_length(frame)?;
        if bad_fcs {
            return Err(DropReason::BadFcs);
        }
        let delivery = receive(&mut self.tables, frame)?;
        let result = self.deliver(frame, &delivery, memory);
        if result.is_err() {
            undo(&mut self.tables, &delivery);
        }
        result
    }

    fn deliver(
        &mut self,
        frame: &[u8],
        delivery: &Delivery,
        memory: &mut dyn Memory,
    ) -> Result<(), DropReason> {
        let id = usize::from(delivery.owner);
        let header = &frame[..delivery.packet.header_bytes];
        let slots = if header.len() > SLOT_HEADER_BYTES { 2 } else { 1 };
        if !self.has_header_slots(id, slots) {
            return Err(DropReason::HeaderQueueFull);
        }
        if delivery.deferred.is_some() && self.owners[id].slow_is_full() {
            return Err(DropReason::SlowBufferFull);
        }
        self.end_run_before(frame, delivery, memory);
        let owner = &mut self.owners[id];
        let mut slow_buffer = h::SLOW_BUFFER_NONE;
        if let Some(payload) = &delivery.deferred {
            let (context, index) = (&owner.context, owner.slow);
            slow_buffer = Ring::Slow.place(context, index) as u16;
            memory.write(Ring::Slow.address(context, index), payload);
            owner.slow = owner.slow.wrapping_add(1);
        }
        for piece in &delivery.pieces {
            memory.write(piece.address, &piece.bytes);
        }
        self.dispositions[delivery.disposition as usize] += 1;
        let metadata = metadata(frame, delivery, slow_buffer);
        if !self.coalesce(frame, delivery, metadata, memory) {
            self.publish(id, metadata, header, memory);
        }
        Ok(())
    }

    fn has_header_slots(&self, id: usize, slots: u32) -> bool {
        self.owners[id].has_header_slots(slots, self.runs.slots(id))
    }

    fn publish(
        &mut self,
        id: usize,
        mut metadata: [u8; METADATA_BYTES],
        header: &[u8],
        memory: &mut dyn Memory,
    ) {
        let owner = &mut self.owners[id];
        let two_slots = header.len() > SLOT_HEADER_BYTES;
        h::TWO_SLOTS.set(&mut metadata, two_slots.into());
        for number in (0..1 + u32::from(two_slots)).rev() {
            let index = owner.headers.wrapping_add(number);
            h::PHASE.set(&mut metadata, Ring::Header.phase(&owner.context, index));
            let mut slot = metadata.to_vec();
            slot.extend_from_slice(&header[number as usize * h::SECOND_SLOT_HEADER_AT..]);
            slot.truncate(SLOT_BYTES);
            memory.write(Ring::Header.address(&owner.context, index), &slot);
        }
        owner.headers = owner.headers.wrapping_add(1 + u32::from(two_slots));
    }
}

/// Metadata of a packet's header entry, except what depends on its slot in the queue.
pub fn metadata(frame: &[u8], delivery: &Delivery, slow_buffer: u16) -> [u8; METADATA_BYTES] {
    let packet = &delivery.packet;
    let placed =
        matches!(delivery.disposition, Disposition::PlacedInOrder | Disposition::PlacedAhead);
    let verified =
        !matches!(delivery.disposition, Disposition::Unverified | Disposition::NotTransport);
    let mut metadata = [0; METADATA_BYTES];
    for (field, value) in [
        (h::KIND, u64::from(h::KIND_PACKET)),
        (h::DISPOSITION, delivery.disposition as u64),
        (h::PROFILE, packet.profile.into()),
        (h::VERIFIED, verified.into()),
        (h::GENERATION, delivery.generation.into()),
        (h::FLOW, delivery.flow.unwrap_or(h::FLOW_NONE).into()),
        (h::HEADER_BYTES, packet.header_bytes as u64),
        (h::FRAME_BYTES, frame.len() as u64),
        (h::PAYLOAD_BYTES, packet.payload_bytes as u64),
        (h::POSITION, packet.position.into()),
        (h::TRIMMED_BYTES, delivery.trimmed_bytes as u64),
        (h::SLOW_BUFFER, slow_buffer.into()),
        (h::CURSOR, delivery.cursor.into()),
        (h::SEGMENT_INDEX, if placed { delivery.segment_index.into() } else { 0 }),
        (h::PIECES, delivery.pieces.len() as u64),
        (h::L4_OFFSET, packet.l4_offset as u64),
    ] {
        field.set(&mut metadata, value);
    }
    metadata
}
