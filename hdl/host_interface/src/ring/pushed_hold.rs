//! Keeps the send slot that was pushed last, and learns from its owner's doorbell which slot it is.
//!
//! ```text
//!  pushed ──► first, second ──► (doorbell of the same owner) ──► named: owner, index
//! ```
//! Timing: all outputs are registers. A doorbell counts two cycles after its pulse in `settings`; a
//! line pushed after a register write must come at least two cycles after it.
//!
//! Invariants:
//! 1. A slot is complete when its first half and then its second half came from the same owner,
//!    with no other push and no doorbell of that owner between them. The owner's next doorbell
//!    names it: it is the last slot produced.
//! 2. `named`, `first` and `second` belong together whenever `named.valid` is high. A push makes it
//!    fall.
//! 3. A context that is enabled, or a new epoch, forgets the slot.
//!
//! Source: `docs/specification.md`, Pushed slots.

use crate::owner::owner_registers::OwnerRegisters;
use abi::registers;
use stream::prelude::*;

/// The slot that is kept.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct NamedSlot {
    /// A slot is kept and named; without it the other fields are undefined.
    pub valid: Bit,
    /// Owner of the send ring.
    pub owner: Bits<8>,
    /// Free-running index of the slot in the ring.
    pub index: Bits<32>,
}

/// The memory. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct PushedHold<const OWNER_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the slot.
    pub reset: Signal<In, Bit>,
    /// Register writes of the host.
    pub settings: PulseSink<RegisterWrite>,
    /// Halves of slots, written to the push windows.
    pub pushed: PulseSink<PushedLine>,

    /// The slot is being read: what is pushed now is dropped.
    pub locked: Signal<In, Bit>,
    /// Forget the slot that is named.
    pub used: Signal<In, Bit>,

    /// The slot that is kept, once a doorbell has named it.
    pub named: Signal<Out, NamedSlot>,
    /// First half of the slot.
    pub first: Signal<Out, Bits<512>>,
    /// Second half of the slot.
    pub second: Signal<Out, Bits<512>>,

    registers: OwnerRegisters<OWNER_BITS>,
    first_line: DFF<Bits<512>>,
    second_line: DFF<Bits<512>>,
    has_first: DFF<Bit>,
    complete: DFF<Bit>,
    slot: DFF<NamedSlot>,

    rings: Signal<Local, Bit>,
    follows: Signal<Local, Bit>,

    #[value(u64::from(registers::DOORBELL_SEND))]
    doorbell_field: Constant<Bits<12>>,
    #[value(1)]
    one: Constant<Bits<32>>,
}

impl<const OWNER_BITS: usize> Logic for PushedHold<OWNER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, first_line, second_line, has_first, complete, slot);
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
        if self.rings.val() {
            self.has_first.d.next = false;
            self.complete.d.next = false;
            if self.complete.q.val() {
                self.slot.d.next.valid = true;
                self.slot.d.next.index = self.registers.changed.payload.val().data - self.one.val();
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
