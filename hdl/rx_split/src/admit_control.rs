//! The order of the steps of an admission.
//!
//! ```text
//!  Idle ─┬─► Look ─► Compute ─► Decide ─┬─► Hand ─► Idle
//!        └─► confirmation ──────────────┘     (an event without room goes straight to Idle)
//! ```

use stream::prelude::*;

/// What `admit` waits for.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum AdmitState {
    /// A packet, an event or a confirmation.
    Idle,
    /// The owner's context.
    Look,
    /// The arithmetic on it.
    Compute,
    /// The decision; a drop waits for its turn to be counted.
    Decide,
    /// `split` takes the plan.
    Hand,
}

/// The steps. See the module's head.
#[derive(LogicBlock, Default)]
pub struct AdmitControl {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// A confirmation is taken.
    pub passes: Signal<In, Bit>,
    /// Something begins that needs room.
    pub needs_room: Signal<In, Bit>,
    /// It is accepted or refused.
    pub decided: Signal<In, Bit>,
    /// It is an event.
    pub is_event: Signal<In, Bit>,
    /// The plan was handed on.
    pub handed: Signal<In, Bit>,
    /// The step at hand.
    pub step: Signal<Out, AdmitState>,

    state: DFF<AdmitState>,
}

impl Logic for AdmitControl {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state);
        self.step.next = self.state.q.val();
        match self.state.q.val() {
            // Waits for something to do.
            AdmitState::Idle => {
                if self.passes.val() {
                    self.state.d.next = AdmitState::Hand;
                } else if self.needs_room.val() {
                    self.state.d.next = AdmitState::Look;
                }
            }
            // Two cycles for the reservation.
            AdmitState::Look => {
                self.state.d.next = AdmitState::Compute;
            }
            AdmitState::Compute => {
                self.state.d.next = AdmitState::Decide;
            }
            // Accepts or refuses; an event without room is tried again later.
            AdmitState::Decide => {
                if self.decided.val() {
                    self.state.d.next = AdmitState::Hand;
                } else if self.is_event.val() {
                    self.state.d.next = AdmitState::Idle;
                }
            }
            // Waits for `split` to take the plan.
            AdmitState::Hand => {
                if self.handed.val() {
                    self.state.d.next = AdmitState::Idle;
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = AdmitState::Idle;
        }
    }
}
