//! The states of the list walk: which request is out, and what follows an answer.
//!
//! ```text
//!   Take ─► Ask ─► Reply ─► Judge ─► Granted ─► Offer ─► Take
//!     │      ▲───── search ───┤         │          ▲
//!     │      ▲─── next entry ─│─────────┤          │
//!     └─ nothing to find ─────┴─ no segment ───────┘
//! ```
//! Timing: one state a cycle; outputs follow the state in the same cycle.

use stream::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum State {
    Take,
    Ask,
    Reply,
    Judge,
    Granted,
    Offer,
}

/// The states. See the module's head.
#[derive(LogicBlock, Default)]
pub struct GatherControl {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Back to the first state.
    pub reset: Signal<In, Bit>,

    /// A range is offered.
    pub range_valid: Signal<In, Bit>,
    /// It has payload to find.
    pub range_wanted: Signal<In, Bit>,
    /// The list entry is asked for.
    pub segment_asked: Signal<In, Bit>,
    /// The list entry is there.
    pub segment_valid: Signal<In, Bit>,
    /// It holds the position.
    pub holds: Signal<In, Bit>,
    /// It ends at or before the position.
    pub is_before: Signal<In, Bit>,
    /// The grant's end is there.
    pub grant_valid: Signal<In, Bit>,
    /// It is the end of the range as well.
    pub grant_ends: Signal<In, Bit>,
    /// The verdict is taken.
    pub verdict_taken: Signal<In, Bit>,

    /// Take a range.
    pub take: Signal<Out, Bit>,
    /// Ask for a list entry.
    pub ask: Signal<Out, Bit>,
    /// Ask by position instead of index.
    pub by_position: Signal<Out, Bit>,
    /// Take the list entry.
    pub reply: Signal<Out, Bit>,
    /// There is no entry for the position.
    pub no_segment: Signal<Out, Bit>,
    /// Ask for the grant, which is taken at once.
    pub grant: Signal<Out, Bit>,
    /// Take the grant's end.
    pub granted: Signal<Out, Bit>,
    /// Offer the verdict.
    pub offer: Signal<Out, Bit>,

    state: DFF<State>,
    searching: DFF<Bit>,
}

impl Logic for GatherControl {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, searching);
        self.take.next = self.state.q.val() == State::Take;
        self.ask.next = self.state.q.val() == State::Ask;
        self.by_position.next = self.searching.q.val();
        self.reply.next = self.state.q.val() == State::Reply;
        self.grant.next = (self.state.q.val() == State::Judge) & self.holds.val();
        self.no_segment.next = false;
        self.granted.next = self.state.q.val() == State::Granted;
        self.offer.next = self.state.q.val() == State::Offer;

        match self.state.q.val() {
            // Waits for a range.
            State::Take => {
                self.searching.d.next = false;
                if self.range_valid.val() & self.range_wanted.val() {
                    self.state.d.next = State::Ask;
                } else if self.range_valid.val() {
                    self.state.d.next = State::Offer;
                }
            }
            // Waits until the entry is asked for.
            State::Ask => {
                if self.segment_asked.val() {
                    self.state.d.next = State::Reply;
                }
            }
            // Waits for the entry.
            State::Reply => {
                if self.segment_valid.val() {
                    self.state.d.next = State::Judge;
                }
            }
            // Starts the grant, or searches behind an entry that ends too early, or gives up.
            State::Judge => {
                self.searching.d.next = false;
                if self.holds.val() {
                    self.state.d.next = State::Granted;
                } else if self.is_before.val() & !self.searching.q.val() {
                    self.searching.d.next = true;
                    self.state.d.next = State::Ask;
                } else {
                    self.no_segment.next = true;
                    self.state.d.next = State::Offer;
                }
            }
            // Waits for the grant's end, then goes on behind the part.
            State::Granted => {
                if self.grant_valid.val() & self.grant_ends.val() {
                    self.state.d.next = State::Offer;
                } else if self.grant_valid.val() {
                    self.state.d.next = State::Ask;
                }
            }
            // Waits until the verdict is taken.
            State::Offer => {
                if self.verdict_taken.val() {
                    self.state.d.next = State::Take;
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = State::Take;
        }
    }
}
