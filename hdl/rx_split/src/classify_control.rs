//! The order of the steps of a classification.
//!
//! ```text
//!  Idle ─┬─► Lookup ─► Reply ─► Differences ─► Trim ─► Reach ─► Decide ─┬─► Hand ─► Settle ─► Idle
//!        └─► without transport, or unverified ──────────────────────────┘
//! ```
//! Timing: one state a cycle where nothing is waited for.

use stream::prelude::*;

/// What `classify` waits for.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ClassifyState {
    /// A packet.
    Idle,
    /// The table takes the lookup.
    Lookup,
    /// The table answers.
    Reply,
    /// Step 1 of the rules, and the timestamp.
    Differences,
    /// Step 2 of the rules.
    Trim,
    /// Step 3 of the rules.
    Reach,
    /// The rules' result.
    Decide,
    /// `place` takes the packet.
    Hand,
    /// The packet is settled.
    Settle,
}

/// The steps. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ClassifyControl {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// A packet waits.
    pub packet: Signal<In, Bit>,
    /// It may have a flow.
    pub may_have_flow: Signal<In, Bit>,
    /// The table took the lookup.
    pub asked: Signal<In, Bit>,
    /// The table answered.
    pub answered: Signal<In, Bit>,
    /// The timestamp is still searched.
    pub searching: Signal<In, Bit>,
    /// The packet was handed on.
    pub handed: Signal<In, Bit>,
    /// The packet is settled.
    pub settled: Signal<In, Bit>,
    /// The step at hand.
    pub step: Signal<Out, ClassifyState>,

    state: DFF<ClassifyState>,
}

impl Logic for ClassifyControl {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state);
        self.step.next = self.state.q.val();
        match self.state.q.val() {
            ClassifyState::Idle => {
                if self.packet.val() {
                    self.state.d.next = ClassifyState::Hand;
                    if self.may_have_flow.val() {
                        self.state.d.next = ClassifyState::Lookup;
                    }
                }
            }
            ClassifyState::Lookup => {
                if self.asked.val() {
                    self.state.d.next = ClassifyState::Reply;
                }
            }
            ClassifyState::Reply => {
                if self.answered.val() {
                    self.state.d.next = ClassifyState::Differences;
                }
            }
            ClassifyState::Differences => {
                if !self.searching.val() {
                    self.state.d.next = ClassifyState::Trim;
                }
            }
            ClassifyState::Trim => {
                self.state.d.next = ClassifyState::Reach;
            }
            ClassifyState::Reach => {
                self.state.d.next = ClassifyState::Decide;
            }
            ClassifyState::Decide => {
                self.state.d.next = ClassifyState::Hand;
            }
            ClassifyState::Hand => {
                if self.handed.val() {
                    self.state.d.next = ClassifyState::Settle;
                }
            }
            ClassifyState::Settle => {
                if self.settled.val() {
                    self.state.d.next = ClassifyState::Idle;
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = ClassifyState::Idle;
        }
    }
}
