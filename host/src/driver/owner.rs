//! One owner of the card: its rings, its commands in flight, its header queue.
//!
//! ```text
//!   commands ─► command ring ─► doorbell        completions ─► confirmed, refused
//!   descriptors ─► send ring ─► doorbell        header queue, slow buffers ─► header entries
//! ```
//! Commands are numbered from 0. An entry of the completion ring confirms all commands up to its
//! own.

use std::collections::VecDeque;

use abi::config::{COMMAND_BYTES, COMPLETION_BYTES, SLOT_BYTES, SLOW_BUFFER_BYTES};
use abi::reason::CommandStatus;
use abi::{command, registers};

use super::bus::{Bus, DmaMemory, MemoryKind};
use super::error::Result;
use super::rings::{CompletionRing, HeaderEntry, HeaderQueue, PostRing, RingSizes};
use super::ticket::{RefusedCommand, Ticket};
use crate::control::descriptor::Descriptor;

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
    commands: PostRing,
    waiting: VecDeque<[u8; COMMAND_BYTES]>,
    in_flight: VecDeque<InFlight>,
    confirmed: u64,
    refused: VecDeque<RefusedCommand>,
    completions: CompletionRing,
    sends: PostRing,
    push_slots: bool,
    send_waiting: VecDeque<Descriptor>,
    send_status: DmaMemory,
    headers: HeaderQueue,
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
        let mut ring = |entry_bytes: usize, bits: u32, align: usize| {
            bus.allocate(MemoryKind::Control, (entry_bytes << bits).max(4096), align)
        };
        let commands = ring(COMMAND_BYTES, sizes.command_bits, 4096)?;
        let completions = ring(COMPLETION_BYTES, sizes.command_bits, 4096)?;
        let sends = ring(SLOT_BYTES, sizes.send_bits, 4096)?;
        let send_status = ring(64, 0, 4096)?;
        let headers = ring(SLOT_BYTES, sizes.header_bits, 4096)?;
        let slow = ring(SLOW_BUFFER_BYTES, sizes.slow_bits, SLOW_BUFFER_BYTES)?;
        let context = registers::CONTEXTS + u32::from(number) * registers::CONTEXT_STRIDE;
        for (offset, memory) in [
            (registers::CONTEXT_COMMAND_BASE, &commands),
            (registers::CONTEXT_COMPLETION_BASE, &completions),
            (registers::CONTEXT_SEND_BASE, &sends),
            (registers::CONTEXT_SEND_STATUS, &send_status),
            (registers::CONTEXT_HEADER_BASE, &headers),
            (registers::CONTEXT_SLOW_BASE, &slow),
        ] {
            bus.write_register(context + offset, memory.address as u32)?;
            bus.write_register(context + offset + 4, (memory.address >> 32) as u32)?;
        }
        let word = sizes.command_bits
            | sizes.send_bits << 8
            | sizes.header_bits << 16
            | sizes.slow_bits << 24;
        let headers = HeaderQueue::new(bus, number, headers, sizes.header_bits, slow)?;
        bus.write_register(context + registers::CONTEXT_SIZES, word)?;
        bus.write_register(context + registers::CONTEXT_ENABLE, 1)?;
        Ok(Self {
            number,
            commands: PostRing::new(commands, COMMAND_BYTES, sizes.command_bits),
            waiting: VecDeque::new(),
            in_flight: VecDeque::new(),
            confirmed: 0,
            refused: VecDeque::new(),
            completions: CompletionRing::new(completions, sizes.command_bits),
            sends: PostRing::new(sends, SLOT_BYTES, sizes.send_bits),
            push_slots,
            send_waiting: VecDeque::new(),
            send_status,
            headers,
        })
    }

    fn ring(&self, bus: &mut dyn Bus, doorbell: u32, value: u32) -> Result<()> {
        let page = doorbell_page(self.number.into());
        Ok(bus.write_register(page + doorbell, value)?)
    }

    /// Queues a command.
    pub(crate) fn command(&mut self, entry: [u8; COMMAND_BYTES]) -> Ticket {
        let ahead = self.unconfirmed() as u64;
        self.waiting.push_back(entry);
        Ticket::new(self.number, self.confirmed + ahead)
    }

    /// Whether the fence of a command of this owner has passed.
    pub(crate) fn has_confirmed(&self, ticket: Ticket) -> bool {
        ticket.number() < self.confirmed
    }

    /// Commands whose fence has passed.
    pub(crate) fn confirmed(&self) -> u64 {
        self.confirmed
    }

    /// Commands queued or in flight.
    pub(crate) fn unconfirmed(&self) -> usize {
        self.in_flight.len() + self.waiting.len()
    }

    /// The next refused command, if there is one.
    pub(crate) fn take_refused(&mut self) -> Option<RefusedCommand> {
        self.refused.pop_front()
    }

    /// Queues a send descriptor of one or two slots.
    pub(crate) fn send(&mut self, descriptor: &[u8]) {
        assert!(
            matches!(descriptor.len(), SLOT_BYTES | 0x100),
            "one or two slots"
        );
        let mut slots = Descriptor::new();
        let fits = slots.try_extend_from_slice(descriptor);
        debug_assert!(fits.is_ok(), "its length was checked");
        self.send_waiting.push_back(slots);
    }

    /// Descriptors not handed to the card yet.
    pub(crate) fn sends_waiting(&self) -> usize {
        self.send_waiting.len()
    }

    /// Takes the next header entry into `entry`. Returns whether there was one.
    pub(crate) fn next_header(
        &mut self,
        bus: &mut dyn Bus,
        entry: &mut HeaderEntry,
    ) -> Result<bool> {
        self.headers.poll(bus, entry)
    }

    /// Reports to the card how far the header queue and the slow buffers were emptied, if anything
    /// was taken since the last report.
    pub(crate) fn return_headers(&mut self, bus: &mut dyn Bus) -> Result<()> {
        let Some((slots, slow)) = self.headers.take_returns() else {
            return Ok(());
        };
        self.ring(bus, registers::DOORBELL_HEADER, slots)?;
        self.ring(bus, registers::DOORBELL_SLOW, slow)
    }

    /// Arms the interrupt for the first header entry that was not taken yet.
    pub(crate) fn arm(&self, bus: &mut dyn Bus) -> Result<()> {
        self.ring(bus, registers::DOORBELL_ARM, self.headers.consumed())
    }

    /// Posts what is queued, rings doorbells that changed, takes completions. Returns whether
    /// anything moved.
    pub(crate) fn poll(&mut self, bus: &mut dyn Bus) -> Result<bool> {
        let mut moved = self.post_commands(bus)?;
        moved |= self.post_sends(bus)?;
        moved |= self.take_completions(bus)?;
        Ok(moved)
    }

    fn post_commands(&mut self, bus: &mut dyn Bus) -> Result<bool> {
        let mut moved = false;
        while self.commands.free_entries(self.confirmed as u32) > 0 {
            let Some(entry) = self.waiting.pop_front() else {
                break;
            };
            self.commands.post(bus, &entry)?;
            self.in_flight.push_back(InFlight {
                opcode: command::OPCODE.get(&entry) as u8,
                flow: command::FLOW.get(&entry) as u16,
                generation: command::GENERATION.get(&entry) as u8,
            });
            moved = true;
        }
        if moved {
            let produced = self.commands.produced();
            self.ring(bus, registers::DOORBELL_COMMAND, produced)?;
        }
        Ok(moved)
    }

    /// Consumer index of the send ring, as the card wrote it last.
    fn sends_consumed(&self, bus: &mut dyn Bus) -> Result<u32> {
        let mut status = [0; 4];
        bus.read_memory(self.send_status.address, &mut status)?;
        Ok(u32::from_le_bytes(status))
    }

    /// Consumer and producer index of the send ring.
    pub(crate) fn sends(&self, bus: &mut dyn Bus) -> Result<(u32, u32)> {
        Ok((self.sends_consumed(bus)?, self.sends.produced()))
    }

    fn post_sends(&mut self, bus: &mut dyn Bus) -> Result<bool> {
        if self.send_waiting.is_empty() {
            return Ok(false);
        }
        let consumed = self.sends_consumed(bus)?;
        // A descriptor that is pushed into an empty ring need not be fetched.
        let is_alone = consumed == self.sends.produced() && self.send_waiting.len() == 1;
        let mut moved = false;
        while let Some(descriptor) = self.send_waiting.front() {
            let slots = (descriptor.len() / SLOT_BYTES) as u32;
            if self.sends.free_entries(consumed) < slots {
                break;
            }
            for slot in descriptor.chunks(SLOT_BYTES) {
                self.sends.post(bus, slot)?;
            }
            if self.push_slots && is_alone && slots == 1 {
                self.push(bus, descriptor)?;
            }
            self.send_waiting.pop_front();
            moved = true;
        }
        if moved {
            let produced = self.sends.produced();
            self.ring(bus, registers::DOORBELL_SEND, produced)?;
        }
        Ok(moved)
    }

    /// Writes a copy of the slot that the next doorbell announces into the push window.
    fn push(&self, bus: &mut dyn Bus, slot: &[u8]) -> Result<()> {
        let window = doorbell_page(self.number.into()) + registers::PUSH_WINDOW;
        let (lines, _) = slot.as_chunks::<{ registers::PUSH_BYTES }>();
        for (at, line) in (window..).step_by(registers::PUSH_BYTES).zip(lines) {
            bus.write_line(at, line)?;
        }
        Ok(())
    }

    fn take_completions(&mut self, bus: &mut dyn Bus) -> Result<bool> {
        let mut moved = false;
        while let Some(completion) = self.completions.poll(bus)? {
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
        Ok(moved)
    }
}
