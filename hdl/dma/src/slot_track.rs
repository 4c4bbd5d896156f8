//! Remembers which slot is in work.
//!
//! Timing: every output is a register.
//!
//! Invariants:
//! 1. `index` is that of the slot in work, from the fetch's first index on, or one before it for a
//!    kept slot.

use stream::prelude::*;

/// The slot in work.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SlotInWork {
    /// Owner.
    pub owner: Bits<8>,
    /// Index.
    pub index: Bits<32>,
    /// Its descriptor takes two slots.
    pub two_slots: Bit,
    /// It is the second of them.
    pub is_second: Bit,
    /// It is a kept one.
    pub is_carried: Bit,
}

/// The memory. See the module's head.
#[derive(LogicBlock)]
pub struct SlotTrack {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// A fetch begins.
    pub start: Signal<In, Bit>,
    /// Its message.
    pub fetch: Signal<In, RingFetch>,
    /// The kept slot before it goes first.
    pub resume: Signal<In, Bit>,
    /// The first beat of a descriptor came.
    pub open: Signal<In, Bit>,
    /// The descriptor takes two slots.
    pub two_slots: Signal<In, Bit>,
    /// The slot is done.
    pub step: Signal<In, Bit>,

    /// The slot.
    pub slot: Signal<Out, SlotInWork>,

    held: DFF<SlotInWork>,
    index_before: Signal<Local, Bits<32>>,
    index_after: Signal<Local, Bits<32>>,
    one: Constant<Bits<32>>,
}

impl Default for SlotTrack {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            start: Default::default(),
            fetch: Default::default(),
            resume: Default::default(),
            open: Default::default(),
            two_slots: Default::default(),
            step: Default::default(),
            slot: Default::default(),
            held: Default::default(),
            index_before: Default::default(),
            index_after: Default::default(),
            one: Constant::new(1u32.to_bits()),
        }
    }
}

impl Logic for SlotTrack {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        self.index_before.next = self.held.q.val().index - self.one.val();
        self.index_after.next = self.held.q.val().index + self.one.val();
        if self.start.val() {
            self.held.d.next.owner = self.fetch.val().owner;
            self.held.d.next.index = self.fetch.val().index;
            self.held.d.next.is_second = false;
            self.held.d.next.is_carried = false;
        }
        if self.resume.val() {
            self.held.d.next.index = self.index_before.val();
            self.held.d.next.two_slots = true;
            self.held.d.next.is_carried = true;
        }
        if self.open.val() {
            self.held.d.next.two_slots = self.two_slots.val();
        }
        if self.step.val() {
            self.held.d.next.index = self.index_after.val();
            self.held.d.next.is_second = self.held.q.val().two_slots & !self.held.q.val().is_second;
            self.held.d.next.is_carried = false;
        }
        self.slot.next = self.held.q.val();
    }
}
