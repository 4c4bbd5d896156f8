//! The card's side of an owner's rings, in control memory.
//!
//! ```text
//!   doorbell ─► next_command, next_send ─► bytes of an entry
//!   confirm ─► completion ring        publish ─► header queue, slot by slot, phase last
//! ```
//! Indices and phases as in the contract: `abi::completion`, `abi::header_entry`.

use abi::config::{COMMAND_BYTES, COMPLETION_BYTES, METADATA_BYTES, SLOT_BYTES, SLOT_HEADER_BYTES};
use abi::field::Field;
use abi::reason::CommandStatus;
use abi::{completion, header_entry as h, registers as r, send_descriptor};
use host::driver::control_memory::ControlMemory;
use host::memory::ApplicationMapping;
use host::records::words::WORD_BYTES;

use super::shared::{piece_at, Piece, Shared};

/// All memory that the card reaches.
#[derive(Default)]
pub(super) struct Memory(pub Vec<Piece>);

impl Memory {
    /// Control memory and the offset in it, if it has so many bytes there.
    fn at(&self, address: u64, bytes: usize) -> Option<(&ControlMemory, usize)> {
        let (piece, offset) = piece_at(address);
        let Piece::Control(memory) = self.0.get(piece)? else {
            return None;
        };
        (offset + bytes <= memory.bytes()).then_some((memory, offset))
    }

    /// Memory of an application.
    pub fn application(&mut self, piece: usize) -> Option<&mut ApplicationMapping> {
        match self.0.get_mut(piece)? {
            Piece::Application(memory) => Some(memory),
            _ => None,
        }
    }

    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let found = self.at(address, into.len());
        found.inspect(|(memory, offset)| memory.read(*offset, into)).is_some()
    }

    /// Writes whole words, the first one last: it publishes the others.
    fn publish(&self, address: u64, from: &[u8]) {
        let Some((memory, offset)) = self.at(address, from.len()) else {
            return;
        };
        if let Some((first, rest)) = from.split_first_chunk::<WORD_BYTES>() {
            memory.write(offset + WORD_BYTES, rest);
            memory.store_release(offset, u64::from_le_bytes(*first));
        }
    }
}

/// One owner's rings.
#[derive(Clone, Debug, Default)]
pub(super) struct Rings {
    number: usize,
    context: [u32; 16],
    commands: u32,
    completions: u32,
    sends: u32,
    headers: u32,
}

fn phase(index: u32, bits: u32) -> u64 {
    u64::from((index >> bits) & 1 == 0)
}

impl Rings {
    pub fn new(number: usize) -> Self {
        Self { number, ..Self::default() }
    }

    /// A write to the context.
    pub fn set(&mut self, offset: u32, value: u32) {
        self.context[(offset / 4) as usize] = value;
        if offset == r::CONTEXT_ENABLE && value & 1 == 1 {
            let context = self.context;
            *self = Self { context, ..Self::new(self.number) };
        }
    }

    pub fn is_enabled(&self) -> bool {
        self.context[r::CONTEXT_ENABLE as usize / 4] & 1 == 1
    }

    fn bits(&self, byte: u32) -> u32 {
        (self.context[r::CONTEXT_SIZES as usize / 4] >> (8 * byte)) & 0xff
    }

    /// The address of the entry of an index.
    fn entry(&self, base: u32, bits: u32, index: u32, bytes: usize) -> u64 {
        let at = base as usize / 4;
        let start = u64::from(self.context[at + 1]) << 32 | u64::from(self.context[at]);
        start + u64::from(index & ((1 << bits) - 1)) * bytes as u64
    }

    /// The next command, if its doorbell has announced it.
    pub fn next_command(
        &mut self,
        shared: &Shared,
        memory: &Memory,
    ) -> Option<[u8; COMMAND_BYTES]> {
        let doorbell = shared.doorbell(self.number, r::DOORBELL_COMMAND as usize / 4);
        let is_stopped = shared.status(self.number) & r::STATUS_COMMAND_STOPPED != 0;
        if !self.is_enabled() || doorbell == self.commands || is_stopped {
            return None;
        }
        let base = r::CONTEXT_COMMAND_BASE;
        let address = self.entry(base, self.bits(0), self.commands, COMMAND_BYTES);
        let mut entry = [0; COMMAND_BYTES];
        let announced = doorbell.wrapping_sub(self.commands);
        if announced > 1 << self.bits(0) || !memory.read(address, &mut entry) {
            shared.stop(self.number, r::STATUS_COMMAND_STOPPED);
            return None;
        }
        self.commands = self.commands.wrapping_add(1);
        Some(entry)
    }

    /// Confirms all commands taken so far; the last one ended with this status.
    pub fn confirm(&mut self, shared: &Shared, memory: &Memory, status: CommandStatus) {
        let bits = self.bits(0);
        let mut entry = [0; COMPLETION_BYTES];
        let index = self.commands.wrapping_sub(1);
        completion::INDEX.set(&mut entry, index.into());
        completion::STATUS.set(&mut entry, status as u64);
        completion::PHASE.set(&mut entry, phase(self.completions, bits));
        completion::EPOCH.set(&mut entry, shared.epoch().into());
        let base = r::CONTEXT_COMPLETION_BASE;
        let address = self.entry(base, bits, self.completions, COMPLETION_BYTES);
        memory.publish(address, &entry);
        self.completions = self.completions.wrapping_add(1);
    }

    /// The next send descriptor, of one or two slots, if its doorbell has announced it.
    pub fn next_send(&mut self, shared: &Shared, memory: &Memory, into: &mut Vec<u8>) -> bool {
        let doorbell = shared.doorbell(self.number, r::DOORBELL_SEND as usize / 4);
        let announced = doorbell.wrapping_sub(self.sends) as usize;
        into.clear();
        let is_stopped = shared.status(self.number) & r::STATUS_SEND_STOPPED != 0;
        if !self.is_enabled() || announced == 0 || is_stopped {
            return false;
        }
        if announced > 1 << self.bits(1) {
            shared.stop(self.number, r::STATUS_SEND_STOPPED);
            return false;
        }
        loop {
            let at = into.len();
            into.resize(at + SLOT_BYTES, 0);
            let index = self.sends.wrapping_add((at / SLOT_BYTES) as u32);
            let address = self.entry(r::CONTEXT_SEND_BASE, self.bits(1), index, SLOT_BYTES);
            if !memory.read(address, &mut into[at..]) {
                shared.stop(self.number, r::STATUS_SEND_STOPPED);
                return false;
            }
            let wanted = 1 + send_descriptor::TWO_SLOTS.get(into) as usize;
            if into.len() == wanted * SLOT_BYTES {
                self.sends = self.sends.wrapping_add(wanted as u32);
                return wanted <= announced;
            }
        }
    }

    /// Reports how far the send ring was read.
    pub fn report_sends(&self, memory: &Memory) {
        let address = self.entry(r::CONTEXT_SEND_STATUS, 0, 0, 0);
        memory.publish(address, &u64::from(self.sends).to_le_bytes());
    }

    /// Whether the header queue has room for an entry of two slots.
    pub fn has_room(&self, shared: &Shared) -> bool {
        let returned = shared.doorbell(self.number, r::DOORBELL_HEADER as usize / 4);
        let used = self.headers.wrapping_sub(returned);
        self.is_enabled() && used + 2 <= 1 << self.bits(2)
    }

    /// Whether its header queue takes runs.
    pub fn takes_runs(&self) -> bool {
        self.context[r::CONTEXT_ENABLE as usize / 4] & r::CONTEXT_ENABLE_COALESCE != 0
    }

    /// Writes a header entry; the caller has checked that there is room.
    pub fn publish(
        &mut self,
        memory: &Memory,
        fields: impl Iterator<Item = (Field, u64)>,
        header: &[u8],
    ) {
        let bits = self.bits(2);
        let is_long = header.len() > SLOT_HEADER_BYTES;
        let mut slot = [0; SLOT_BYTES];
        for (field, value) in fields {
            field.set(&mut slot, value);
        }
        h::TWO_SLOTS.set(&mut slot, is_long.into());
        for number in (0..1 + u32::from(is_long)).rev() {
            let index = self.headers.wrapping_add(number);
            h::PHASE.set(&mut slot, phase(index, bits));
            let part = &header[number as usize * h::SECOND_SLOT_HEADER_AT..];
            let part = &part[..part.len().min(SLOT_HEADER_BYTES)];
            slot[METADATA_BYTES..METADATA_BYTES + part.len()].copy_from_slice(part);
            let bytes = (METADATA_BYTES + part.len()).next_multiple_of(WORD_BYTES);
            let address = self.entry(r::CONTEXT_HEADER_BASE, bits, index, SLOT_BYTES);
            memory.publish(address, &slot[..bytes]);
        }
        self.headers = self.headers.wrapping_add(1 + u32::from(is_long));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use abi::config::{SLOW_BUFFER_BYTES, SMALL};
    use host::driver::bus::Bus;
    use host::driver::rings::{HeaderEntry, HeaderQueue};

    use super::super::shared::Setting;
    use super::super::NullBus;
    use super::*;

    const BITS: u32 = 3;

    /// What the card publishes, the host's own queue reads: over many passes, entries of one and of
    /// two slots in turn, those that wrap among them.
    #[test]
    fn host_reads_one_and_two_slot_entries() {
        let shared = Arc::new(Shared::new(SMALL, false));
        let mut bus = NullBus::new(shared.clone());
        let mut control = |bytes| bus.allocate_control(bytes, 4096).unwrap();
        let (slots, slow) = (control(SLOT_BYTES << BITS), control(SLOW_BUFFER_BYTES));
        let mut queue = HeaderQueue::new(0, slots.clone(), BITS, slow);
        let (mut memory, mut rings) = (Memory::default(), Rings::new(0));
        for setting in shared.take_settings() {
            if let Setting::Memory(mapping) = setting {
                memory.0.push(mapping);
            }
        }
        rings.set(r::CONTEXT_HEADER_BASE, slots.address() as u32);
        rings.set(r::CONTEXT_HEADER_BASE + 4, (slots.address() >> 32) as u32);
        rings.set(r::CONTEXT_SIZES, BITS << 16);
        rings.set(r::CONTEXT_ENABLE, 1);
        for round in 0..100u8 {
            let mut published = Vec::new();
            while rings.has_room(&shared) {
                let bytes = [60, 96, 97, 150][published.len() % 4];
                let header = Vec::from_iter((0..bytes).map(|at| at ^ round));
                let fields = [
                    (h::KIND, h::KIND_PACKET.into()),
                    (h::HEADER_BYTES, bytes.into()),
                    (h::SLOW_BUFFER, h::SLOW_BUFFER_NONE.into()),
                ];
                rings.publish(&memory, fields.into_iter(), &header);
                published.push(header);
            }
            assert!(published.len() >= 4);
            for header in published {
                let mut entry = HeaderEntry::default();
                assert!(queue.poll(&mut bus, &mut entry).unwrap(), "no entry");
                assert_eq!(entry.header[..], header);
            }
            assert!(!queue.poll(&mut bus, &mut HeaderEntry::default()).unwrap());
            let (slots, slow) = queue.take_returns();
            shared.ring(0, r::DOORBELL_HEADER as usize / 4, slots.expect("slots to return"));
            assert_eq!(slow, None, "no slow buffer was used");
        }
    }
}
