//! The order of the steps of a plan.
//!
//! ```text
//!  Idle ─┬─► Pieces, Slow ─► Second ─► First ─► Idle
//!        ├─► Discard ─► Idle
//!        └─► Confirm ─► Idle
//! ```
//! Steps that a plan does not need are left out.

use crate::messages::{Placement, Plan};
use crate::split_state::SplitState;
use stream::prelude::*;

/// The steps. See the module's head.
#[derive(LogicBlock, Default)]
pub struct SplitControl {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// A plan waits.
    pub plan_valid: Signal<In, Bit>,
    /// That plan.
    pub plan: Signal<In, Plan>,
    /// The plan at hand takes two slots.
    pub two_slots: Signal<In, Bit>,
    /// The step's job was taken.
    pub taken: Signal<In, Bit>,
    /// The piece at hand is the last.
    pub last_piece: Signal<In, Bit>,
    /// The step at hand.
    pub step: Signal<Out, SplitState>,

    state: DFF<SplitState>,
    new_packet: Signal<Local, Placement>,
    entry: Signal<Local, SplitState>,
}

impl Logic for SplitControl {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state);
        self.step.next = self.state.q.val();
        self.new_packet.next = self.plan.val().packet;
        self.entry.next = SplitState::First;
        if self.two_slots.val() {
            self.entry.next = SplitState::Second;
        }
        match self.state.q.val() {
            // Waits for a plan.
            SplitState::Idle => {
                if self.plan_valid.val() {
                    self.state.d.next = SplitState::First;
                    if self.plan.val().two_slots {
                        self.state.d.next = SplitState::Second;
                    }
                    if self.plan.val().needs_slow {
                        self.state.d.next = SplitState::Slow;
                    }
                    if self.new_packet.val().walk {
                        self.state.d.next = SplitState::Pieces;
                    }
                    if self.new_packet.val().kind == 1 {
                        self.state.d.next = SplitState::Discard;
                    }
                    if self.new_packet.val().kind == 3 {
                        self.state.d.next = SplitState::Confirm;
                    }
                }
            }
            // One job for each piece.
            SplitState::Pieces => {
                if self.taken.val() & self.last_piece.val() {
                    self.state.d.next = self.entry.val();
                }
            }
            // The whole payload in one job.
            SplitState::Slow => {
                if self.taken.val() {
                    self.state.d.next = self.entry.val();
                }
            }
            // The rest of a long header.
            SplitState::Second => {
                if self.taken.val() {
                    self.state.d.next = SplitState::First;
                }
            }
            // The slot with the metadata, a release, or a confirmation.
            _ => {
                if self.taken.val() {
                    self.state.d.next = SplitState::Idle;
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = SplitState::Idle;
        }
    }
}
