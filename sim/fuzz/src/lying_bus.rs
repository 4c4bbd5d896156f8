//! Header entries that the golden card never wrote.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use abi::config::SLOT_BYTES;
use abi::{header_entry, registers as r};
use host::driver::bus::{Bus, Result};
use host::driver::control_memory::ControlMemory;
use host::driver::rings::phase_of;
use lab::golden_card::GoldenBus;
use lab::hooked_bus::{HookedBus, Hooks, OwnerRings};

/// Slots that are to be written.
pub type Slots = Rc<RefCell<VecDeque<[u8; SLOT_BYTES]>>>;

/// The golden card's bus with such entries.
pub type LyingBus = HookedBus<GoldenBus, Lies>;

/// What is written into the header queue of owner 0.
pub struct Lies {
    slots: Slots,
    rings: OwnerRings,
    consumed: u32,
}

impl Lies {
    /// Writes `slots`, one in each [`Bus::advance`], behind what the host has taken.
    pub fn on(inner: GoldenBus, slots: Slots) -> LyingBus {
        let hooks = Self { slots, rings: OwnerRings::of(0), consumed: 0 };
        HookedBus { inner, hooks }
    }

    fn lie(&self, mut slot: [u8; SLOT_BYTES]) {
        let phase = phase_of(self.consumed, self.rings.header_bits());
        header_entry::PHASE.set(&mut slot, phase);
        if let Some((memory, offset)) = self.rings.header_slot(self.consumed) {
            memory.write(offset, &slot);
        }
    }
}

impl Hooks<GoldenBus> for Lies {
    fn write_register(&mut self, bus: &mut GoldenBus, offset: u32, value: u32) -> Result<()> {
        self.rings.note_register(offset, value);
        if self.rings.doorbell(offset) == Some(r::DOORBELL_HEADER) {
            self.consumed = value;
        }
        bus.write_register(offset, value)
    }

    fn note_control(&mut self, memory: &ControlMemory) {
        self.rings.note_memory(memory);
    }

    fn advance(&mut self, bus: &mut GoldenBus) -> Result<()> {
        let next = self.slots.borrow_mut().pop_front();
        match next {
            Some(slot) => self.lie(slot),
            None => bus.advance()?,
        }
        Ok(())
    }
}
