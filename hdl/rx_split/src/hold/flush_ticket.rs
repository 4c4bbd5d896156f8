//! Which flush reads of one memory are still owed, and which have returned.
//!
//! ```text
//!  wanted ─► [wanted] ─► requests ─► started ─► [in flight] ─► returned ─► done
//!                 ▲                                               │ failed, first time
//!                 └───────────────────────────────────────────────┘
//! ```
//! Timing: outputs are registers, except `ticket`, which follows `started` in the same cycle.
//!
//! Invariants:
//! 1. One flush read is in flight at most. It covers all items that came before it started: none of
//!    them costs a read of its own.
//! 2. A flush read that fails is repeated once; a later one that returns serves all before it.
//! 3. After `reset` no flush read is owed.
//! 4. A ticket is distinguished from those 2^23 later: an item waits for fewer flush reads than
//!    that (a read takes half a microsecond at least, a timeout 50 milliseconds).
//!
//! On error: the second failure in a row ends the waiting with `broken`.
//!
//! Source: docs/specification.md, Hold; decision 6; PCIe 2.4.1, a read does not pass a posted
//! write.

use stream::prelude::*;

/// The account of one memory. See the module's head.
#[derive(LogicBlock, Default)]
pub struct FlushTicket {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: tickets and flush reads owed are forgotten.
    pub reset: Signal<In, Bit>,

    /// An item that waits for this memory comes, with the `ticket` that is shown.
    pub wanted: Signal<In, Bit>,
    /// A flush read starts: it is offered from the next cycle on.
    pub started: Signal<In, Bit>,
    /// The flush read in flight has ended.
    pub returned: Signal<In, Bit>,
    /// With `returned`: the flush read failed.
    pub failed: Signal<In, Bit>,
    /// Number of the first flush read that starts from now on, modulo 2^24: what an item that comes
    /// now waits for.
    pub ticket: Signal<Out, Bits<24>>,
    /// A flush read is due.
    pub requests: Signal<Out, Bit>,
    /// Every item up to this ticket waits no longer.
    pub done: Signal<Out, Bits<24>>,
    /// The flush read `done` failed, and so did the one before it.
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
        dff_setup!(self, clock, started_count, done_count, owed, in_flight, repeated, gave_up);
        self.requests.next = self.owed.q.val() & !self.in_flight.q.val();
        self.done.next = self.done_count.q.val();
        self.broken.next = self.gave_up.q.val();
        self.ticket.next = self.started_count.q.val() + 1;
        if self.started.val() {
            self.ticket.next = self.started_count.q.val() + 2;
            self.started_count.d.next = self.started_count.q.val() + 1;
            self.in_flight.d.next = true;
            self.owed.d.next = false;
        }
        if self.returned.val() {
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
            self.started_count.d.next = 0.into();
            self.done_count.d.next = 0.into();
            self.owed.d.next = false;
            self.in_flight.d.next = false;
            self.repeated.d.next = false;
            self.gave_up.d.next = false;
        }
    }
}
