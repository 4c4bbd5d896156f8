//! Remembers which beat of which slot the splitter holds.
//!
//! ```text
//!  load ──► beat held: first or second of its slot, opens a descriptor or not ──► slot
//!  fetch ─► owner and index of the fetch that comes next, while none is in work ─► owner, index
//! ```
//! Timing: `slot` is a register. `owner` and `index` name the fetch that comes next while no fetch
//! is in work.
//!
//! Invariants:
//! 1. `slot.index` is the index of the slot held, counted from the fetch's first index, or one less
//!    while the kept slot goes first.

use stream::prelude::*;

/// The beat held.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct HeldBeatState {
    /// A beat is held.
    pub valid: Bit,
    /// More beats of its fetch follow.
    pub in_fetch: Bit,
    /// The first beat of the kept slot goes before the beat held.
    pub kept_first: Bit,
    /// The second beat of the kept slot goes before the beat held.
    pub kept_second: Bit,
    /// The beat held is the first one of its slot.
    pub first: Bit,
    /// The slot held is the first one of its descriptor.
    pub opens: Bit,
    /// With `opens`: the descriptor takes two slots.
    pub two_slots: Bit,
    /// Owner of the slot.
    pub owner: Bits<8>,
    /// Index of the slot held, or of the kept slot while that one goes first.
    pub index: Bits<32>,
}

/// The state of the beat held. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct HeldBeat {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// No beat is held and no fetch is in work.
    pub reset: Signal<In, Bit>,

    /// Owner and first index of the fetch that comes next.
    pub fetch: Signal<In, RingFetch>,
    /// A beat is taken and held.
    pub load: Signal<In, Bit>,
    /// The beat of `load` is the last one of its fetch.
    pub load_last: Signal<In, Bit>,
    /// Two-slots flag of the beat of `load`.
    pub load_two_slots: Signal<In, Bit>,
    /// The fetch that begins continues a kept slot.
    pub joins: Signal<In, Bit>,
    /// The slot held is kept for its owner, with the last beat of the fetch.
    pub keep: Signal<In, Bit>,
    /// A beat is handed on.
    pub hand_on: Signal<In, Bit>,

    /// The beat held.
    pub slot: Signal<Out, HeldBeatState>,
    /// Owner of the beat held, or of the fetch that comes next.
    pub owner: Signal<Out, Bits<8>>,
    /// Index of the slot held, or of the first slot of the fetch that comes next.
    pub index: Signal<Out, Bits<32>>,

    held: DFF<HeldBeatState>,
    half: DFF<Bit>,

    index_after: Signal<Local, Bits<32>>,
    #[value(1)]
    one: Constant<Bits<32>>,
}

impl Logic for HeldBeat {
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
                    self.held.d.next.index = self.fetch.val().index - self.one.val();
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
