//! One owner of the card: its rings, its commands in flight, its header queue.
//!
//! ```text
//!   commands ─► command ring ─► doorbell        completions ─► confirmed, refused
//!   descriptors ─► send ring ─► doorbell        header queue, slow buffers ─► header entries
//! ```
//! Commands are numbered from 0. An entry of the completion ring confirms all commands up to its
//! own. Commands and descriptors are written into their ring at once, and wait beside it only while
//! it is full; [`Owner::poll`] announces them.

mod posting;

use std::collections::VecDeque;

use abi::config::{COMMAND_BYTES, SLOT_BYTES, SLOT_HEADER_BYTES};
use abi::{command, registers};

use super::bus::Bus;
use super::context::{allocate, disable, enable, write_context, RINGS};
use super::control_memory::ControlMemory;
use super::error::Result;
use super::rings::{
    CompletionRing, HeaderEntry, HeaderQueue, PostRing, RingSizes, COMMAND_WORDS, SLOT_WORDS,
};
use crate::records::descriptor::{Descriptor, Record};
use crate::records::queue::QueueError;
use crate::records::ticket::{RefusedCommand, Ticket};

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

/// A ring that the card may stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ring {
    /// Commands.
    Command,
    /// Send descriptors.
    Send,
}

/// What is known of a ring.
#[derive(Clone, Copy, Debug, Default)]
struct RingState {
    /// The card takes nothing from it any more.
    is_stopped: bool,
    /// It has work and has not moved for a while.
    is_late: bool,
}

/// What was queued in rings that were restarted, and is lost with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Commands that no completion has confirmed. Their tickets count as confirmed: nothing of them
    /// is under way any more. Some may have had their effect.
    pub commands: u64,
    /// Slots and descriptors that the card had not taken over.
    pub sends: u64,
}

/// Slots and descriptors that wait for their ring, from which on it counts as full.
const SENDS_WAITING_MAX: usize = 64;

/// How the card is to serve an owner.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnerOptions {
    /// Descriptors go with their doorbell when the send ring is empty.
    pub push_slots: bool,
    /// One header entry may stand for a run of packets.
    pub takes_runs: bool,
}

/// One owner. See the module's head.
#[derive(Debug)]
pub(crate) struct Owner {
    number: u8,
    commands: PostRing<COMMAND_WORDS>,
    waiting: VecDeque<[u8; COMMAND_BYTES]>,
    in_flight: VecDeque<InFlight>,
    confirmed: u64,
    /// Commands before those that the ring counts: it counts from 0 when its context is enabled.
    counted_from: u64,
    refused: VecDeque<RefusedCommand>,
    completions: CompletionRing,
    sends: PostRing<SLOT_WORDS>,
    push_slots: bool,
    takes_runs: bool,
    send_waiting: VecDeque<Record>,
    /// Consumer index of the send ring with which [`Owner::arm`] arms, if somebody waits for more.
    sends_awaited: Option<u32>,
    send_status: ControlMemory,
    headers: HeaderQueue,
    /// Entries that were in the queue when the rings were restarted.
    left: VecDeque<HeaderEntry>,
    /// By [`Ring`].
    states: [RingState; 2],
    /// Descriptors that were queued for a ring that stopped, or after that.
    lost_sends: u64,
    /// All memory of its rings.
    memory: Vec<ControlMemory>,
}

impl Owner {
    /// Allocates the rings of owner `number` and enables its context.
    pub(crate) fn open(
        bus: &mut dyn Bus,
        number: u8,
        sizes: RingSizes,
        options: OwnerOptions,
    ) -> Result<Self> {
        sizes.check()?;
        let mut memory = Vec::with_capacity(RINGS);
        let opened = allocate(bus, sizes, &mut memory)
            .and_then(|()| write_context(bus, number, sizes, &memory));
        if let Err(error) = opened {
            // The context is not enabled: the card reaches none of it.
            for ring in memory {
                bus.release_control(ring)?;
            }
            return Err(error);
        }
        let [commands, completions, sends, send_status, headers, slow] =
            [0, 1, 2, 3, 4, 5].map(|at: usize| memory[at].clone());
        let OwnerOptions { push_slots, takes_runs } = options;
        let headers = HeaderQueue::new(number, headers, sizes.header_bits, slow);
        let headers = headers.with_runs(takes_runs);
        enable(bus, number, takes_runs)?;
        Ok(Self {
            number,
            commands: PostRing::new(commands, sizes.command_bits),
            waiting: VecDeque::new(),
            in_flight: VecDeque::new(),
            confirmed: 0,
            counted_from: 0,
            refused: VecDeque::new(),
            completions: CompletionRing::new(completions, sizes.command_bits),
            sends: PostRing::new(sends, sizes.send_bits),
            push_slots,
            takes_runs,
            send_waiting: VecDeque::new(),
            sends_awaited: None,
            send_status,
            headers,
            left: VecDeque::new(),
            states: Default::default(),
            lost_sends: 0,
            memory,
        })
    }

    pub(crate) fn number(&self) -> u8 {
        self.number
    }

    /// How far the card is with a ring, and whether there is work in it that waits for the card: of
    /// a ring that has stopped none does.
    pub(crate) fn progress(&self, ring: Ring) -> (u64, bool) {
        let (index, has_work) = match ring {
            Ring::Command => (self.confirmed, self.outstanding() > 0),
            Ring::Send => {
                let consumed = self.sends_consumed();
                (consumed.into(), consumed != self.sends.produced_count())
            }
        };
        (index, has_work && !self.has_stopped(ring))
    }

    /// Whether the card has commands or descriptors to take.
    pub(crate) fn has_work(&self) -> bool {
        [Ring::Command, Ring::Send].into_iter().any(|ring| self.progress(ring).1)
    }

    /// Whether the card takes nothing from a ring any more.
    pub(crate) fn has_stopped(&self, ring: Ring) -> bool {
        self.states[ring as usize].is_stopped
    }

    /// The error of whoever needs a ring that has stopped.
    fn check_ring(&self, ring: Ring) -> Result<(), QueueError> {
        let name = ["command", "send"][ring as usize];
        match self.has_stopped(ring) {
            true => Err(QueueError::RingStopped { owner: self.number, ring: name }),
            false => Ok(()),
        }
    }

    /// The card has stopped a ring. Descriptors that it has not taken are lost; commands that it
    /// has not confirmed are never confirmed.
    pub(crate) fn stop(&mut self, ring: Ring) {
        if self.has_stopped(ring) {
            return;
        }
        self.states[ring as usize] = RingState { is_stopped: true, is_late: false };
        if ring == Ring::Send {
            // Some of these have two slots: no less were lost.
            let posted = self.sends.produced_count().wrapping_sub(self.sends_consumed());
            self.lost_sends += u64::from(posted) + self.send_waiting.len() as u64;
            self.send_waiting.clear();
            self.sends.announce();
        }
    }

    pub(crate) fn set_late(&mut self, ring: Ring, is_late: bool) {
        self.states[ring as usize].is_late = is_late;
    }

    /// Whether its send ring is full.
    pub(crate) fn is_full(&self) -> bool {
        self.sends_waiting() >= SENDS_WAITING_MAX
    }

    /// Whether its send ring has not stopped, and fewer than so many slots wait for it.
    #[inline]
    pub(crate) fn takes_sends(&self, waiting_max: usize) -> bool {
        !self.has_stopped(Ring::Send) && self.sends_waiting() < waiting_max
    }

    /// Whether its send ring has work and has not moved for a while.
    pub(crate) fn is_late(&self) -> bool {
        self.states[Ring::Send as usize].is_late
    }

    /// The card is to take nothing from the rings any more, and to write nothing into them once a
    /// command of owner 0 behind this was confirmed.
    pub(crate) fn disable(&mut self, bus: &mut dyn Bus) -> Result<()> {
        disable(bus, self.number)?;
        self.stop(Ring::Command);
        self.stop(Ring::Send);
        Ok(())
    }

    /// Enables the context again, with empty rings, after [`Owner::disable`] and the fence. Header
    /// entries that nobody has taken are kept; what was queued is lost.
    pub(crate) fn enable_again(&mut self, bus: &mut dyn Bus) -> Result<Lost> {
        let lost = Lost {
            commands: self.outstanding() as u64,
            sends: std::mem::take(&mut self.lost_sends),
        };
        let mut entry = HeaderEntry::default();
        while self.headers.poll(bus, &mut entry)? {
            self.left.push_back(entry.clone());
        }
        self.take_completions();
        let lost = Lost { commands: self.outstanding() as u64, ..lost };
        self.in_flight.clear();
        self.waiting.clear();
        self.confirmed += lost.commands;
        self.counted_from = self.confirmed;
        self.commands.restart();
        self.completions.restart();
        self.sends.restart();
        self.send_status.store(0, 0);
        self.sends_awaited = None;
        self.headers.restart();
        self.states = Default::default();
        enable(bus, self.number, self.takes_runs)?;
        Ok(lost)
    }

    /// The memory of its rings, of a context that is disabled.
    pub(crate) fn into_memory(self) -> Vec<ControlMemory> {
        self.memory
    }

    fn ring(&self, bus: &mut dyn Bus, doorbell: u32, value: u32) -> Result<()> {
        let page = doorbell_page(self.number.into());
        Ok(bus.write_register(page + doorbell, value)?)
    }

    /// Queues a command for a ring that the card takes commands from.
    pub(crate) fn try_command(&mut self, entry: [u8; COMMAND_BYTES]) -> Result<Ticket, QueueError> {
        self.check_ring(Ring::Command)?;
        Ok(self.command(entry))
    }

    /// Queues a command, which is never confirmed when the ring has stopped.
    pub(crate) fn command(&mut self, entry: [u8; COMMAND_BYTES]) -> Ticket {
        let number = self.queued_count();
        match self.waiting.is_empty() && self.has_room_for_command() {
            true => self.post_command(&entry),
            false => self.waiting.push_back(entry),
        }
        Ticket::new(self.number, number)
    }

    /// Commands whose fence has passed, as the ring counts them, modulo 2^32.
    fn confirmed_in_ring(&self) -> u32 {
        (self.confirmed - self.counted_from) as u32
    }

    fn has_room_for_command(&self) -> bool {
        self.commands.free_entries(self.confirmed_in_ring()) > 0
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

    /// Whether so many commands are confirmed, or none will be any more.
    pub(crate) fn has_passed(&self, queued: u64) -> bool {
        self.confirmed >= queued || self.has_stopped(Ring::Command)
    }

    /// Commands so far: the number of the next one.
    pub(crate) fn queued_count(&self) -> u64 {
        self.confirmed + self.outstanding() as u64
    }

    fn outstanding(&self) -> usize {
        self.in_flight.len() + self.waiting.len()
    }

    /// Commands queued or in flight that the card may still confirm.
    pub(crate) fn unconfirmed_count(&self) -> usize {
        match self.has_stopped(Ring::Command) {
            true => 0,
            false => self.outstanding(),
        }
    }

    /// The next refused command, if there is one.
    pub(crate) fn take_refused(&mut self) -> Option<RefusedCommand> {
        self.refused.pop_front()
    }

    /// Queues a send descriptor for a ring that the card takes descriptors from.
    #[inline]
    pub(crate) fn try_send(&mut self, descriptor: Descriptor<'_>) -> Result<()> {
        self.check_ring(Ring::Send)?;
        self.send(descriptor);
        Ok(())
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
    pub(crate) fn sends_consumed(&self) -> u32 {
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
        self.sends.unannounced_count() as usize + self.send_waiting.len()
    }

    /// Slots of all descriptors so far, those that wait for the ring included, modulo 2^32.
    pub(crate) fn send_slots(&self) -> u32 {
        let waiting = self.send_waiting.iter().map(|record| record.len());
        let waiting = waiting.sum::<usize>() / SLOT_BYTES;
        self.sends.produced_count().wrapping_add(waiting as u32)
    }

    /// Takes the next header entry into `entry`. Returns whether there was one.
    pub(crate) fn next_header(
        &mut self,
        bus: &mut dyn Bus,
        entry: &mut HeaderEntry,
    ) -> Result<bool> {
        if let Some(left) = self.left.pop_front() {
            *entry = left;
            return Ok(true);
        }
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
        self.commands.unannounced_count() > 0
            || self.sends.unannounced_count() > 0
            || (!self.waiting.is_empty()
                && self.has_room_for_command()
                && !self.has_stopped(Ring::Command))
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
        self.ring(bus, registers::DOORBELL_ARM, self.headers.consumed_count())?;
        let awaited = self.sends_awaited.take();
        if !all {
            return Ok(());
        }
        if self.unconfirmed_count() > 0 {
            self.ring(bus, registers::DOORBELL_ARM_COMMANDS, self.confirmed_in_ring())?;
        }
        match awaited {
            Some(seen) => self.ring(bus, registers::DOORBELL_ARM_SENDS, seen),
            None => Ok(()),
        }
    }
}
