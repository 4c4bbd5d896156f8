//! The slots of walks: which are given out, and what their walks found.
//!
//! Timing: `slot`, `slot_free`, `is_ended` and `outcome` follow from registers and `shown` in the
//! same cycle; an end shows in the next cycle.
//!
//! Invariants:
//! 1. Slots are given out and freed in the same order, as a ring of 16.

use crate::messages::WalkOutcome;
use crate::walks::messages::WalkEnd;
use stream::prelude::*;

/// The slots. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct WalkSlots {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: all slots are free.
    pub reset: Signal<In, Bit>,

    /// A slot is free.
    pub slot_free: Signal<Out, Bit>,
    /// Slot that is given out next.
    pub slot: Signal<Out, Bits<4>>,
    /// `slot` is given out in this cycle.
    pub start: Signal<In, Bit>,
    /// The oldest slot is freed in this cycle.
    pub freed: Signal<In, Bit>,
    /// Ends of walks.
    pub ends: PulseSink<WalkEnd>,
    /// Slot to show.
    pub shown: Signal<In, Bits<4>>,
    /// The walk of slot `shown` has ended.
    pub is_ended: Signal<Out, Bit>,
    /// What the walk of slot `shown` found.
    pub outcome: Signal<Out, WalkOutcome>,

    outcomes: LutRam<WalkOutcome, 4>,
    ended: DFF<Bits<16>>,
    next_slot: DFF<Bits<4>>,
    in_use: DFF<Bits<5>>,

    ended_bit: Signal<Local, Bits<16>>,
    started_bit: Signal<Local, Bits<16>>,
    #[value(16)]
    slots: Constant<Bits<5>>,
    #[value(1)]
    one: Constant<Bits<16>>,
}

impl Logic for WalkSlots {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, ended, next_slot, in_use);
        clock!(self, clock, outcomes);
        self.outcomes.write_address.next = self.ends.payload.val().slot;
        self.outcomes.write_data.next = self.ends.payload.val().outcome;
        self.outcomes.write_enable.next = self.ends.valid.val();
        self.outcomes.read_address.next = self.shown.val();
        self.outcome.next = self.outcomes.read_data.val();
        self.is_ended.next = self.ended.q.val().get_bit(self.shown.val().index());

        self.slot.next = self.next_slot.q.val();
        self.slot_free.next = self.in_use.q.val() != self.slots.val();
        if self.start.val() {
            self.next_slot.d.next = self.next_slot.q.val() + 1;
        }
        if self.start.val() & !self.freed.val() {
            self.in_use.d.next = self.in_use.q.val() + 1;
        }
        if !self.start.val() & self.freed.val() {
            self.in_use.d.next = self.in_use.q.val() - 1;
        }

        // A walk that starts has not ended.
        self.ended_bit.next = 0.into();
        if self.ends.valid.val() {
            self.ended_bit.next = self.one.val() << bit_cast::<16, 4>(self.ends.payload.val().slot);
        }
        self.started_bit.next = 0.into();
        if self.start.val() {
            self.started_bit.next = self.one.val() << bit_cast::<16, 4>(self.next_slot.q.val());
        }
        self.ended.d.next = (self.ended.q.val() | self.ended_bit.val()) & !self.started_bit.val();
        if self.reset.val() {
            self.next_slot.d.next = 0.into();
            self.in_use.d.next = 0.into();
        }
    }
}
