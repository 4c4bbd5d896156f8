//! The states of the list walk: what is asked for, and what follows an answer.
//!
//! ```text
//!   Take ─► Room ─► Judge ─► Take               entries of later ranges are asked for in Take
//!            ▲        │ next entry, or search
//!          Reply ◄─ Ask                         answers asked for before: void
//! ```
//! Timing: one state a cycle; outputs follow the state and the inputs of the same cycle.
//!
//! Invariants:
//! 1. `ask_ahead` and `ask_on` come only while `ask_ready` is high, `nothing` and `part` only while
//!    `part_ready` is.
//! 2. Nothing is asked for ahead while a range is judged or walked.

use stream::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum State {
    Take,
    Room,
    Judge,
    Ask,
    Reply,
}

/// The states. See the module's head.
#[derive(LogicBlock, Default)]
pub struct GatherControl {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Back to the first state.
    pub reset: Signal<In, Bit>,

    /// There is a range to ask for ahead.
    pub ahead_valid: Signal<In, Bit>,
    /// It has payload to find.
    pub ahead_wanted: Signal<In, Bit>,
    /// A request would be taken.
    pub ask_ready: Signal<In, Bit>,
    /// There is a range to judge.
    pub range_valid: Signal<In, Bit>,
    /// It has payload to find.
    pub range_wanted: Signal<In, Bit>,
    /// The answer that `wants` waits for is there.
    pub answered: Signal<In, Bit>,
    /// The entry holds the position.
    pub holds: Signal<In, Bit>,
    /// It ends at or before the position.
    pub is_before: Signal<In, Bit>,
    /// The range ends with it.
    pub ends: Signal<In, Bit>,
    /// A part and a verdict would be taken.
    pub part_ready: Signal<In, Bit>,

    /// The range to ask for ahead is passed over.
    pub pass_ahead: Signal<Out, Bit>,
    /// Ask for its first entry.
    pub ask_ahead: Signal<Out, Bit>,
    /// Ask for another entry of the range being judged.
    pub ask_on: Signal<Out, Bit>,
    /// Ask by position instead of index.
    pub by_position: Signal<Out, Bit>,
    /// Wait for an answer.
    pub wants: Signal<Out, Bit>,
    /// Start with the range to judge.
    pub load: Signal<Out, Bit>,
    /// Hand a part on.
    pub part: Signal<Out, Bit>,
    /// Hand the end of a range on without a part.
    pub nothing: Signal<Out, Bit>,
    /// There is no entry for the position.
    pub no_segment: Signal<Out, Bit>,
    /// The range is judged.
    pub done: Signal<Out, Bit>,
    /// The range goes on in another entry.
    pub walk: Signal<Out, Bit>,

    state: DFF<State>,
    searching: DFF<Bit>,

    takes: Signal<Local, Bit>,
    asks: Signal<Local, Bit>,
    asks_ahead: Signal<Local, Bit>,
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

        // Ask ahead for whatever waits, on for what is walked.
        self.asks_ahead.next = self.takes.val() & self.ahead_valid.val() & self.ask_ready.val();
        self.pass_ahead.next = self.takes.val()
            & self.ahead_valid.val()
            & (self.ask_ready.val() | !self.ahead_wanted.val());
        self.ask_ahead.next = self.asks_ahead.val() & self.ahead_wanted.val();
        self.asks.next = (self.state.q.val() == State::Ask) & self.ask_ready.val();
        self.ask_on.next = self.asks.val();
        self.by_position.next = self.searching.q.val();
        self.wants.next = (self.takes.val() & self.range_valid.val() & self.range_wanted.val())
            | (self.state.q.val() == State::Reply);

        // Judge the answer; a range without payload needs none.
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
            // Waits for a range's first answer.
            State::Take => {
                self.searching.d.next = false;
                if self.answered.val() {
                    self.state.d.next = State::Room;
                }
            }
            // Compares.
            State::Room => self.state.d.next = State::Judge,
            // Hands the part on, then takes the next range or goes on with this one.
            State::Judge => {
                if self.walks.val() {
                    self.searching.d.next = !self.holds.val();
                    self.state.d.next = State::Ask;
                } else if self.judges.val() {
                    self.state.d.next = State::Take;
                }
            }
            // Waits until the entry is asked for.
            State::Ask => {
                if self.asks.val() {
                    self.state.d.next = State::Reply;
                }
            }
            // Waits for the entry.
            State::Reply => {
                if self.answered.val() {
                    self.state.d.next = State::Room;
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = State::Take;
        }
    }
}
