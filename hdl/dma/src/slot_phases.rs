//! The phases of the slot splitter: see the picture in [`crate::slot_control`].
//!
//! Timing: `phase` is a register.
//!
//! Invariants: those of [`crate::slots`].

use stream::prelude::*;

/// What is done.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SlotPhase {
    /// Waits for a fetch.
    Idle,
    /// Looks for a first slot that was kept.
    Join,
    /// Waits for the first beat of a slot.
    Take,
    /// Waits for its second beat, to know whether another slot follows.
    Decide,
    /// Waits until the descriptor's message is taken.
    Announce,
    /// Waits until the slot's first beat is taken.
    First,
    /// Waits until the slot's second beat is taken.
    Second,
}

/// The phases. See the module's head.
#[derive(LogicBlock, Default)]
pub struct SlotPhases {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Back to idle.
    pub reset: Signal<In, Bit>,

    /// A fetch is there.
    pub fetched: Signal<In, Bit>,
    /// It continues a kept slot.
    pub joins: Signal<In, Bit>,
    /// A beat of it is there.
    pub entry_valid: Signal<In, Bit>,
    /// The slot in work is the second of its descriptor.
    pub is_second: Signal<In, Bit>,
    /// The slot must be kept: its second slot is not there.
    pub splits: Signal<In, Bit>,
    /// The descriptor's message is taken.
    pub announced: Signal<In, Bit>,
    /// The beat offered is taken.
    pub beat_ready: Signal<In, Bit>,
    /// The slot is done.
    pub steps: Signal<In, Bit>,
    /// So is the fetch.
    pub ends: Signal<In, Bit>,

    /// What is done.
    pub phase: Signal<Out, SlotPhase>,

    state: DFF<SlotPhase>,
}

impl Logic for SlotPhases {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state);
        match self.state.q.val() {
            SlotPhase::Idle => {
                if self.fetched.val() {
                    self.state.d.next = SlotPhase::Join;
                }
            }
            SlotPhase::Join => {
                self.state.d.next = SlotPhase::Take;
                if self.joins.val() {
                    self.state.d.next = SlotPhase::Announce;
                }
            }
            SlotPhase::Take => {
                if self.entry_valid.val() & self.is_second.val() {
                    self.state.d.next = SlotPhase::First;
                } else if self.entry_valid.val() {
                    self.state.d.next = SlotPhase::Decide;
                }
            }
            SlotPhase::Decide => {
                if self.splits.val() {
                    self.state.d.next = SlotPhase::Idle;
                } else if self.entry_valid.val() {
                    self.state.d.next = SlotPhase::Announce;
                }
            }
            SlotPhase::Announce => {
                if self.announced.val() {
                    self.state.d.next = SlotPhase::First;
                }
            }
            SlotPhase::First => {
                if self.beat_ready.val() {
                    self.state.d.next = SlotPhase::Second;
                }
            }
            SlotPhase::Second => {
                if self.steps.val() & self.ends.val() {
                    self.state.d.next = SlotPhase::Idle;
                } else if self.steps.val() {
                    self.state.d.next = SlotPhase::Take;
                }
            }
        }
        self.phase.next = self.state.q.val();
        if self.reset.val() {
            self.state.d.next = SlotPhase::Idle;
        }
    }
}
