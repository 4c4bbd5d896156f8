//! Counts the requests that are taken: next sequence number, writes in flight, jobs issued.
//!
//! ```text
//!  takes_write, takes_second ─┬─────────────► number
//!  takes_read ────────────────┘
//!  takes_write, [takes_second] ─► in flight ─► in_window, [two_in_window]
//!  writes_returned ───────────────┘   └─► jobs_issued
//! ```
//! A write is in flight from the time it is taken until the hard block returns its sequence number.
//!
//! Timing: outputs depend on registers only, except `write_counted`, which is combinational.
//!
//! Invariants:
//! 1. Of two writes that are taken in one cycle the second is counted one cycle later. No other
//!    write is taken in that cycle.
//! 2. At most 32 writes are in flight.
//! 3. Numbers that return after `forget` are of no write that is counted: `in_flight` stays at 0.
//!
//! Source: PG213, requester request interface, sequence numbers.

use stream::prelude::*;

/// Most writes whose sequence number has not returned.
const WRITES_IN_FLIGHT_MAX: u64 = 32;

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct StartCount {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The PCIe hard block is in reset: no write is in flight.
    pub link_reset: Signal<In, Bit>,
    /// Jobs are forgotten: `jobs_issued` starts at 0.
    pub flush: Signal<In, Bit>,
    /// The hard block may have dropped what it took: no write is in flight. Not while one is taken.
    pub forget: Signal<In, Bit>,

    /// A write is taken. Allowed only with `in_window`.
    pub takes_write: Signal<In, Bit>,
    /// The write is the last TLP of its job.
    pub is_last: Signal<In, Bit>,
    /// A second write is taken in the same cycle. Allowed only with `two_in_window`.
    pub takes_second: Signal<In, Bit>,
    /// The second write is the last TLP of its job.
    pub second_is_last: Signal<In, Bit>,
    /// A read is taken.
    pub takes_read: Signal<In, Bit>,
    /// Number of writes whose sequence number returned in this cycle, 0 to 2.
    pub writes_returned: Signal<In, Bits<2>>,

    /// Sequence number of the next request, without bit 5, which distinguishes reads from writes.
    pub number: Signal<Out, Bits<5>>,
    /// A write is counted in this cycle.
    pub write_counted: Signal<Out, Bit>,
    /// Number of writes whose sequence number has not returned.
    pub in_flight: Signal<Out, Bits<6>>,
    /// At least one more write may be taken.
    pub in_window: Signal<Out, Bit>,
    /// At least two more writes may be taken.
    pub two_in_window: Signal<Out, Bit>,
    /// Number of write jobs since `flush` whose last TLP was taken, modulo 2^16.
    pub jobs_issued: Signal<Out, Bits<16>>,

    unreturned: DFF<Bits<6>>,
    next_number: DFF<Bits<5>>,
    issued: DFF<Bits<16>>,
    took_two: DFF<Bit>,
    two_fit: DFF<Bit>,
    second_ends: DFF<Bit>,

    counted: Signal<Local, Bit>,
    after_take: Signal<Local, Bits<6>>,
    returned: Signal<Local, Bits<6>>,
    #[value(WRITES_IN_FLIGHT_MAX)]
    in_flight_max: Constant<Bits<6>>,
    #[value(WRITES_IN_FLIGHT_MAX - 2)]
    in_flight_max_of_two: Constant<Bits<6>>,
}

impl Logic for StartCount {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, unreturned, next_number, issued, took_two, two_fit, second_ends);
        self.number.next = self.next_number.q.val();
        self.in_flight.next = self.unreturned.q.val();
        self.in_window.next = self.unreturned.q.val() < self.in_flight_max.val();
        // One more write may be taken before this register is used.
        self.two_fit.d.next = self.unreturned.q.val() < self.in_flight_max_of_two.val();
        self.two_in_window.next = self.two_fit.q.val();
        self.jobs_issued.next = self.issued.q.val();

        self.took_two.d.next = self.takes_second.val();
        self.second_ends.d.next = self.takes_second.val() & self.second_is_last.val();
        self.counted.next = self.takes_write.val() | self.took_two.q.val();
        self.write_counted.next = self.counted.val();
        if self.takes_write.val() | self.takes_read.val() {
            self.next_number.d.next = self.next_number.q.val() + 1;
        }
        if self.takes_second.val() {
            self.next_number.d.next = self.next_number.q.val() + 2;
        }
        self.after_take.next = self.unreturned.q.val();
        if self.counted.val() {
            self.after_take.next = self.unreturned.q.val() + 1;
        }
        self.returned.next = bit_cast::<6, 2>(self.writes_returned.val());
        self.unreturned.d.next = self.after_take.val() - self.returned.val();
        if self.forget.val() | (self.after_take.val() < self.returned.val()) {
            self.unreturned.d.next = 0.into();
        }
        if (self.takes_write.val() & self.is_last.val()) | self.second_ends.q.val() {
            self.issued.d.next = self.issued.q.val() + 1;
        }
        if self.flush.val() {
            self.issued.d.next = 0.into();
            self.second_ends.d.next = false;
        }
        if self.link_reset.val() {
            self.unreturned.d.next = 0.into();
            self.took_two.d.next = false;
        }
    }
}
