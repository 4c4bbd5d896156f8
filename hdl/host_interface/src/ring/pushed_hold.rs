//! Keeps the send slot that an owner pushed last, and learns from its doorbell which one it is.
//!
//! ```text
//!  pushed ──► first, second ──► (doorbell of the same owner) ──► named: owner, index
//! ```
//! | port | meaning and duty |
//! |---|---|
//! | `settings` | register writes; a line pushed after one comes at least two cycles after it |
//! | `pushed` | one half of a slot in an owner's push window |
//! | `locked` | the slot is read: what is pushed now is lost |
//! | `used` | forget the slot that is named |
//! | `named` | which slot is held whole, once a doorbell has told |
//!
//! Timing: all outputs are registers; a doorbell counts two cycles after its pulse.
//!
//! Invariants:
//! 1. A slot is complete when its first half and then its second one came from the same owner with
//!    no other push and no doorbell of that owner between. The owner's next doorbell names it: the
//!    last slot produced.
//! 2. `named`, `first` and `second` belong together whenever `named.valid` is high; a push makes it
//!    fall.
//! 3. A context that is enabled, or a new epoch, forgets the slot.

use crate::owner::owner_registers::OwnerRegisters;
use abi::registers;
use stream::prelude::*;

/// Which slot is held.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct NamedSlot {
    /// There is one; without it the rest is undefined.
    pub valid: Bit,
    /// Owner of the send ring.
    pub owner: Bits<8>,
    /// Free-running index in the ring.
    pub index: Bits<32>,
}

/// The memory. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct PushedHold<const O: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets the slot.
    pub reset: Signal<In, Bit>,
    /// Register writes.
    pub settings: PulseSink<RegisterWrite>,
    /// Lines pushed.
    pub pushed: PulseSink<PushedLine>,

    /// The slot is read.
    pub locked: Signal<In, Bit>,
    /// The slot that is named is needed no more.
    pub used: Signal<In, Bit>,

    /// Which slot is held.
    pub named: Signal<Out, NamedSlot>,
    /// Its first half.
    pub first: Signal<Out, Bits<512>>,
    /// Its second half.
    pub second: Signal<Out, Bits<512>>,

    registers: OwnerRegisters<O>,
    first_line: DFF<Bits<512>>,
    second_line: DFF<Bits<512>>,
    has_first: DFF<Bit>,
    complete: DFF<Bit>,
    slot: DFF<NamedSlot>,

    rings: Signal<Local, Bit>,
    follows: Signal<Local, Bit>,
    last_produced: Signal<Local, Bits<32>>,

    #[value(u64::from(registers::DOORBELL_SEND))]
    doorbell_field: Constant<Bits<12>>,
    #[value(1)]
    one: Constant<Bits<32>>,
}

impl<const O: usize> Logic for PushedHold<O> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            first_line,
            second_line,
            has_first,
            complete,
            slot
        );
        clock!(self, clock, registers);
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.registers.write);
        self.named.next = self.slot.q.val();
        self.first.next = self.first_line.q.val();
        self.second.next = self.second_line.q.val();

        if self.used.val() {
            self.slot.d.next.valid = false;
        }
        // Halves on both sides of a doorbell do not belong together.
        self.rings.next = self.registers.changed.valid.val()
            & self.registers.changed.payload.val().doorbell
            & (self.registers.changed.payload.val().field == self.doorbell_field.val())
            & (self.registers.changed.payload.val().owner == self.slot.q.val().owner);
        self.last_produced.next = self.registers.changed.payload.val().data - self.one.val();
        if self.rings.val() {
            self.has_first.d.next = false;
            self.complete.d.next = false;
            if self.complete.q.val() {
                self.slot.d.next.valid = true;
                self.slot.d.next.index = self.last_produced.val();
            }
        }

        self.follows.next =
            self.has_first.q.val() & (self.pushed.payload.val().owner == self.slot.q.val().owner);
        if self.pushed.valid.val() {
            self.slot.d.next.valid = false;
            self.has_first.d.next = !self.locked.val() & !self.pushed.payload.val().second;
            self.complete.d.next =
                !self.locked.val() & self.pushed.payload.val().second & self.follows.val();
            if !self.locked.val() {
                self.slot.d.next.owner = self.pushed.payload.val().owner;
                if self.pushed.payload.val().second {
                    self.second_line.d.next = self.pushed.payload.val().data;
                } else {
                    self.first_line.d.next = self.pushed.payload.val().data;
                }
            }
        }
        if self.reset.val()
            | (self.registers.changed.valid.val() & self.registers.changed.payload.val().enable)
        {
            self.has_first.d.next = false;
            self.complete.d.next = false;
            self.slot.d.next.valid = false;
        }
    }
}
