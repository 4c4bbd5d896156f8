//! Remembers which beat of which slot is held.
//!
//! Timing: `slot` is a register; `owner` and `index` name the fetch that comes next while no fetch
//! is begun.
//!
//! Invariants:
//! 1. `slot.index` is that of the slot held, from the fetch's first index on, or one before it
//!    while the kept slot goes first.

use stream::prelude::*;

/// The beat held.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SlotInWork {
    /// There is one.
    pub valid: Bit,
    /// More beats of its fetch follow.
    pub in_fetch: Bit,
    /// First beat of the kept slot goes before it.
    pub kept_first: Bit,
    /// Second beat of the kept slot goes before it.
    pub kept_second: Bit,
    /// It is the first beat of its slot.
    pub first: Bit,
    /// Its slot is the first of its descriptor.
    pub opens: Bit,
    /// With `opens`: the descriptor takes two slots.
    pub two_slots: Bit,
    /// Owner.
    pub owner: Bits<8>,
    /// Index of the slot, or of the kept one.
    pub index: Bits<32>,
}

/// The memory. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct SlotTrack {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Nothing is held.
    pub reset: Signal<In, Bit>,

    /// Message of the fetch that comes next.
    pub fetch: Signal<In, RingFetch>,
    /// A beat is taken and held.
    pub load: Signal<In, Bit>,
    /// It is the fetch's last one.
    pub load_last: Signal<In, Bit>,
    /// Its two-slots flag.
    pub load_two_slots: Signal<In, Bit>,
    /// The fetch continues a kept slot.
    pub joins: Signal<In, Bit>,
    /// The slot held is kept for its owner, with the fetch's last beat.
    pub keep: Signal<In, Bit>,
    /// A beat is handed on.
    pub hand_on: Signal<In, Bit>,

    /// The beat held.
    pub slot: Signal<Out, SlotInWork>,
    /// Owner of the slot, or of the fetch that comes next.
    pub owner: Signal<Out, Bits<8>>,
    /// Index of the slot, or the first one of the fetch that comes next.
    pub index: Signal<Out, Bits<32>>,

    held: DFF<SlotInWork>,
    half: DFF<Bit>,

    index_before: Signal<Local, Bits<32>>,
    index_after: Signal<Local, Bits<32>>,
    #[value(1)]
    one: Constant<Bits<32>>,
}

impl Logic for SlotTrack {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held, half);
        self.slot.next = self.held.q.val();
        self.owner.next = self.held.q.val().owner;
        self.index.next = self.held.q.val().index;
        if !self.held.q.val().in_fetch {
            self.owner.next = self.fetch.val().owner;
            self.index.next = self.fetch.val().index;
        }
        self.index_before.next = self.fetch.val().index - self.one.val();
        self.index_after.next = self.held.q.val().index + self.one.val();

        // A beat leaves, those of the kept slot first.
        if self.held.q.val().kept_first {
            if self.hand_on.val() {
                self.held.d.next.kept_first = false;
                self.held.d.next.kept_second = true;
            }
        } else if self.held.q.val().kept_second {
            if self.hand_on.val() {
                self.held.d.next.kept_second = false;
                self.held.d.next.index = self.index_after.val();
            }
        } else if self.hand_on.val() {
            self.held.d.next.valid = false;
        }
        if self.keep.val() {
            self.held.d.next.valid = false;
            self.held.d.next.in_fetch = false;
        }

        // A beat comes: the first of a fetch, of a slot, or the second of a slot.
        if self.load.val() {
            self.held.d.next.valid = true;
            self.held.d.next.in_fetch = !self.load_last.val();
            self.held.d.next.first = true;
            self.half.d.next = true;
            if !self.held.q.val().in_fetch {
                self.held.d.next.owner = self.fetch.val().owner;
                self.held.d.next.index = self.fetch.val().index;
                self.held.d.next.opens = !self.joins.val();
                self.held.d.next.two_slots = self.load_two_slots.val();
                self.held.d.next.kept_first = self.joins.val();
                if self.joins.val() {
                    self.held.d.next.index = self.index_before.val();
                }
            } else if self.half.q.val() {
                self.held.d.next.first = false;
                self.half.d.next = false;
            } else {
                self.held.d.next.index = self.index_after.val();
                self.held.d.next.opens = !(self.held.q.val().opens & self.held.q.val().two_slots);
                self.held.d.next.two_slots = self.load_two_slots.val();
            }
        }
        if self.reset.val() {
            self.held.d.next.valid = false;
            self.held.d.next.in_fetch = false;
            self.held.d.next.kept_first = false;
            self.held.d.next.kept_second = false;
        }
    }
}
