//! Decides, beat by beat, where the slots of a fetch go: the control of [`crate::ring::slots`].
//!
//! ```text
//!  beat offered ──► beat held ──► handed on, or kept for the owner
//!                      ▲ a kept slot goes before it
//! ```
//! Timing: outputs follow the registers and the inputs of the same cycle; one beat a cycle.
//!
//! Invariants: those of [`crate::ring::slots`], and
//! 1. The first beat of a descriptor of two slots waits for the beat behind it, which tells whether
//!    the second slot comes in the same fetch.

use crate::ring::slot_track::{SlotInWork, SlotTrack};
use stream::prelude::*;

/// What is offered, and what is wanted, before it is known what is taken.
#[derive(LogicBlock, Default)]
pub struct SlotOffer {
    /// The slot held.
    pub slot: Signal<In, SlotInWork>,
    /// A beat of the fetch is there.
    pub entry_valid: Signal<In, Bit>,
    /// It is the fetch's last one.
    pub entry_last: Signal<In, Bit>,
    /// A fetch may begin.
    pub may_begin: Signal<In, Bit>,

    /// A beat of the kept slot goes before the one held.
    pub at_kept: Signal<Out, Bit>,
    /// The slot held is kept, for its second one is not in this fetch.
    pub splits: Signal<Out, Bit>,
    /// A beat of a descriptor is offered.
    pub offers: Signal<Out, Bit>,
    /// It is the descriptor's first one.
    pub names: Signal<Out, Bit>,
    /// A beat would be held.
    pub wants: Signal<Out, Bit>,

    kept: Signal<Local, Bit>,
    is_first: Signal<Local, Bit>,
}

impl Logic for SlotOffer {
    #[hdl_gen]
    fn update(&mut self) {
        self.kept.next = self.slot.val().kept_first | self.slot.val().kept_second;
        self.at_kept.next = self.kept.val();
        self.is_first.next = self.slot.val().first & self.slot.val().opens;
        self.splits.next = self.slot.val().valid
            & !self.kept.val()
            & self.is_first.val()
            & self.slot.val().two_slots
            & self.entry_valid.val()
            & self.entry_last.val();
        self.offers.next = self.kept.val()
            | (self.slot.val().valid
                & (!self.is_first.val()
                    | !self.slot.val().two_slots
                    | (self.entry_valid.val() & !self.entry_last.val())));
        self.names.next =
            self.slot.val().kept_first | (!self.slot.val().kept_second & self.is_first.val());
        self.wants.next = self.slot.val().in_fetch | self.may_begin.val();
    }
}

/// The control. See the module's head.
#[derive(LogicBlock, Default)]
pub struct SlotControl {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets the fetch.
    pub reset: Signal<In, Bit>,

    /// Whose slots follow.
    pub fetched: MessageSink<RingFetch>,
    /// Whose descriptor follows.
    pub descriptor_fetch: MessageSource<RingFetch>,

    /// A beat of the fetch is there.
    pub entry_valid: Signal<In, Bit>,
    /// It is the fetch's last one.
    pub entry_last: Signal<In, Bit>,
    /// Its two-slots flag, of meaning in a descriptor's first beat.
    pub entry_two_slots: Signal<In, Bit>,
    /// It is taken.
    pub entry_ready: Signal<Out, Bit>,
    /// It is taken and held.
    pub load: Signal<Out, Bit>,

    /// Owner of the slot, or of the fetch that comes next.
    pub owner: Signal<Out, Bits<8>>,
    /// Index of the slot, or the first one of the fetch that comes next.
    pub index: Signal<Out, Bits<32>>,
    /// The fetch that comes next continues a kept slot: as it was a cycle before.
    pub joins: Signal<In, Bit>,
    /// Keep the slot.
    pub save: Signal<Out, Bit>,
    /// Forget the kept slot.
    pub drop: Signal<Out, Bit>,

    /// A beat of a descriptor is offered.
    pub beat_valid: Signal<Out, Bit>,
    /// It is the descriptor's last one.
    pub beat_last: Signal<Out, Bit>,
    /// It is the kept slot's first one.
    pub kept_first: Signal<Out, Bit>,
    /// It is the kept slot's second one.
    pub kept_second: Signal<Out, Bit>,
    /// It is taken.
    pub beat_ready: Signal<In, Bit>,

    offer: SlotOffer,
    track: SlotTrack,
    announced: DFF<Bit>,
    known: DFF<Bit>,

    slot: Signal<Local, SlotInWork>,
    begins: Signal<Local, Bit>,
    is_named: Signal<Local, Bit>,
    hands_on: Signal<Local, Bit>,
    free: Signal<Local, Bit>,
    loads: Signal<Local, Bit>,
}

impl Logic for SlotControl {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, announced, known);
        clock!(self, clock, track);
        self.slot.next = self.track.slot.val();
        self.owner.next = self.track.owner.val();
        self.index.next = self.track.index.val();

        // Out: the kept slot, then the beat held.
        self.kept_first.next = self.slot.val().kept_first;
        self.kept_second.next = self.slot.val().kept_second;
        self.offer.slot.next = self.slot.val();
        self.offer.entry_valid.next = self.entry_valid.val();
        self.offer.entry_last.next = self.entry_last.val();
        self.offer.may_begin.next = self.fetched.valid.val() & self.known.q.val();
        self.is_named.next = !self.offer.names.val() | self.announced.q.val();
        self.descriptor_fetch.valid.next =
            self.offer.offers.val() & self.offer.names.val() & !self.announced.q.val();
        self.descriptor_fetch.payload.next.owner = self.slot.val().owner;
        self.descriptor_fetch.payload.next.index = self.slot.val().index;
        self.beat_valid.next =
            self.offer.offers.val() & (self.is_named.val() | self.descriptor_fetch.ready.val());
        self.beat_last.next = !self.offer.at_kept.val()
            & !self.slot.val().first
            & (!self.slot.val().opens | !self.slot.val().two_slots);
        self.hands_on.next = self.offer.offers.val()
            & (self.is_named.val() | self.descriptor_fetch.ready.val())
            & self.beat_ready.val();
        if self.hands_on.val() {
            self.announced.d.next = false;
        } else if self.offer.offers.val()
            & self.offer.names.val()
            & self.descriptor_fetch.ready.val()
        {
            self.announced.d.next = true;
        }

        // In: the next beat is held, or kept with the held one. A fetch begins when `joins` holds.
        self.free.next = !self.slot.val().valid | (self.hands_on.val() & !self.offer.at_kept.val());
        self.loads.next = self.free.val() & self.offer.wants.val() & self.entry_valid.val();
        self.entry_ready.next =
            self.offer.splits.val() | (self.free.val() & self.offer.wants.val());
        self.begins.next = self.loads.val() & !self.slot.val().in_fetch;
        self.known.d.next =
            self.fetched.valid.val() & !self.begins.val() & !self.offer.splits.val();
        self.fetched.ready.next = self.begins.val();
        self.load.next = self.loads.val();
        self.drop.next = self.begins.val();
        self.save.next = self.offer.splits.val();

        self.track.reset.next = self.reset.val();
        self.track.fetch.next = self.fetched.payload.val();
        self.track.load.next = self.loads.val();
        self.track.load_last.next = self.entry_last.val();
        self.track.load_two_slots.next = self.entry_two_slots.val();
        self.track.joins.next = self.joins.val();
        self.track.keep.next = self.offer.splits.val();
        self.track.hand_on.next = self.hands_on.val();
        if self.reset.val() {
            self.announced.d.next = false;
            self.known.d.next = false;
        }
    }
}
