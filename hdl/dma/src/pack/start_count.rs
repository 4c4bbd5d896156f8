//! Counts the requests that were taken: next sequence number, writes in flight, jobs issued.
//!
//! ```text
//!  takes_write, takes_second ─┬─────────────► number
//!  takes_read ────────────────┘
//!  takes_write, [takes_second] ─► in flight ─► in_window, [two_in_window]
//!  writes_returned ───────────────┘   └─► jobs_issued
//! ```
//! Timing: outputs follow from registers, but for `counts_write`, which is of the same cycle.
//!
//! Invariants:
//! 1. Of two writes that are taken at once the second is in flight and issued a cycle later; no
//!    other write is taken in that cycle.
//! 2. At most 32 writes are in flight.
//!
//! Source: PG213, requester request interface, sequence numbers.

use stream::prelude::*;

/// Most writes that have not returned their sequence number.
const WRITES_IN_FLIGHT_MAX: u64 = 32;

/// The counts. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct StartCount {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The hard block is in reset: nothing is in flight.
    pub link_reset: Signal<In, Bit>,
    /// Jobs are forgotten: their count starts at 0.
    pub flush: Signal<In, Bit>,

    /// A write is taken.
    pub takes_write: Signal<In, Bit>,
    /// It is the last of its job.
    pub is_last: Signal<In, Bit>,
    /// A second one is taken with it.
    pub takes_second: Signal<In, Bit>,
    /// That one is the last of its job.
    pub second_is_last: Signal<In, Bit>,
    /// A read is taken.
    pub takes_read: Signal<In, Bit>,
    /// Writes whose sequence number came back in this cycle.
    pub writes_returned: Signal<In, Bits<2>>,

    /// Sequence number of the next one, but for what tells reads from writes.
    pub number: Signal<Out, Bits<5>>,
    /// A write is counted.
    pub counts_write: Signal<Out, Bit>,
    /// Writes that have not returned their sequence number.
    pub in_flight: Signal<Out, Bits<6>>,
    /// One more write may be taken.
    pub in_window: Signal<Out, Bit>,
    /// Two more may be.
    pub two_in_window: Signal<Out, Bit>,
    /// Write jobs since `flush` whose last TLP was taken, modulo 2^16.
    pub jobs_issued: Signal<Out, Bits<16>>,

    flying: DFF<Bits<6>>,
    count: DFF<Bits<5>>,
    issued: DFF<Bits<16>>,
    took_two: DFF<Bit>,
    room_for_two: DFF<Bit>,
    second_ends: DFF<Bit>,

    counts: Signal<Local, Bit>,
    after_take: Signal<Local, Bits<6>>,
    #[value(WRITES_IN_FLIGHT_MAX)]
    in_flight_max: Constant<Bits<6>>,
    #[value(WRITES_IN_FLIGHT_MAX - 2)]
    in_flight_max_of_two: Constant<Bits<6>>,
}

impl Logic for StartCount {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            flying,
            count,
            issued,
            took_two,
            room_for_two,
            second_ends
        );
        self.number.next = self.count.q.val();
        self.in_flight.next = self.flying.q.val();
        self.in_window.next = self.flying.q.val() < self.in_flight_max.val();
        // One more may be taken until it is used.
        self.room_for_two.d.next = self.flying.q.val() < self.in_flight_max_of_two.val();
        self.two_in_window.next = self.room_for_two.q.val();
        self.jobs_issued.next = self.issued.q.val();

        self.took_two.d.next = self.takes_second.val();
        self.second_ends.d.next = self.takes_second.val() & self.second_is_last.val();
        self.counts.next = self.takes_write.val() | self.took_two.q.val();
        self.counts_write.next = self.counts.val();
        if self.takes_write.val() | self.takes_read.val() {
            self.count.d.next = self.count.q.val() + 1;
        }
        if self.takes_second.val() {
            self.count.d.next = self.count.q.val() + 2;
        }
        self.after_take.next = self.flying.q.val();
        if self.counts.val() {
            self.after_take.next = self.flying.q.val() + 1;
        }
        self.flying.d.next = self.after_take.val() - bit_cast::<6, 2>(self.writes_returned.val());
        if (self.takes_write.val() & self.is_last.val()) | self.second_ends.q.val() {
            self.issued.d.next = self.issued.q.val() + 1;
        }
        if self.flush.val() {
            self.issued.d.next = 0.into();
            self.second_ends.d.next = false;
        }
        if self.link_reset.val() {
            self.flying.d.next = 0.into();
            self.took_two.d.next = false;
        }
    }
}
