//! The whole contract as one plain object without a clock: registers, rings, tables, frames in and
//! out.
//!
//! A driver can run on it without a card, and a test can compare a card with it. Every request
//! takes effect at once and in order, so every confirmation is a fence by construction.

mod holding;

use std::collections::VecDeque;

use abi::config::{
    CardConfig, COMMAND_BYTES, COMPLETION_BYTES, EPOCH_MAX, METADATA_BYTES, SLOT_BYTES,
    SLOT_HEADER_BYTES, SLOW_BUFFER_BYTES,
};
use abi::flow_key::Secret;
use abi::reason::{CommandStatus, Disposition, DropReason, SendError};
use abi::{
    completion, counters as n, header_entry as h, profile, registers as r, send_descriptor,
    ABI_VERSION,
};

use crate::packet::{check_length, Profile};
use crate::rx::{receive, undo, Delivery};
use crate::tables::{Flow, Tables};

/// STATUS of a card with bus mastering, on a link and a wire that are up.
const STATUS: u32 = 0b110 | r::STATUS_WIRE_UP | r::STATUS_MAC_CLOCK | r::STATUS_WIRE_ALIGNED;

/// What the contract offers, but for pushed slots: reading a ring takes no time.
const FEATURES: u32 = r::FEATURE_IPV6 | r::FEATURE_TSO | r::FEATURE_PROFILES | r::FEATURE_ARM;

/// Host memory by bus address. `None` and `false` mean that the access was refused.
pub trait Memory {
    /// Reads bytes; `None` if the access is refused.
    fn read(&mut self, address: u64, bytes: usize) -> Option<Vec<u8>>;
    /// Writes bytes; `false` if the access is refused.
    fn write(&mut self, address: u64, bytes: &[u8]) -> bool;
}

#[derive(Clone, Debug, Default)]
struct Owner {
    context: [u32; 16],
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

impl Owner {
    /// What is posted in a ring and not taken; `None` when it stops here: its index is more than
    /// its size ahead, or it cannot be read.
    fn due(&self, ring: RingKind) -> Option<u32> {
        let taken = [self.commands_taken, self.sends_taken][ring as usize];
        let due = self.doorbells[ring as usize].wrapping_sub(taken);
        let fits = due <= 1 << self.bits(ring as u32);
        (fits && (due == 0 || !self.unreadable[ring as usize])).then_some(due)
    }

    fn takes(&self, ring: RingKind) -> bool {
        self.enabled() && !self.stopped[ring as usize]
    }

    fn base(&self, offset: u32) -> u64 {
        let at = offset as usize / 4;
        u64::from(self.context[at + 1]) << 32 | u64::from(self.context[at])
    }

    fn bits(&self, byte: u32) -> u32 {
        (self.context[r::CONTEXT_SIZES as usize / 4] >> (8 * byte)) & 0xff
    }

    fn enabled(&self) -> bool {
        self.context[r::CONTEXT_ENABLE as usize / 4] & 1 == 1
    }

    fn has_header_slots(&self, slots: u32) -> bool {
        let used = self.headers.wrapping_sub(self.doorbells[2]);
        self.enabled() && used + slots <= 1 << self.bits(2)
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
    profile_words: [u32; 8],
    /// Packets by disposition.
    pub dispositions: [u64; 16],
    /// Frames by drop reason.
    pub drops: [u64; 16],
    /// Failed sends by reason.
    pub send_errors: [u64; 8],
    /// Events of failed sends that found no free space in the header queue.
    pub send_events_lost: u64,
    /// Rings that stopped, commands and sends.
    pub rings_stopped: [u64; 2],
    /// Frames to send, oldest first.
    pub sent: VecDeque<Vec<u8>>,
    held: Option<Held>,
}

/// What waits while sends are held between their two look-ups.
#[derive(Default)]
struct Held {
    /// Owner, descriptor, and its flow as it was looked up.
    sends: Vec<(usize, Vec<u8>, Option<Flow>)>,
    /// Owner and status of the commands carried out since: a confirmation waits for the sends that
    /// were looked up before.
    commands: Vec<(usize, CommandStatus)>,
}

fn phase(index: u32, bits: u32) -> u64 {
    u64::from((index >> bits) & 1 == 0)
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
            profile_words: [0; 8],
            dispositions: [0; 16],
            drops: [0; 16],
            send_errors: [0; 8],
            send_events_lost: 0,
            rings_stopped: [0; 2],
            sent: VecDeque::new(),
            held: None,
        }
    }

    /// Reads a register.
    pub fn read_register(&self, offset: u32) -> u32 {
        let c = &self.config;
        let counter = |counters: &[u64], base: u32| {
            let at = (offset - base) as usize;
            let value = counters.get(at / 8).copied().unwrap_or(0);
            if at.is_multiple_of(8) {
                value as u32
            } else {
                (value >> 32) as u32
            }
        };
        let bytes = |values: [usize; 4]| {
            values.iter().enumerate().fold(0, |word, (i, &v)| word | (v as u32) << (8 * i))
        };
        match offset {
            r::ID => r::ID_VALUE,
            r::VERSION => ABI_VERSION,
            r::SIZES_0 => bytes([c.flow_bits, c.bucket_bits, c.segment_bits, c.region_bits]),
            r::SIZES_1 => bytes([c.page_bits, c.owner_bits, 0, 0]),
            r::FEATURES => FEATURES,
            r::EPOCH => self.epoch.into(),
            r::CONTROL => self.control,
            r::STATUS => STATUS,
            n::COUNTERS_DROP..=0x807f => counter(&self.drops, n::COUNTERS_DROP),
            n::COUNTERS_DISPOSITION..=0x817f => {
                counter(&self.dispositions, n::COUNTERS_DISPOSITION)
            }
            n::COUNTERS_SEND_ERROR..=0x823f => counter(&self.send_errors, n::COUNTERS_SEND_ERROR),
            at if at >= r::DOORBELLS && at % r::DOORBELL_STRIDE == r::DOORBELL_STATUS => {
                let owner = self.owners.get(((at - r::DOORBELLS) / r::DOORBELL_STRIDE) as usize);
                let [command, send] = owner.map_or([false; 2], |owner| owner.stopped);
                let bit = |bit: u32, is_set: bool| if is_set { bit } else { 0 };
                bit(r::STATUS_COMMAND_STOPPED, command) | bit(r::STATUS_SEND_STOPPED, send)
            }
            _ => 0,
        }
    }

    /// Writes a register and does all that follows from it.
    pub fn write_register(&mut self, offset: u32, value: u32, memory: &mut dyn Memory) {
        let contexts_end = r::CONTEXTS + ((self.owners.len() as u32) << 6);
        let doorbells_end = r::DOORBELLS + ((self.owners.len() as u32) << 12);
        match offset {
            r::CONTROL if value & r::CONTROL_RESET != 0 => self.start_epoch(),
            r::CONTROL => self.control = value,
            r::HASH_SECRET..=0x107f => {
                let at = offset - r::HASH_SECRET;
                let bank = (at / r::HASH_SECRET_STRIDE) as usize;
                let word = (at % r::HASH_SECRET_STRIDE / 4) as usize;
                let secret = &mut self.tables.secrets[bank];
                let mut words = *secret.words();
                if let Some(slot) = words.get_mut(word) {
                    *slot = value;
                    *secret = Secret::new(words);
                }
            }
            r::PROFILES..=0x111f => {
                self.profile_words[((offset - r::PROFILES) / 4) as usize] = value;
                self.read_profiles();
            }
            at if (r::CONTEXTS..contexts_end).contains(&at) => {
                let at = at - r::CONTEXTS;
                let owner = &mut self.owners[(at / r::CONTEXT_STRIDE) as usize];
                let field = at % r::CONTEXT_STRIDE;
                owner.context[(field / 4) as usize] = value;
                if field == r::CONTEXT_ENABLE && value & 1 == 1 {
                    *owner = Owner { context: owner.context, ..Owner::default() };
                }
            }
            at if (r::DOORBELLS..doorbells_end).contains(&at) => {
                let at = at - r::DOORBELLS;
                let owner = (at / r::DOORBELL_STRIDE) as usize;
                let doorbell = (at % r::DOORBELL_STRIDE / 4) as usize;
                if let Some(slot) = self.owners[owner].doorbells.get_mut(doorbell) {
                    *slot = value;
                }
                self.take_commands(owner, memory);
                self.take_sends(owner, memory);
            }
            _ => {}
        }
    }

    fn start_epoch(&mut self) {
        self.epoch = self.epoch % EPOCH_MAX + 1;
        self.control = 0;
        self.held = None;
        self.tables.clear();
        self.owners.fill(Owner::default());
    }

    fn read_profiles(&mut self) {
        for number in 1..4 {
            let mut record = [0; 8];
            record[..4].copy_from_slice(&self.profile_words[2 * number].to_le_bytes());
            let word0 = record;
            record[..4].copy_from_slice(&self.profile_words[2 * number + 1].to_le_bytes());
            self.tables.profiles[number] = Profile {
                enabled: profile::ENABLE.get(&word0) == 1,
                port: profile::PORT.get(&word0) as u16,
                header_bytes: profile::HEADER_BYTES.get(&record) as usize,
                position_offset: profile::POSITION_OFFSET.get(&record) as usize,
                position_bytes: profile::POSITION_BYTES.get(&record) as usize,
                message_key_offset: profile::MESSAGE_KEY_OFFSET.get(&record) as usize,
                message_key_bytes: profile::MESSAGE_KEY_BYTES.get(&record) as usize,
            };
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
        let (base, bytes, taken) = match ring {
            RingKind::Command => (r::CONTEXT_COMMAND_BASE, COMMAND_BYTES, owner.commands_taken),
            RingKind::Send => (r::CONTEXT_SEND_BASE, SLOT_BYTES, owner.sends_taken),
        };
        let slot = taken.wrapping_add(ahead) & ((1 << owner.bits(ring as u32)) - 1);
        let at = owner.base(base) + u64::from(slot) * bytes as u64;
        let entry = owner.due(ring).and_then(|_| memory.read(at, bytes));
        if entry.is_none() {
            self.stop(id, ring, memory);
        }
        entry
    }

    fn take_commands(&mut self, id: usize, memory: &mut dyn Memory) {
        while let Some(entry) = self.fetch(id, (RingKind::Command, 0), memory) {
            let status = self.tables.apply(id as u8, &entry);
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
        let bits = owner.bits(0);
        let mut entry = [0; COMPLETION_BYTES];
        completion::INDEX.set(&mut entry, owner.commands_confirmed.into());
        completion::STATUS.set(&mut entry, status as u64);
        completion::PHASE.set(&mut entry, phase(owner.completions, bits));
        completion::EPOCH.set(&mut entry, self.epoch.into());
        let slot = u64::from(owner.completions & ((1 << bits) - 1));
        memory
            .write(owner.base(r::CONTEXT_COMPLETION_BASE) + slot * COMPLETION_BYTES as u64, &entry);
        owner.completions = owner.completions.wrapping_add(1);
        owner.commands_confirmed = owner.commands_confirmed.wrapping_add(1);
    }

    fn take_sends(&mut self, id: usize, memory: &mut dyn Memory) {
        while let Some(mut record) = self.fetch(id, (RingKind::Send, 0), memory) {
            let mut slots = 1;
            if send_descriptor::TWO_SLOTS.get(&record) == 1 {
                let Some(second) = self.fetch(id, (RingKind::Send, 1), memory) else {
                    return;
                };
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
            memory.write(owner.base(r::CONTEXT_SEND_STATUS), &taken);
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
        if !self.owners[id].has_header_slots(1) {
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
        let owner = &mut self.owners[id];
        let header = &frame[..delivery.packet.header_bytes];
        let slots = if header.len() > SLOT_HEADER_BYTES { 2 } else { 1 };
        if !owner.has_header_slots(slots) {
            return Err(DropReason::HeaderQueueFull);
        }
        let mut slow_buffer = h::SLOW_BUFFER_NONE;
        if let Some(payload) = &delivery.deferred {
            if owner.slow.wrapping_sub(owner.doorbells[3]) >= 1 << owner.bits(3) {
                return Err(DropReason::SlowBufferFull);
            }
            slow_buffer = (owner.slow & ((1 << owner.bits(3)) - 1)) as u16;
            let offset = u64::from(slow_buffer) * SLOW_BUFFER_BYTES as u64;
            memory.write(owner.base(r::CONTEXT_SLOW_BASE) + offset, payload);
            owner.slow = owner.slow.wrapping_add(1);
        }
        for piece in &delivery.pieces {
            memory.write(piece.address, &piece.bytes);
        }
        self.dispositions[delivery.disposition as usize] += 1;
        let metadata = metadata(frame, delivery, slow_buffer);
        self.publish(id, metadata, header, memory);
        Ok(())
    }

    fn publish(
        &mut self,
        id: usize,
        mut metadata: [u8; METADATA_BYTES],
        header: &[u8],
        memory: &mut dyn Memory,
    ) {
        let owner = &mut self.owners[id];
        let bits = owner.bits(2);
        let two_slots = header.len() > SLOT_HEADER_BYTES;
        h::TWO_SLOTS.set(&mut metadata, two_slots.into());
        let base = owner.base(r::CONTEXT_HEADER_BASE);
        for number in (0..1 + u32::from(two_slots)).rev() {
            let index = owner.headers.wrapping_add(number);
            h::PHASE.set(&mut metadata, phase(index, bits));
            let mut slot = metadata.to_vec();
            slot.extend_from_slice(&header[number as usize * h::SECOND_SLOT_HEADER_AT..]);
            slot.truncate(SLOT_BYTES);
            let at = u64::from(index & ((1 << bits) - 1)) * SLOT_BYTES as u64;
            memory.write(base + at, &slot);
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

#[cfg(test)]
mod tests {
    use abi::config::SMALL;

    use super::*;

    #[test]
    fn a_counter_is_two_words_and_nothing_beyond_them() {
        let mut device = GoldenDevice::new(SMALL);
        device.dispositions[2] = 0x8765_4321_9abc_def0;
        let at = n::COUNTERS_DISPOSITION + 8 * 2;
        let words = [at - 4, at, at + 4, at + 8].map(|at| device.read_register(at));
        assert_eq!(words, [0, 0x9abc_def0, 0x8765_4321, 0]);
    }
}
