//! The order of the steps of a plan.
//!
//! ```text
//!  Idle ─┬─► Pieces, Slow ─► Second ─► First ─► Idle
//!        ├─► Discard ─► Idle
//!        └─► Confirm ─► Idle
//! ```
//! Steps that a plan does not need are left out.
//!
//! Timing: one step per job taken. Where the next plan is loaded with the last step of a plan, its
//! own first step follows at once.
//!
//! Invariants:
//! 1. `frees_with_plan` is high only with the load of a plan that has a walk slot and places
//!    nothing.

use crate::messages::{Plan, PlanItem, RxItemKind};
use crate::split::split_state::SplitState;
use stream::prelude::*;

/// What a step may bring about, before it is known whether its job is taken: a block of its own, so
/// that later logic is not in its path.
#[derive(LogicBlock, Default)]
pub struct StepEffects {
    /// Step of the plan at hand.
    pub step: Signal<In, SplitState>,
    /// Memories that the slot at hand waits for, one bit each.
    pub memories: Signal<In, Bits<4>>,
    /// The piece at hand is the last.
    pub last_piece: Signal<In, Bit>,
    /// A plan may be loaded.
    pub loads: Signal<Out, Bit>,
    /// A plan may be loaded if the slot is taken for certain.
    pub loads_with_slot: Signal<Out, Bit>,
    /// The walk slot is freed if the piece is taken.
    pub frees_with_piece: Signal<Out, Bit>,
}

impl Logic for StepEffects {
    #[hdl_gen]
    fn update(&mut self) {
        self.loads.next = self.step.val() == SplitState::Idle;
        self.loads_with_slot.next =
            (self.step.val() == SplitState::First) & !self.memories.val().any();
        self.frees_with_piece.next =
            (self.step.val() == SplitState::Pieces) & self.last_piece.val();
    }
}

/// The steps. See the module's head.
#[derive(LogicBlock, Default)]
pub struct SplitControl {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: the plan at hand is forgotten.
    pub reset: Signal<In, Bit>,

    /// A plan is loaded, if one waits.
    pub loads: Signal<In, Bit>,
    /// A plan waits.
    pub plan_valid: Signal<In, Bit>,
    /// The plan that waits.
    pub plan: Signal<In, Plan>,
    /// The plan at hand takes two slots.
    pub two_slots: Signal<In, Bit>,
    /// The packet of the plan at hand has no entry: its run has one later.
    pub no_entry: Signal<In, Bit>,
    /// The job of the step at hand was taken.
    pub taken: Signal<In, Bit>,
    /// The piece at hand is the last.
    pub last_piece: Signal<In, Bit>,
    /// The step at hand.
    pub step: Signal<Out, SplitState>,
    /// The walk slot of the plan that is loaded is freed at once: nothing is placed.
    pub frees_with_plan: Signal<Out, Bit>,

    state: DFF<SplitState>,
    new_packet: Signal<Local, PlanItem>,
    entry: Signal<Local, SplitState>,
    opening: Signal<Local, SplitState>,
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
        if self.no_entry.val() {
            self.entry.next = SplitState::Discard;
        }
        // The first step of the plan that waits.
        self.opening.next = SplitState::First;
        if self.plan.val().two_slots {
            self.opening.next = SplitState::Second;
        }
        if self.plan.val().needs_slow {
            self.opening.next = SplitState::Slow;
        }
        if self.new_packet.val().walk {
            self.opening.next = SplitState::Pieces;
        }
        if self.new_packet.val().kind == RxItemKind::Release {
            self.opening.next = SplitState::Discard;
        }
        if self.new_packet.val().kind == RxItemKind::Confirmation {
            self.opening.next = SplitState::Confirm;
        }
        if !self.plan_valid.val() {
            self.opening.next = SplitState::Idle;
        }
        match self.state.q.val() {
            // Waits for a plan.
            SplitState::Idle => {}
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
        self.frees_with_plan.next = self.loads.val()
            & self.plan_valid.val()
            & self.new_packet.val().slotted
            & !self.new_packet.val().walk;
        if self.loads.val() {
            self.state.d.next = self.opening.val();
        }
        if self.reset.val() {
            self.state.d.next = SplitState::Idle;
        }
    }
}
