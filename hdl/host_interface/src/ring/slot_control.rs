//! Decides, beat by beat, where the slots of a fetch go: the control of
//! [`crate::ring::slot_splitter`].
//!
//! ```text
//!  beat offered ──► beat held ──► handed on, or kept for the owner
//!                      ▲ a kept slot goes before it
//! ```
//! Timing: outputs follow the registers and the inputs of the same cycle; one beat per cycle.
//!
//! Invariants: those of [`crate::ring::slot_splitter`], and
//! 1. The first beat of a descriptor of two slots waits for the next beat, which shows whether the
//!    second slot comes in the same fetch.
//! 2. It relies on the beat of `entry_valid` to stand until it is taken.

use crate::ring::held_beat::{HeldBeat, HeldBeatState};
use stream::prelude::*;

/// What is offered and what is wanted, before it is known what is taken.
#[derive(LogicBlock, Default)]
pub struct SlotOffer {
    /// The beat held.
    pub slot: Signal<In, HeldBeatState>,
    /// A beat of the fetch is offered.
    pub entry_valid: Signal<In, Bit>,
    /// The beat of `entry_valid` is the last one of its fetch.
    pub entry_last: Signal<In, Bit>,
    /// A fetch may begin.
    pub may_begin: Signal<In, Bit>,

    /// A beat of the kept slot goes before the beat held.
    pub at_kept: Signal<Out, Bit>,
    /// The slot held is kept, because its second slot is not in this fetch.
    pub splits: Signal<Out, Bit>,
    /// A beat of a descriptor is offered.
    pub offers: Signal<Out, Bit>,
    /// The beat offered is the first one of its descriptor: the descriptor's message goes with it.
    pub names: Signal<Out, Bit>,
    /// A beat of the fetch would be taken and held.
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
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the fetch in work.
    pub reset: Signal<In, Bit>,

    /// Owner and first index of the slots that follow.
    pub fetched: MessageSink<RingFetch>,
    /// Owner and first slot index of the descriptor that follows.
    pub descriptor_fetch: MessageSource<RingFetch>,

    /// A beat of the fetch is offered.
    pub entry_valid: Signal<In, Bit>,
    /// The beat of `entry_valid` is the last one of its fetch.
    pub entry_last: Signal<In, Bit>,
    /// Two-slots flag of the beat of `entry_valid`; it has a meaning in the first beat of a
    /// descriptor.
    pub entry_two_slots: Signal<In, Bit>,
    /// The beat of `entry_valid` is taken, if it is valid.
    pub entry_ready: Signal<Out, Bit>,
    /// The beat of `entry_valid` is taken and held.
    pub load: Signal<Out, Bit>,

    /// Owner of the beat held, or of the fetch that comes next.
    pub owner: Signal<Out, Bits<8>>,
    /// Index of the slot held, or of the first slot of the fetch that comes next.
    pub index: Signal<Out, Bits<32>>,
    /// The fetch that comes next continues a kept slot, as of the cycle before.
    pub joins: Signal<In, Bit>,
    /// Keep the slot held; its second beat is the one offered.
    pub save: Signal<Out, Bit>,
    /// Forget the slot kept for `owner`.
    pub drop: Signal<Out, Bit>,

    /// A beat of a descriptor is offered.
    pub beat_valid: Signal<Out, Bit>,
    /// The beat of `beat_valid` is the last one of its descriptor.
    pub beat_last: Signal<Out, Bit>,
    /// The beat of `beat_valid` is the first one of the kept slot.
    pub kept_first: Signal<Out, Bit>,
    /// The beat of `beat_valid` is the second one of the kept slot.
    pub kept_second: Signal<Out, Bit>,
    /// The beat of `beat_valid` is taken.
    pub beat_ready: Signal<In, Bit>,

    offer: SlotOffer,
    held: HeldBeat,
    announced: DFF<Bit>,
    known: DFF<Bit>,

    slot: Signal<Local, HeldBeatState>,
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
        clock!(self, clock, held);
        self.slot.next = self.held.slot.val();
        self.owner.next = self.held.owner.val();
        self.index.next = self.held.index.val();

        // What leaves: the kept slot, then the beat held.
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

        // What comes: the next beat is held, or kept with the held one. A fetch begins when
        // `joins` is known.
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

        self.held.reset.next = self.reset.val();
        self.held.fetch.next = self.fetched.payload.val();
        self.held.load.next = self.loads.val();
        self.held.load_last.next = self.entry_last.val();
        self.held.load_two_slots.next = self.entry_two_slots.val();
        self.held.joins.next = self.joins.val();
        self.held.keep.next = self.offer.splits.val();
        self.held.hand_on.next = self.hands_on.val();
        if self.reset.val() {
            self.announced.d.next = false;
            self.known.d.next = false;
        }
    }
}
