//! Decides, beat by beat, where the slots of a fetch go: the control of [`crate::slots`].
//!
//! ```text
//!  Idle ──► Join ──► Take ──► Decide ──► Announce ──► First ──► Second ──► Take or Idle
//!             │        └─ a second slot ────────────────▲         │
//!             └─ continues a kept slot: Announce ... Second ──────┘ (Decide: kept ──► Idle)
//! ```
//! Timing: all outputs follow the phase register and the inputs of the same cycle.
//!
//! Invariants: those of [`crate::slots`].

use crate::slot_phases::{SlotPhase, SlotPhases};
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
    /// It is a first beat: keep it aside.
    pub load: Signal<Out, Bit>,

    /// Owner of the slot.
    pub owner: Signal<Out, Bits<8>>,
    /// Index of the slot.
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
    /// It is the first beat of its slot.
    pub beat_first: Signal<Out, Bit>,
    /// It is one of the kept slot.
    pub beat_carried: Signal<Out, Bit>,
    /// It is taken.
    pub beat_ready: Signal<In, Bit>,

    phases: SlotPhases,
    track: SlotTrack,
    phase: Signal<Local, SlotPhase>,
    slot: Signal<Local, SlotInWork>,

    at_second: Signal<Local, Bit>,
    has_beat: Signal<Local, Bit>,
    splits: Signal<Local, Bit>,
    steps: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
}

impl Logic for SlotControl {
    #[hdl_gen]
    fn update(&mut self) {
        self.slot.next = self.track.slot.val();
        self.phases.clock.next = self.clock.val();
        self.phases.reset.next = self.reset.val();
        self.phases.fetched.next = self.fetched.valid.val();
        self.phases.joins.next = self.joins.val();
        self.phases.entry_valid.next = self.entry_valid.val();
        self.phases.is_second.next = self.slot.val().is_second;
        self.phases.announced.next = self.descriptor_fetch.ready.val();
        self.phases.beat_ready.next = self.beat_ready.val();
        self.phase.next = self.phases.phase.val();
        self.track.clock.next = self.clock.val();
        self.track.start.next = self.phase.val() == SlotPhase::Idle;
        self.track.fetch.next = self.fetched.payload.val();
        self.track.resume.next = (self.phase.val() == SlotPhase::Join) & self.joins.val();
        self.track.two_slots.next = self.entry_two_slots.val();
        self.owner.next = self.slot.val().owner;
        self.index.next = self.slot.val().index;
        self.fetched.ready.next = self.phase.val() == SlotPhase::Idle;
        self.descriptor_fetch.valid.next = self.phase.val() == SlotPhase::Announce;
        self.descriptor_fetch.payload.next.owner = self.slot.val().owner;
        self.descriptor_fetch.payload.next.index = self.slot.val().index;

        // Beats in: the first is kept aside, the second goes on or is kept for the owner.
        self.at_second.next = self.phase.val() == SlotPhase::Second;
        self.has_beat.next = self.slot.val().is_carried | self.entry_valid.val();
        self.splits.next = (self.phase.val() == SlotPhase::Decide)
            & self.entry_valid.val()
            & self.entry_last.val()
            & self.slot.val().two_slots;
        self.steps.next = self.at_second.val() & self.has_beat.val() & self.beat_ready.val();
        self.ends.next = self.entry_last.val() & !self.slot.val().is_carried;
        self.phases.splits.next = self.splits.val();
        self.phases.steps.next = self.steps.val();
        self.phases.ends.next = self.ends.val();
        self.track.step.next = self.steps.val();
        self.track.open.next = (self.phase.val() == SlotPhase::Take) & !self.slot.val().is_second;
        self.load.next = self.phase.val() == SlotPhase::Take;
        self.drop.next = self.phase.val() == SlotPhase::Join;
        self.save.next = self.splits.val();
        self.entry_ready.next = (self.phase.val() == SlotPhase::Take)
            | self.splits.val()
            | (self.steps.val() & !self.slot.val().is_carried);
        // Beats out.
        self.beat_first.next = self.phase.val() == SlotPhase::First;
        self.beat_carried.next = self.slot.val().is_carried;
        self.beat_last.next =
            self.at_second.val() & (self.slot.val().is_second | !self.slot.val().two_slots);
        self.beat_valid.next =
            (self.phase.val() == SlotPhase::First) | (self.at_second.val() & self.has_beat.val());
    }
}
