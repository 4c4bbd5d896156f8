//! Decides, beat by beat, where the slots of a fetch go: the control of [`crate::slots`].
//!
//! ```text
//!  beat offered ──► beat held ──► handed on, or kept for the owner
//!                      ▲ a kept slot goes before it
//! ```
//! Timing: outputs follow the registers and the inputs of the same cycle; one beat a cycle.
//!
//! Invariants: those of [`crate::slots`], and
//! 1. The first beat of a descriptor of two slots waits for the beat behind it, which tells whether
//!    the second slot comes in the same fetch.

use crate::slot_track::{SlotInWork, SlotTrack};
use stream::prelude::*;

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
    /// The slot continues a kept one.
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

    track: SlotTrack,
    announced: DFF<Bit>,

    slot: Signal<Local, SlotInWork>,
    at_kept: Signal<Local, Bit>,
    splits: Signal<Local, Bit>,
    names: Signal<Local, Bit>,
    offers: Signal<Local, Bit>,
    hands_on: Signal<Local, Bit>,
    free: Signal<Local, Bit>,
    loads: Signal<Local, Bit>,
}

impl Logic for SlotControl {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, announced);
        self.slot.next = self.track.slot.val();
        self.owner.next = self.track.owner.val();
        self.index.next = self.track.index.val();

        // Out: the kept slot, then the beat held.
        self.kept_first.next = self.slot.val().kept_first;
        self.kept_second.next = self.slot.val().kept_second;
        self.at_kept.next = self.slot.val().kept_first | self.slot.val().kept_second;
        self.splits.next = self.slot.val().valid
            & !self.at_kept.val()
            & self.slot.val().first
            & self.slot.val().opens
            & self.slot.val().two_slots
            & self.entry_valid.val()
            & self.entry_last.val();
        self.offers.next = self.at_kept.val()
            | (self.slot.val().valid
                & (!self.slot.val().first
                    | !self.slot.val().opens
                    | !self.slot.val().two_slots
                    | (self.entry_valid.val() & !self.entry_last.val())));
        self.names.next = self.slot.val().kept_first
            | (!self.slot.val().kept_second & self.slot.val().first & self.slot.val().opens);
        self.descriptor_fetch.valid.next =
            self.offers.val() & self.names.val() & !self.announced.q.val();
        self.descriptor_fetch.payload.next.owner = self.slot.val().owner;
        self.descriptor_fetch.payload.next.index = self.slot.val().index;
        self.beat_valid.next = self.offers.val()
            & (!self.names.val() | self.announced.q.val() | self.descriptor_fetch.ready.val());
        self.beat_last.next = !self.at_kept.val()
            & !self.slot.val().first
            & (!self.slot.val().opens | !self.slot.val().two_slots);
        self.hands_on.next = self.offers.val()
            & (!self.names.val() | self.announced.q.val() | self.descriptor_fetch.ready.val())
            & self.beat_ready.val();
        if self.hands_on.val() {
            self.announced.d.next = false;
        } else if self.offers.val() & self.names.val() & self.descriptor_fetch.ready.val() {
            self.announced.d.next = true;
        }

        // In: the next beat is held, or goes with the held one to the kept slots.
        self.free.next = !self.slot.val().valid | (self.hands_on.val() & !self.at_kept.val());
        self.loads.next = self.free.val()
            & self.entry_valid.val()
            & (self.slot.val().in_fetch | self.fetched.valid.val());
        self.entry_ready.next = self.splits.val()
            | (self.free.val() & (self.slot.val().in_fetch | self.fetched.valid.val()));
        self.fetched.ready.next =
            self.free.val() & self.entry_valid.val() & !self.slot.val().in_fetch;
        self.load.next = self.loads.val();
        self.drop.next = self.loads.val() & !self.slot.val().in_fetch;
        self.save.next = self.splits.val();

        self.track.clock.next = self.clock.val();
        self.track.reset.next = self.reset.val();
        self.track.fetch.next = self.fetched.payload.val();
        self.track.load.next = self.loads.val();
        self.track.load_last.next = self.entry_last.val();
        self.track.load_two_slots.next = self.entry_two_slots.val();
        self.track.joins.next = self.joins.val();
        self.track.keep.next = self.splits.val();
        self.track.hand_on.next = self.hands_on.val();
        if self.reset.val() {
            self.announced.d.next = false;
        }
    }
}
