//! Tells whether the last write job of a client is still under way to the host.
//!
//! ```text
//!  taken ──► Number ──► Issue ──────► Return ──► Rest
//!              │          │              └ as many sequence numbers have come back as then missed
//!              │          └ its last request is on its way to the RQ port
//!              └ the count of jobs includes it
//! ```
//! A job has left when the sequence number of its last request has come back: from then on no
//! completion of the card can overtake it.
//!
//! Timing: `under_way` rises one cycle after `taken`, and falls two cycles after that number.
//!
//! Invariants:
//! 1. `under_way` is high from the cycle after `taken` until the job has left. A job that is taken
//!    meanwhile is waited for as well: writes leave in order.
//! 2. After `flush` it is high until whatever had begun before has left.
//!
//! Source: PG213, requester request interface, sequence numbers.

use stream::prelude::*;

/// Where the job is.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum LastJobPhase {
    /// There is none.
    Rest,
    /// Learns its number.
    Number,
    /// Waits until its requests are issued.
    Issue,
    /// Waits until their sequence numbers have come back.
    Return,
}

/// The watch. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct LastJob {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The PCIe hard block is in reset: it has lost everything.
    pub link_reset: Signal<In, Bit>,
    /// Jobs are forgotten, but for a request that has begun.
    pub flush: Signal<In, Bit>,
    /// A job of the client is accepted in this cycle.
    pub taken: Signal<In, Bit>,
    /// Number of jobs of all clients accepted before this cycle, modulo 2^16.
    pub jobs_accepted: Signal<In, Bits<16>>,
    /// Number of jobs whose last request was taken for the RQ port, modulo 2^16.
    pub jobs_issued: Signal<In, Bits<16>>,
    /// Number of write requests whose sequence number has not returned.
    pub in_flight: Signal<In, Bits<6>>,
    /// Number of write requests whose sequence number returned in this cycle, 0 to 2.
    pub writes_returned: Signal<In, Bits<2>>,

    /// The last job of the client has not left.
    pub under_way: Signal<Out, Bit>,

    phase: DFF<LastJobPhase>,
    number: DFF<Bits<16>>,
    behind: DFF<Bits<6>>,

    missing: Signal<Local, Bits<16>>,
    is_issued: Signal<Local, Bit>,
    returned: Signal<Local, Bits<6>>,
    counted: Signal<Local, Bits<6>>,
}

impl Logic for LastJob {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, phase, number, behind);
        self.under_way.next = self.phase.q.val() != LastJobPhase::Rest;
        self.missing.next = self.number.q.val() - self.jobs_issued.val();
        self.is_issued.next = self.missing.val().get_bit(15) | (self.missing.val() == 0);
        self.returned.next = bit_cast::<6, 2>(self.writes_returned.val());

        // Requests that the job waits for: all that are in flight once it is issued.
        self.counted.next = self.behind.q.val();
        if (self.phase.q.val() != LastJobPhase::Return) | self.flush.val() {
            self.counted.next = self.in_flight.val();
        }
        self.behind.d.next = self.counted.val() - self.returned.val();
        if self.counted.val() < self.returned.val() {
            self.behind.d.next = 0.into();
        }

        match self.phase.q.val() {
            LastJobPhase::Rest => {}
            LastJobPhase::Number => {
                self.number.d.next = self.jobs_accepted.val();
                self.phase.d.next = LastJobPhase::Issue;
            }
            LastJobPhase::Issue => {
                if self.is_issued.val() {
                    self.phase.d.next = LastJobPhase::Return;
                }
            }
            LastJobPhase::Return => {
                if !self.behind.q.val().any() {
                    self.phase.d.next = LastJobPhase::Rest;
                }
            }
        }
        if self.taken.val() {
            self.phase.d.next = LastJobPhase::Number;
        }
        if self.flush.val() & (self.phase.q.val() != LastJobPhase::Rest) {
            self.phase.d.next = LastJobPhase::Return;
        }
        if self.link_reset.val() {
            self.phase.d.next = LastJobPhase::Rest;
        }
    }
}
