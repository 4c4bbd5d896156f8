//! What a poll does for one owner: posts what is queued, rings doorbells, takes completions.

use abi::config::SLOT_BYTES;
use abi::reason::CommandStatus;
use abi::registers;

use super::{doorbell_page, Owner, Ring};
use crate::driver::bus::Bus;
use crate::driver::error::Result;
use crate::records::descriptor::Descriptor;
use crate::records::ticket::{RefusedCommand, Ticket};

impl Owner {
    /// Posts what is queued, rings doorbells that changed, takes completions. Returns whether
    /// anything moved.
    pub(crate) fn poll(&mut self, bus: &mut dyn Bus) -> Result<bool> {
        let mut moved = self.post_commands(bus)?;
        moved |= self.post_sends(bus)?;
        moved |= self.take_completions();
        Ok(moved)
    }

    pub(super) fn post_commands(&mut self, bus: &mut dyn Bus) -> Result<bool> {
        while self.has_room_for_command() && !self.has_stopped(Ring::Command) {
            let Some(entry) = self.waiting.pop_front() else { break };
            self.post_command(&entry);
        }
        let Some(produced) = self.commands.announce() else { return Ok(false) };
        self.ring(bus, registers::DOORBELL_COMMAND, produced)?;
        Ok(true)
    }

    pub(super) fn post_sends(&mut self, bus: &mut dyn Bus) -> Result<bool> {
        while let Some(descriptor) = self.send_waiting.front() {
            if !self.has_room_for_slots(descriptor.len() / SLOT_BYTES) {
                break;
            }
            if let Some(descriptor) = self.send_waiting.pop_front() {
                self.post_send(Descriptor::of(&descriptor));
            }
        }
        let slots = self.sends.unannounced_count();
        let Some(produced) = self.sends.announce() else { return Ok(false) };
        // A descriptor of one slot that is pushed into an empty ring need not be fetched.
        if self.push_slots && slots == 1 && self.sends_consumed() == produced.wrapping_sub(1) {
            self.push(bus)?;
        }
        self.ring(bus, registers::DOORBELL_SEND, produced)?;
        Ok(true)
    }

    /// Writes a copy of the slot that the next doorbell announces into the push window.
    pub(super) fn push(&self, bus: &mut dyn Bus) -> Result<()> {
        let window = doorbell_page(self.number.into()) + registers::PUSH_WINDOW;
        let mut slot = [0; SLOT_BYTES];
        self.sends.copy_last(&mut slot);
        let (lines, _) = slot.as_chunks::<{ registers::PUSH_BYTES }>();
        for (at, line) in (window..).step_by(registers::PUSH_BYTES).zip(lines) {
            bus.write_line(at, line)?;
        }
        Ok(())
    }

    pub(super) fn take_completions(&mut self) -> bool {
        let mut moved = false;
        while let Some(completion) = self.completions.poll() {
            moved = true;
            // An entry confirms all commands up to its own.
            let ahead = completion.index.wrapping_sub(self.confirmed_in_ring());
            for step in 0..=ahead {
                let Some(command) = self.in_flight.pop_front() else { break };
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
