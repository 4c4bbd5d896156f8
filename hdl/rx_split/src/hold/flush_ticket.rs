//! Which flush reads of one memory are still owed, and which have been answered.
//!
//! ```text
//!  wanted ─► [wanted] ─► asks ─► started ─► [in flight] ─► answered ─► done
//!                 ▲                                             │ failed, first time
//!                 └─────────────────────────────────────────────┘
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | wanted | in | an item that waits for this memory comes, with the `ticket` shown |
//! | ticket | out | number of the first flush read that begins from now on, modulo 2^24 |
//! | asks | out | a flush read is due |
//! | started | in | it begins to be offered |
//! | answered, failed | in | its answer is there; it was none |
//! | done | out | every item up to this ticket waits no longer |
//! | broken | out | the flush read `done` and the one before it failed |
//!
//! Timing: outputs but `ticket` are registers; `ticket` follows `started` in the same cycle.
//!
//! Invariants:
//! 1. One flush read is in flight at most. It covers all items that came before it began: none of
//!    them costs a read of its own.
//! 2. A flush read that fails is repeated once; a later one that is answered serves all before it.
//! 3. `reset` owes nothing.
//! 4. A ticket is told from those 2^23 later: an item waits for fewer flush reads than that (a read
//!    takes half a microsecond at least, a timeout 50 milliseconds).
//!
//! On error: the second failure in a row ends the waiting with `broken`.
//!
//! Source: decision 6; PCIe 2.4.1, a read does not pass a posted write.

use stream::prelude::*;

/// The account. See the module's head.
#[derive(LogicBlock, Default)]
pub struct FlushTicket {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// An item that waits for this memory comes.
    pub wanted: Signal<In, Bit>,
    /// A flush read begins to be offered.
    pub started: Signal<In, Bit>,
    /// The flush read in flight has ended.
    pub answered: Signal<In, Bit>,
    /// Without an answer.
    pub failed: Signal<In, Bit>,
    /// What an item that comes now waits for.
    pub ticket: Signal<Out, Bits<24>>,
    /// A flush read is due.
    pub asks: Signal<Out, Bit>,
    /// Items up to this ticket wait no longer.
    pub done: Signal<Out, Bits<24>>,
    /// They have waited in vain.
    pub broken: Signal<Out, Bit>,

    started_count: DFF<Bits<24>>,
    done_count: DFF<Bits<24>>,
    owed: DFF<Bit>,
    in_flight: DFF<Bit>,
    repeated: DFF<Bit>,
    gave_up: DFF<Bit>,
}

impl Logic for FlushTicket {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            started_count,
            done_count,
            owed,
            in_flight,
            repeated,
            gave_up
        );
        self.asks.next = self.owed.q.val() & !self.in_flight.q.val();
        self.done.next = self.done_count.q.val();
        self.broken.next = self.gave_up.q.val();
        self.ticket.next = self.started_count.q.val() + 1;
        if self.started.val() {
            self.ticket.next = self.started_count.q.val() + 2;
            self.started_count.d.next = self.started_count.q.val() + 1;
            self.in_flight.d.next = true;
            self.owed.d.next = false;
        }
        if self.answered.val() {
            self.in_flight.d.next = false;
            self.repeated.d.next = self.failed.val() & !self.repeated.q.val();
            if self.failed.val() & !self.repeated.q.val() {
                self.owed.d.next = true;
            } else {
                self.done_count.d.next = self.started_count.q.val();
                self.gave_up.d.next = self.failed.val();
            }
        }
        if self.wanted.val() {
            self.owed.d.next = true;
        }
        if self.reset.val() {
            self.started_count.d.next = bits::<24>(0);
            self.done_count.d.next = bits::<24>(0);
            self.owed.d.next = false;
            self.in_flight.d.next = false;
            self.repeated.d.next = false;
            self.gave_up.d.next = false;
        }
    }
}
