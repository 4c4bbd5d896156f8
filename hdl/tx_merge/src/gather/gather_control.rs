//! The states of the search through a list: what is requested, and what follows a reply.
//!
//! ```text
//!   Take ──► Compare ──► Judge ──► Take          entries of later ranges are requested in Take
//!               ▲          │ next entry, or search
//!             Reply ◄── Request                  replies to earlier requests: void
//! ```
//! Timing: one state per cycle; all outputs follow the state and the inputs of the same cycle.
//!
//! Invariants:
//! 1. `request_ahead` and `request_entry` come only while `request_ready` is high, `nothing` and
//!    `part` only while `part_ready` is.
//! 2. Nothing is requested ahead while a range is judged or goes on in another entry.

use stream::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum State {
    Take,
    Compare,
    Judge,
    Request,
    Reply,
}

/// The states. See the module's head.
#[derive(LogicBlock, Default)]
pub struct GatherControl {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Returns to the state Take.
    pub reset: Signal<In, Bit>,

    /// There is a range whose first entry is to be requested.
    pub ahead_valid: Signal<In, Bit>,
    /// The range to request ahead has payload to find.
    pub ahead_wanted: Signal<In, Bit>,
    /// A request would be taken.
    pub request_ready: Signal<In, Bit>,
    /// There is a range to judge.
    pub range_valid: Signal<In, Bit>,
    /// The range to judge has payload to find.
    pub range_wanted: Signal<In, Bit>,
    /// The reply that `wants` waits for is there.
    pub replied: Signal<In, Bit>,
    /// The entry holds the position.
    pub holds: Signal<In, Bit>,
    /// The entry ends at or before the position.
    pub is_before: Signal<In, Bit>,
    /// The range ends in the entry.
    pub ends: Signal<In, Bit>,
    /// A part and a verdict would be taken.
    pub part_ready: Signal<In, Bit>,

    /// The range to request ahead is passed over or requested: go to the next.
    pub pass_ahead: Signal<Out, Bit>,
    /// Request the first entry of the range to request ahead.
    pub request_ahead: Signal<Out, Bit>,
    /// Request another entry of the range being judged.
    pub request_entry: Signal<Out, Bit>,
    /// Request by position instead of index.
    pub by_position: Signal<Out, Bit>,
    /// A reply would be used.
    pub wants: Signal<Out, Bit>,
    /// Start with the range to judge.
    pub load: Signal<Out, Bit>,
    /// Hand a part on.
    pub part: Signal<Out, Bit>,
    /// Hand the end of a range on without a part.
    pub nothing: Signal<Out, Bit>,
    /// No entry holds the position.
    pub no_segment: Signal<Out, Bit>,
    /// The range is judged.
    pub done: Signal<Out, Bit>,
    /// The range goes on in another entry.
    pub walk: Signal<Out, Bit>,

    state: DFF<State>,
    searching: DFF<Bit>,

    takes: Signal<Local, Bit>,
    requests: Signal<Local, Bit>,
    requests_ahead: Signal<Local, Bit>,
    judges: Signal<Local, Bit>,
    walks: Signal<Local, Bit>,
    fails: Signal<Local, Bit>,
    empty: Signal<Local, Bit>,
}

impl Logic for GatherControl {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, searching);
        self.takes.next = self.state.q.val() == State::Take;
        self.judges.next = (self.state.q.val() == State::Judge) & self.part_ready.val();

        // Request ahead for later ranges, and the next entry for this one.
        self.requests_ahead.next =
            self.takes.val() & self.ahead_valid.val() & self.request_ready.val();
        self.pass_ahead.next = self.takes.val()
            & self.ahead_valid.val()
            & (self.request_ready.val() | !self.ahead_wanted.val());
        self.request_ahead.next = self.requests_ahead.val() & self.ahead_wanted.val();
        self.requests.next = (self.state.q.val() == State::Request) & self.request_ready.val();
        self.request_entry.next = self.requests.val();
        self.by_position.next = self.searching.q.val();
        self.wants.next = (self.takes.val() & self.range_valid.val() & self.range_wanted.val())
            | (self.state.q.val() == State::Reply);

        // Judge the entry; a range without payload needs none.
        self.walks.next = self.judges.val()
            & ((self.holds.val() & !self.ends.val())
                | (self.is_before.val() & !self.searching.q.val()));
        self.fails.next = self.judges.val() & !self.holds.val() & !self.walks.val();
        self.empty.next = self.takes.val()
            & self.range_valid.val()
            & !self.range_wanted.val()
            & self.part_ready.val();
        self.load.next = self.takes.val();
        self.part.next = self.judges.val() & self.holds.val();
        self.nothing.next = self.fails.val() | self.empty.val();
        self.no_segment.next = self.fails.val();
        self.walk.next = self.walks.val();
        self.done.next = self.empty.val() | (self.judges.val() & !self.walks.val());

        match self.state.q.val() {
            // Waits for a range's first entry.
            State::Take => {
                self.searching.d.next = false;
                if self.replied.val() {
                    self.state.d.next = State::Compare;
                }
            }
            // Compares.
            State::Compare => self.state.d.next = State::Judge,
            // Hands the part on, then takes the next range or goes on with this one.
            State::Judge => {
                if self.walks.val() {
                    self.searching.d.next = !self.holds.val();
                    self.state.d.next = State::Request;
                } else if self.judges.val() {
                    self.state.d.next = State::Take;
                }
            }
            // Waits until the entry is requested.
            State::Request => {
                if self.requests.val() {
                    self.state.d.next = State::Reply;
                }
            }
            // Waits for the entry.
            State::Reply => {
                if self.replied.val() {
                    self.state.d.next = State::Compare;
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = State::Take;
        }
    }
}
