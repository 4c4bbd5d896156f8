//! Interrupts of a golden device: raised when what an owner is armed for is visible to the host.
//!
//! ```text
//!   doorbells ─► armed ──┐
//!   writes ────► visible ┴─► beyond? ─► vectors, oldest first
//! ```
//! A vector is that of its owner. Masks and moderation are the RTL's alone.
//!
//! Source: docs/specification.md, Interrupts.

use std::collections::VecDeque;

use abi::config::{COMPLETION_BYTES, SLOT_BYTES};
use abi::{completion, registers as r};

/// Rings that raise interrupts: header queue, confirmations, send status.
const RINGS: usize = 3;

#[derive(Clone, Copy, Debug, Default)]
struct Owner {
    context: [u32; 16],
    armed: [Option<u32>; RINGS],
    visible: [u32; RINGS],
}

impl Owner {
    fn word(&self, offset: u32) -> u32 {
        self.context[offset as usize / 4]
    }

    fn is_enabled(&self) -> bool {
        self.word(r::CONTEXT_ENABLE) & 1 == 1
    }

    /// Whether an address lies in the memory that a context word names.
    fn holds(&self, address: u64, offset: u32, bytes: usize) -> bool {
        let base = u64::from(self.word(offset + 4)) << 32 | u64::from(self.word(offset));
        (base..base + bytes as u64).contains(&address)
    }

    /// The ring that a write extends, and its new index.
    fn find_extended(&self, address: u64, bytes: &[u8]) -> Option<(usize, u32)> {
        let bits = |byte: u32| self.word(r::CONTEXT_SIZES) >> (8 * byte) & 0xff;
        if self.holds(address, r::CONTEXT_HEADER_BASE, SLOT_BYTES << bits(2)) {
            return Some((0, self.visible[0].wrapping_add(1)));
        }
        if self.holds(address, r::CONTEXT_COMPLETION_BASE, COMPLETION_BYTES << bits(0)) {
            return Some((1, (completion::INDEX.get(bytes) as u32).wrapping_add(1)));
        }
        let is_status = self.holds(address, r::CONTEXT_SEND_STATUS, 4);
        let index = bytes.first_chunk().filter(|_| is_status)?;
        Some((2, u32::from_le_bytes(*index)))
    }

    /// Disarms the owner if it is due.
    fn takes_message(&mut self) -> bool {
        let is_beyond = |(armed, visible): (&Option<u32>, &u32)| {
            armed.is_some_and(|seen| (1..1 << 31).contains(&visible.wrapping_sub(seen)))
        };
        let is_due = self.armed.iter().zip(&self.visible).any(is_beyond);
        if is_due {
            self.armed = [None; RINGS];
        }
        is_due
    }
}

/// The interrupts of a card. See the head of this file.
#[derive(Clone, Debug, Default)]
pub struct Interrupts {
    owners: Vec<Owner>,
    messages: VecDeque<u16>,
}

impl Interrupts {
    /// Those of a card with so many owners.
    pub fn new(owners: usize) -> Self {
        Self { owners: vec![Owner::default(); owners], messages: VecDeque::new() }
    }

    /// The next vector.
    pub fn take_next(&mut self) -> Option<u16> {
        self.messages.pop_front()
    }

    fn raise(&mut self, number: usize) {
        if self.owners[number].takes_message() {
            self.messages.push_back(number as u16);
        }
    }

    /// The card has written host memory.
    pub fn note_write(&mut self, address: u64, bytes: &[u8]) {
        let owners = self.owners.iter().enumerate().filter(|(_, owner)| owner.is_enabled());
        let mut found = owners
            .filter_map(|(number, owner)| Some((number, owner.find_extended(address, bytes)?)));
        let Some((number, (ring, index))) = found.next() else { return };
        self.owners[number].visible[ring] = index;
        self.raise(number);
    }

    /// The host has written a register.
    pub fn note_register(&mut self, offset: u32, value: u32) {
        if offset == r::CONTROL && value & r::CONTROL_RESET != 0 {
            self.owners.fill(Owner::default());
        } else if let Some(at) = offset.checked_sub(r::DOORBELLS) {
            self.note_doorbell(at, value);
        } else if let Some(at) = offset.checked_sub(r::CONTEXTS) {
            let Some(owner) = self.owners.get_mut((at / r::CONTEXT_STRIDE) as usize) else {
                return;
            };
            let field = at % r::CONTEXT_STRIDE;
            owner.context[field as usize / 4] = value;
            if field == r::CONTEXT_ENABLE {
                *owner = Owner { context: owner.context, ..Owner::default() };
            }
        }
    }

    fn note_doorbell(&mut self, at: u32, value: u32) {
        let number = (at / r::DOORBELL_STRIDE) as usize;
        let ring = match at % r::DOORBELL_STRIDE {
            r::DOORBELL_ARM => 0,
            r::DOORBELL_ARM_COMMANDS => 1,
            r::DOORBELL_ARM_SENDS => 2,
            _ => return,
        };
        if let Some(owner) = self.owners.get_mut(number) {
            owner.armed[ring] = Some(value);
            self.raise(number);
        }
    }
}
