//! Plans the RQ port beat by beat: which requests start, and what each beat holds.
//!
//! ```text
//!   write_tlp ─► ReadyWrite: payload stored? ─► RequestChoice ──► BeatPlanner ──► [plan]
//!   read_tlp ───────────────────────────────────────┘               ▲  └─► [rest, position]
//!                                                                   └──────────┘
//! ```
//! A plan holds the tail of one TLP and the head of the next, or two writes.
//!
//! Timing: `plan` is a register; one plan per cycle. A read is in `plan` one cycle after it was
//! taken, a write two. `rx_almost_full` takes effect one cycle later.
//!
//! Invariants:
//! 1. Writes keep their order. Where the second half of a beat is free a read goes first (it needs
//!    no more); while the receive packet buffer is almost full (`rx_almost_full`), only after two
//!    writes: received data cannot wait, data to send can. At the beginning of a beat a write goes
//!    first. A read waits for four writes at most, a write for one read.
//! 2. A write is taken when `written` has passed its last beat and fewer than 32 writes are in
//!    flight, that is, have not returned their sequence number. A short write at the start of a
//!    beat takes the next one with it, if that one may start, too, and its payload begins at a
//!    half-beat boundary. The counters count that one a cycle later, when no other write is taken.
//!    Bit 5 of the sequence number is set for reads.
//! 3. Plans of one TLP follow each other without a plan of another TLP between them.
//!
//! Source: docs/specification.md, Writes; PG213, requester request interface, 512 bit, straddle.

use crate::messages::RequestTlp;
use crate::packer::beat_planner::{BeatPlan, BeatPlanner};
use crate::packer::ready_write::{FittedTlp, ReadyWrite};
use crate::packer::request_choice::RequestChoice;
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct RequestPlanner {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The PCIe hard block is in reset: the current TLP is dropped, no write is in flight.
    pub link_reset: Signal<In, Bit>,
    /// Jobs are forgotten: `jobs_issued` starts at 0.
    pub flush: Signal<In, Bit>,
    /// The hard block may have dropped what it took: no write is in flight. Only while `idle`.
    pub forget: Signal<In, Bit>,
    /// TLPs may start.
    pub run: Signal<In, Bit>,

    /// Writes, in job order.
    pub write_tlp: MessageSink<RequestTlp>,
    /// Reads.
    pub read_tlp: MessageSink<RequestTlp>,
    /// Plans of the beats, in port order.
    pub plan: MessageSource<BeatPlan>,

    /// Number of payload beats stored so far, modulo 2^12.
    pub written: Signal<In, Bits<12>>,
    /// A beat is stored in this cycle.
    pub stores: Signal<In, Bit>,
    /// The packet buffer is almost full: writes go before reads.
    pub rx_almost_full: Signal<In, Bit>,
    /// Number of writes whose sequence number returned in this cycle, 0 to 2.
    pub writes_returned: Signal<In, Bits<2>>,
    /// No TLP is in progress.
    pub idle: Signal<Out, Bit>,
    /// A write was taken. The second of two is reported one cycle later.
    pub write_taken: Signal<Out, Bit>,
    /// A read was taken.
    pub read_taken: Signal<Out, Bit>,
    /// Number of write jobs since `flush` whose last TLP was taken, modulo 2^16.
    pub jobs_issued: Signal<Out, Bits<16>>,
    /// A write waits because too many writes are in flight.
    pub window_stall: Signal<Out, Bit>,
    /// A write waits for its payload.
    pub data_stall: Signal<Out, Bit>,
    /// Number of writes whose sequence number has not returned.
    pub writes_in_flight: Signal<Out, Bits<6>>,

    ready_write: ReadyWrite,
    choice: RequestChoice,
    beat_planner: BeatPlanner,
    rest: DFF<Bits<9>>,
    is_open: DFF<Bit>,
    is_long: DFF<Bit>,
    position: DFF<Bits<16>>,
    full: DFF<Bit>,
    stage: DFF<BeatPlan>,
    almost_full: DFF<Bit>,

    advance: Signal<Local, Bit>,
    starts: Signal<Local, Bit>,
}

impl Logic for RequestPlanner {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, rest, is_open, is_long, position, full, stage, almost_full);
        clock!(self, clock, choice, ready_write);
        self.choice.link_reset.next = self.link_reset.val();
        self.choice.flush.next = self.flush.val();
        self.choice.forget.next = self.forget.val();
        self.choice.run.next = self.run.val();
        self.choice.straddles.next = self.is_open.q.val();
        self.almost_full.d.next = self.rx_almost_full.val();
        self.choice.rx_almost_full.next = self.almost_full.q.val();
        self.choice.writes_returned.next = self.writes_returned.val();
        self.ready_write.flush.next = self.flush.val();
        self.ready_write.written.next = self.written.val();
        self.ready_write.stores.next = self.stores.val();
        MessageSink::<RequestTlp>::link(&mut self.write_tlp, &mut self.ready_write.sink);
        MessageSource::<FittedTlp>::join(&mut self.ready_write.source, &mut self.choice.write_tlp);
        self.choice.is_stored.next = self.ready_write.is_stored.val();
        self.choice.second.next = self.ready_write.second.val();
        self.choice.second_ready.next = self.ready_write.second_ready.val();
        self.ready_write.takes_second.next = self.choice.takes_second.val();
        self.beat_planner.pairs.next = self.choice.pairs.val();
        self.beat_planner.second.next = self.ready_write.second.val();
        MessageSink::<RequestTlp>::link(&mut self.read_tlp, &mut self.choice.read_tlp);
        self.write_taken.next = self.choice.write_taken.val();
        self.read_taken.next = self.choice.read_taken.val();
        self.jobs_issued.next = self.choice.jobs_issued.val();
        self.window_stall.next = self.choice.window_stall.val();
        self.data_stall.next = self.choice.data_stall.val();
        self.writes_in_flight.next = self.choice.writes_in_flight.val();
        self.idle.next = !self.is_open.q.val() & !self.full.q.val();

        self.advance.next = !self.full.q.val() | self.plan.ready.val();
        self.choice.tlp.ready.next = self.advance.val() & !self.is_long.q.val();
        self.beat_planner.rest.next = self.rest.q.val();
        self.beat_planner.is_open.next = self.is_open.q.val();
        self.beat_planner.position.next = self.position.q.val();
        self.starts.next = self.choice.tlp.valid.val() & !self.is_long.q.val();
        self.beat_planner.starts.next = self.starts.val();
        self.beat_planner.fitted.next = self.choice.tlp.payload.val();
        self.beat_planner.number.next = self.choice.sequence_number.val();
        if self.advance.val() {
            self.full.d.next = self.is_open.q.val() | self.starts.val();
            self.stage.d.next = self.beat_planner.plan.val();
            self.rest.d.next = self.beat_planner.rest_after.val();
            self.is_open.d.next = self.beat_planner.is_open_after.val();
            self.is_long.d.next = self.beat_planner.is_long_after.val();
            self.position.d.next = self.beat_planner.position_after.val();
        }
        if self.link_reset.val() {
            self.rest.d.next = 0.into();
            self.is_open.d.next = false;
            self.is_long.d.next = false;
            self.full.d.next = false;
        }
        self.plan.valid.next = self.full.q.val();
        self.plan.payload.next = self.stage.q.val();
    }
}
