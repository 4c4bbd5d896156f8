//! One owner of the card: its rings, its commands in flight, its header queue.
//!
//! ```text
//!   commands ─► command ring ─► doorbell        completions ─► confirmed, refused
//!   descriptors ─► send ring ─► doorbell        header queue, slow buffers ─► header entries
//! ```
//! Commands are numbered from 0. An entry of the completion ring confirms all commands up to its
//! own. Commands and descriptors are written into their ring at once, and wait beside it only while
//! it is full; [`Owner::poll`] announces them.

use std::collections::VecDeque;

use abi::config::{
    COMMAND_BYTES, COMPLETION_BYTES, SLOT_BYTES, SLOT_HEADER_BYTES, SLOW_BUFFER_BYTES,
};
use abi::reason::CommandStatus;
use abi::{command, registers};

use super::bus::Bus;
use super::control_memory::ControlMemory;
use super::error::Result;
use super::rings::{
    CompletionRing, HeaderEntry, HeaderQueue, PostRing, RingSizes, COMMAND_WORDS, SLOT_WORDS,
};
use super::ticket::{RefusedCommand, Ticket};
use crate::control::descriptor::{Descriptor, Record};

/// Register offset of an owner's doorbells.
pub(crate) fn doorbell_page(owner: u32) -> u32 {
    registers::DOORBELLS + owner * registers::DOORBELL_STRIDE
}

/// A command that is posted and not confirmed.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    opcode: u8,
    flow: u16,
    generation: u8,
}

/// One owner. See the module's head.
#[derive(Debug)]
pub(crate) struct Owner {
    number: u8,
    commands: PostRing<COMMAND_WORDS>,
    waiting: VecDeque<[u8; COMMAND_BYTES]>,
    in_flight: VecDeque<InFlight>,
    confirmed: u64,
    refused: VecDeque<RefusedCommand>,
    completions: CompletionRing,
    sends: PostRing<SLOT_WORDS>,
    push_slots: bool,
    send_waiting: VecDeque<Record>,
    /// Consumer index of the send ring with which [`Owner::arm`] arms, if somebody waits for more.
    sends_awaited: Option<u32>,
    send_status: ControlMemory,
    headers: HeaderQueue,
    /// All memory of its rings.
    memory: Vec<ControlMemory>,
}

impl Owner {
    /// Allocates the rings of owner `number` and enables its context.
    pub(crate) fn open(
        bus: &mut dyn Bus,
        number: u8,
        sizes: RingSizes,
        push_slots: bool,
    ) -> Result<Self> {
        sizes.check()?;
        let mut memory = Vec::new();
        let mut ring = |entry_bytes: usize, bits: u32, align: usize| {
            let ring = bus.allocate_control((entry_bytes << bits).max(4096), align)?;
            memory.push(ring.clone());
            Result::Ok(ring)
        };
        let commands = ring(COMMAND_BYTES, sizes.command_bits, 4096)?;
        let completions = ring(COMPLETION_BYTES, sizes.command_bits, 4096)?;
        let sends = ring(SLOT_BYTES, sizes.send_bits, 4096)?;
        let send_status = ring(64, 0, 4096)?;
        let headers = ring(SLOT_BYTES, sizes.header_bits, 4096)?;
        let slow = ring(SLOW_BUFFER_BYTES, sizes.slow_bits, SLOW_BUFFER_BYTES)?;
        let context = registers::CONTEXTS + u32::from(number) * registers::CONTEXT_STRIDE;
        for (offset, ring) in [
            (registers::CONTEXT_COMMAND_BASE, &commands),
            (registers::CONTEXT_COMPLETION_BASE, &completions),
            (registers::CONTEXT_SEND_BASE, &sends),
            (registers::CONTEXT_SEND_STATUS, &send_status),
            (registers::CONTEXT_HEADER_BASE, &headers),
            (registers::CONTEXT_SLOW_BASE, &slow),
        ] {
            bus.write_register(context + offset, ring.address() as u32)?;
            bus.write_register(context + offset + 4, (ring.address() >> 32) as u32)?;
        }
        let word = sizes.command_bits
            | sizes.send_bits << 8
            | sizes.header_bits << 16
            | sizes.slow_bits << 24;
        let headers = HeaderQueue::new(number, headers, sizes.header_bits, slow);
        bus.write_register(context + registers::CONTEXT_SIZES, word)?;
        bus.write_register(context + registers::CONTEXT_ENABLE, 1)?;
        Ok(Self {
            number,
            commands: PostRing::new(commands, sizes.command_bits),
            waiting: VecDeque::new(),
            in_flight: VecDeque::new(),
            confirmed: 0,
            refused: VecDeque::new(),
            completions: CompletionRing::new(completions, sizes.command_bits),
            sends: PostRing::new(sends, sizes.send_bits),
            push_slots,
            send_waiting: VecDeque::new(),
            sends_awaited: None,
            send_status,
            headers,
            memory,
        })
    }

    /// Takes the memory of the rings from a card that no longer accesses them.
    pub(crate) fn release(self, bus: &mut dyn Bus) -> Result<()> {
        for ring in self.memory {
            bus.release_control(ring)?;
        }
        Ok(())
    }

    fn ring(&self, bus: &mut dyn Bus, doorbell: u32, value: u32) -> Result<()> {
        let page = doorbell_page(self.number.into());
        Ok(bus.write_register(page + doorbell, value)?)
    }

    /// Queues a command.
    pub(crate) fn command(&mut self, entry: [u8; COMMAND_BYTES]) -> Ticket {
        let number = self.queued();
        match self.waiting.is_empty() && self.has_room_for_command() {
            true => self.post_command(&entry),
            false => self.waiting.push_back(entry),
        }
        Ticket::new(self.number, number)
    }

    fn has_room_for_command(&self) -> bool {
        self.commands.free_entries(self.confirmed as u32) > 0
    }

    fn post_command(&mut self, entry: &[u8; COMMAND_BYTES]) {
        self.commands.post(&[], entry);
        self.in_flight.push_back(InFlight {
            opcode: command::OPCODE.get(entry) as u8,
            flow: command::FLOW.get(entry) as u16,
            generation: command::GENERATION.get(entry) as u8,
        });
    }

    /// Whether the fence of a command of this owner has passed.
    pub(crate) fn has_confirmed(&self, ticket: Ticket) -> bool {
        ticket.number() < self.confirmed
    }

    /// Commands whose fence has passed.
    pub(crate) fn confirmed(&self) -> u64 {
        self.confirmed
    }

    /// Commands so far: the number of the next one.
    pub(crate) fn queued(&self) -> u64 {
        self.confirmed + self.unconfirmed() as u64
    }

    /// Commands queued or in flight.
    pub(crate) fn unconfirmed(&self) -> usize {
        self.in_flight.len() + self.waiting.len()
    }

    /// The next refused command, if there is one.
    pub(crate) fn take_refused(&mut self) -> Option<RefusedCommand> {
        self.refused.pop_front()
    }

    /// Queues a send descriptor.
    #[inline]
    pub(crate) fn send(&mut self, descriptor: Descriptor<'_>) {
        match self.send_waiting.is_empty() && self.has_room_for_slots(descriptor.slots()) {
            true => self.post_send(descriptor),
            false => self.wait_for_room(descriptor),
        }
    }

    #[cold]
    fn wait_for_room(&mut self, descriptor: Descriptor<'_>) {
        self.send_waiting.push_back(descriptor.record());
    }

    /// Consumer index of the send ring, as the card wrote it last.
    fn sends_consumed(&self) -> u32 {
        self.send_status.load_acquire(0) as u32
    }

    fn has_room_for_slots(&self, slots: usize) -> bool {
        self.sends.free_entries(self.sends_consumed()) as usize >= slots
    }

    #[inline]
    fn post_send(&mut self, descriptor: Descriptor<'_>) {
        let (inline, metadata) = (descriptor.inline(), descriptor.metadata());
        match inline.split_at_checked(SLOT_HEADER_BYTES) {
            Some((first, second)) if !second.is_empty() => {
                self.sends.post(&metadata, first);
                self.sends.post(&[], second);
            }
            _ => self.sends.post(&metadata, inline),
        }
    }

    /// Slots that wait for their doorbell, and descriptors that wait for the ring.
    pub(crate) fn sends_waiting(&self) -> usize {
        self.sends.unannounced() as usize + self.send_waiting.len()
    }

    /// Slots of all descriptors so far, those that wait for the ring included, modulo 2^32.
    pub(crate) fn send_slots(&self) -> u32 {
        let waiting = self.send_waiting.iter().map(|record| record.len());
        let waiting = waiting.sum::<usize>() / SLOT_BYTES;
        self.sends.produced().wrapping_add(waiting as u32)
    }

    /// Takes the next header entry into `entry`. Returns whether there was one.
    pub(crate) fn next_header(
        &mut self,
        bus: &mut dyn Bus,
        entry: &mut HeaderEntry,
    ) -> Result<bool> {
        self.headers.poll(bus, entry)
    }

    /// A guess at the flow of the header entry after the next `ahead`, and whether its packet has
    /// payload.
    #[inline]
    pub(crate) fn flow_ahead(&self, ahead: u32) -> Option<(u16, bool)> {
        self.headers.flow_ahead(ahead)
    }

    /// Reports to the card how far the header queue and the slow buffers were emptied, if anything
    /// was taken since the last report.
    pub(crate) fn return_headers(&mut self, bus: &mut dyn Bus) -> Result<()> {
        let (slots, slow) = self.headers.take_returns();
        if let Some(slots) = slots {
            self.ring(bus, registers::DOORBELL_HEADER, slots)?;
        }
        match slow {
            Some(slow) => self.ring(bus, registers::DOORBELL_SLOW, slow),
            None => Ok(()),
        }
    }

    /// Whether a poll would hand commands or descriptors to the card. If not, what waits for room
    /// waits for more than this look has found.
    pub(crate) fn has_to_post(&mut self) -> bool {
        if let Some(first) = self.send_waiting.front() {
            let (consumed, slots) = (self.sends_consumed(), first.len() / SLOT_BYTES);
            if self.sends.free_entries(consumed) as usize >= slots {
                return true;
            }
            self.await_sends(consumed);
        }
        self.commands.unannounced() > 0
            || self.sends.unannounced() > 0
            || (!self.waiting.is_empty() && self.has_room_for_command())
    }

    /// The next [`Owner::arm`] is for the send status, too: somebody has seen this index, and waits
    /// for a later one.
    pub(crate) fn await_sends(&mut self, seen: u32) {
        let awaited = self.sends_awaited.get_or_insert(seen);
        if (seen.wrapping_sub(*awaited) as i32) < 0 {
            *awaited = seen;
        }
    }

    /// Arms the interrupt for the first header entry that was not taken yet. With `all` also for
    /// the next confirmation, if a command is in flight, and for the send status, if somebody waits
    /// for it.
    pub(crate) fn arm(&mut self, bus: &mut dyn Bus, all: bool) -> Result<()> {
        self.ring(bus, registers::DOORBELL_ARM, self.headers.consumed())?;
        let awaited = self.sends_awaited.take();
        if !all {
            return Ok(());
        }
        if self.unconfirmed() > 0 {
            self.ring(bus, registers::DOORBELL_ARM_COMMANDS, self.confirmed as u32)?;
        }
        match awaited {
            Some(seen) => self.ring(bus, registers::DOORBELL_ARM_SENDS, seen),
            None => Ok(()),
        }
    }

    /// Posts what is queued, rings doorbells that changed, takes completions. Returns whether
    /// anything moved.
    pub(crate) fn poll(&mut self, bus: &mut dyn Bus) -> Result<bool> {
        let mut moved = self.post_commands(bus)?;
        moved |= self.post_sends(bus)?;
        moved |= self.take_completions();
        Ok(moved)
    }

    fn post_commands(&mut self, bus: &mut dyn Bus) -> Result<bool> {
        while self.has_room_for_command() {
            let Some(entry) = self.waiting.pop_front() else {
                break;
            };
            self.post_command(&entry);
        }
        let Some(produced) = self.commands.announce() else {
            return Ok(false);
        };
        self.ring(bus, registers::DOORBELL_COMMAND, produced)?;
        Ok(true)
    }

    /// Whether the card has commands or descriptors to take.
    pub(crate) fn has_work(&self) -> bool {
        let (consumed, produced) = self.sends();
        self.unconfirmed() > 0 || consumed != produced
    }

    /// Consumer and producer index of the send ring.
    pub(crate) fn sends(&self) -> (u32, u32) {
        (self.sends_consumed(), self.sends.produced())
    }

    fn post_sends(&mut self, bus: &mut dyn Bus) -> Result<bool> {
        while let Some(descriptor) = self.send_waiting.front() {
            if !self.has_room_for_slots(descriptor.len() / SLOT_BYTES) {
                break;
            }
            if let Some(descriptor) = self.send_waiting.pop_front() {
                self.post_send(Descriptor::of(&descriptor));
            }
        }
        let slots = self.sends.unannounced();
        let Some(produced) = self.sends.announce() else {
            return Ok(false);
        };
        // A descriptor of one slot that is pushed into an empty ring need not be fetched.
        if self.push_slots && slots == 1 && self.sends_consumed() == produced.wrapping_sub(1) {
            self.push(bus)?;
        }
        self.ring(bus, registers::DOORBELL_SEND, produced)?;
        Ok(true)
    }

    /// Writes a copy of the slot that the next doorbell announces into the push window.
    fn push(&self, bus: &mut dyn Bus) -> Result<()> {
        let window = doorbell_page(self.number.into()) + registers::PUSH_WINDOW;
        let mut slot = [0; SLOT_BYTES];
        self.sends.last(&mut slot);
        let (lines, _) = slot.as_chunks::<{ registers::PUSH_BYTES }>();
        for (at, line) in (window..).step_by(registers::PUSH_BYTES).zip(lines) {
            bus.write_line(at, line)?;
        }
        Ok(())
    }

    fn take_completions(&mut self) -> bool {
        let mut moved = false;
        while let Some(completion) = self.completions.poll() {
            moved = true;
            // An entry confirms all commands up to its own.
            let ahead = completion.index.wrapping_sub(self.confirmed as u32);
            for step in 0..=ahead {
                let Some(command) = self.in_flight.pop_front() else {
                    break;
                };
                let status = completion.status.unwrap_or(CommandStatus::BadOpcode);
                if step == ahead && status != CommandStatus::Ok {
                    self.refused.push_back(RefusedCommand {
                        ticket: Ticket::new(self.number, self.confirmed),
                        opcode: command.opcode,
                        flow: command.flow,
                        generation: command.generation,
                        status,
                    });
                }
                self.confirmed += 1;
            }
        }
        moved
    }
}
