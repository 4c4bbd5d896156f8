//! The order of a walk's steps.
//!
//! ```text
//!  Idle ─► Segment ─► SegmentReply ─► Cut ─► Region ─► RegionReply ─► Next ─┬─► Hand ─► Idle
//!             ▲ empty segment ◄────────┘ ▲ next page ◄───────────────────────┤
//!             └ next segment ◄───────────┴───────────────────────────────────┘
//! ```
//! Timing: one state a cycle where nothing is waited for. A walk that fails goes straight to
//! `Hand`.

use stream::prelude::*;

/// What `place` waits for.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum PlaceState {
    /// A packet.
    Idle,
    /// Room for its pieces, and the list takes the request.
    Segment,
    /// The list answers.
    SegmentReply,
    /// The part of the segment that is wanted.
    Cut,
    /// The region takes the request.
    Region,
    /// The region answers.
    RegionReply,
    /// Where the walk goes on.
    Next,
    /// `split` takes the packet.
    Hand,
}

/// The steps. See the module's head.
#[derive(LogicBlock, Default)]
pub struct PlaceControl {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// A packet was taken.
    pub packet_taken: Signal<In, Bit>,
    /// It has a range to place.
    pub walk: Signal<In, Bit>,
    /// The list took the request.
    pub list_asked: Signal<In, Bit>,
    /// The list answered.
    pub list_answered: Signal<In, Bit>,
    /// No segment holds the position.
    pub missing: Signal<In, Bit>,
    /// The segment holds no byte.
    pub empty: Signal<In, Bit>,
    /// The region table took the request.
    pub region_asked: Signal<In, Bit>,
    /// The region table answered.
    pub region_answered: Signal<In, Bit>,
    /// The piece is refused, or one too many.
    pub refused: Signal<In, Bit>,
    /// The piece ends its segment.
    pub next_segment: Signal<In, Bit>,
    /// The piece is the last.
    pub is_last: Signal<In, Bit>,
    /// The packet was handed on.
    pub handed: Signal<In, Bit>,

    /// The step at hand.
    pub step: Signal<Out, PlaceState>,
    /// The walk fails in this cycle.
    pub failed: Signal<Out, Bit>,
    /// The walk ends well in this cycle.
    pub complete: Signal<Out, Bit>,

    state: DFF<PlaceState>,
    fails: Signal<Local, Bit>,
}

impl Logic for PlaceControl {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state);
        self.step.next = self.state.q.val();
        self.fails.next = false;
        self.complete.next = false;
        match self.state.q.val() {
            PlaceState::Idle => {
                if self.packet_taken.val() {
                    self.state.d.next = PlaceState::Hand;
                    if self.walk.val() {
                        self.state.d.next = PlaceState::Segment;
                    }
                }
            }
            PlaceState::Segment => {
                if self.list_asked.val() {
                    self.state.d.next = PlaceState::SegmentReply;
                }
            }
            PlaceState::SegmentReply => {
                if self.list_answered.val() {
                    self.state.d.next = PlaceState::Cut;
                }
            }
            PlaceState::Cut => {
                self.fails.next = self.missing.val();
                self.state.d.next = PlaceState::Region;
                if self.empty.val() {
                    self.state.d.next = PlaceState::Segment;
                }
            }
            PlaceState::Region => {
                if self.region_asked.val() {
                    self.state.d.next = PlaceState::RegionReply;
                }
            }
            PlaceState::RegionReply => {
                if self.region_answered.val() {
                    self.fails.next = self.refused.val();
                    self.state.d.next = PlaceState::Next;
                }
            }
            PlaceState::Next => {
                self.state.d.next = PlaceState::Cut;
                if self.next_segment.val() {
                    self.state.d.next = PlaceState::Segment;
                }
                if self.is_last.val() {
                    self.complete.next = true;
                    self.state.d.next = PlaceState::Hand;
                }
            }
            PlaceState::Hand => {
                if self.handed.val() {
                    self.state.d.next = PlaceState::Idle;
                }
            }
        }

        self.failed.next = self.fails.val();
        if self.fails.val() {
            self.state.d.next = PlaceState::Hand;
        }
        if self.reset.val() {
            self.state.d.next = PlaceState::Idle;
        }
    }
}
