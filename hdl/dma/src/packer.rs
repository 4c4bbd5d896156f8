//! Packs requests into beats of the RQ port in straddle format: up to two TLPs in a beat.
//!
//! ```text
//!   write_tlp ──►┌────────────────┐ plan ┌──────────────────────────┐
//!   read_tlp  ──►│ RequestPlanner │─────►│ SideBand, BeatData, [RQ] │──► rq_*
//!                └────────────────┘      └────────────▲─────────────┘
//!   beat ─────────────────────────────────► PayloadMemory: 64 beats, 16 dwords from any dword on
//! ```
//! A *position* is the number of a dword among all dwords of the beats that entered the payload
//! memory, modulo 2^16. A TLP on the port is a descriptor of 4 dwords followed by its payload.
//!
//! Timing: a read is on the port two cycles after it was taken, a write three; one beat per cycle.
//! The planner decides what the beat holds, the packer reads the payload and registers the beat.
//! `rq_tdata`, `rq_tuser` and `rq_tvalid` are registers.
//!
//! Invariants:
//! 1. A write is taken only when all of its payload is stored: `rq_tvalid` never falls inside a
//!    TLP.
//! 2. A TLP starts at dword 0, or at dword 8 if another TLP ends in dwords 0 to 7. That one may
//!    have started in the same beat if both are writes. Bytes between TLPs are undefined.
//! 3. Without `run` no TLP starts; a TLP that has begun is finished.
//! 4. `link_reset` drops everything at once: the hard block has dropped it too.
//! 5. `flush` together with `idle` gives up all stored payload.
//!
//! Source: docs/specification.md, Writes; PG213, requester request interface, 512 bit, straddle.

pub mod beat_planner;
pub mod payload_memory;
pub mod ready_write;
pub mod request_choice;
pub mod request_planner;
pub mod start_count;

use crate::messages::RequestTlp;
use crate::packer::beat_planner::BeatPlan;
use crate::packer::payload_memory::PayloadMemory;
use crate::packer::request_planner::RequestPlanner;
use stream::prelude::*;

/// RQ side band of a beat: starts with their byte enables and sequence numbers, and ends.
///
/// Timing: combinational.
#[derive(LogicBlock, Default)]
pub struct SideBand {
    /// Plan of the beat.
    pub plan: Signal<In, BeatPlan>,
    /// `tuser` of the beat, as PG213 lays it out.
    pub user: Signal<Out, Bits<137>>,

    first: Signal<Local, Bits<137>>,
    second: Signal<Local, Bits<137>>,
    has_start: Signal<Local, Bit>,
    has_two: Signal<Local, Bit>,
    begins_rear: Signal<Local, Bit>,
    ends: Signal<Local, Bits<137>>,
}

impl Logic for SideBand {
    #[hdl_gen]
    fn update(&mut self) {
        // A second start is always at dword 8; the first is there if none is at dword 0.
        self.has_start.next = self.plan.val().starts_front | self.plan.val().starts_rear;
        self.begins_rear.next = !self.plan.val().starts_front;
        self.has_two.next = self.plan.val().starts_front & self.plan.val().starts_rear;
        self.first.next = bit_cast::<137, 4>(self.plan.val().first_be)
            | (bit_cast::<137, 4>(self.plan.val().last_be) << 8)
            | (bit_cast::<137, 1>(self.has_start.val().into()) << 20)
            | (bit_cast::<137, 1>(self.begins_rear.val().into()) << 23)
            | (bit_cast::<137, 6>(self.plan.val().sequence) << 61);
        self.second.next = (bit_cast::<137, 4>(self.plan.val().second_first_be) << 4)
            | (bit_cast::<137, 4>(self.plan.val().second_last_be) << 12)
            | (bit_cast::<137, 1>(self.has_two.val().into()) << 21)
            | (bit_cast::<137, 1>(self.has_two.val().into()) << 25)
            | (bit_cast::<137, 6>(self.plan.val().second_sequence) << 67);
        self.ends.next = (bit_cast::<137, 2>(self.plan.val().ends) << 26)
            | (bit_cast::<137, 4>(self.plan.val().end_0) << 28)
            | (bit_cast::<137, 4>(self.plan.val().end_1) << 32);
        self.user.next = self.ends.val();
        if self.has_start.val() {
            self.user.next = self.first.val() | self.ends.val();
        }
        if self.has_two.val() {
            self.user.next = self.first.val() | self.second.val() | self.ends.val();
        }
    }
}

/// RQ data of a beat: payload, a start at dword 0 followed by payload, a start at dword 8 followed
/// by payload.
///
/// Timing: combinational.
#[derive(LogicBlock, Default)]
pub struct BeatData {
    /// Plan of the beat.
    pub plan: Signal<In, BeatPlan>,
    /// The 16 payload dwords from `plan.window` on.
    pub body: Signal<In, Bits<512>>,
    /// Dwords 0 to 3 of the half beat `plan.half`.
    pub half_head: Signal<In, Bits<128>>,
    /// `tdata` of the beat. Bytes between TLPs are undefined.
    pub data: Signal<Out, Bits<512>>,

    tail_end: Signal<Local, Bits<3>>,
    tail_shift: Signal<Local, Bits<9>>,
    rear: Signal<Local, Bits<352>>,
    head: Signal<Local, Bits<128>>,
    front: Signal<Local, Bits<512>>,
    back: Signal<Local, Bits<256>>,
}

impl Logic for BeatData {
    #[hdl_gen]
    fn update(&mut self) {
        self.tail_end.next = bit_cast::<3, 4>(self.plan.val().end_0);
        self.tail_shift.next = bit_cast::<9, 3>(self.tail_end.val()) << 5;
        self.rear.next = self.body.val().get_bits::<352>(32);
        self.head.next = self.rear.val().get_bits::<128>(self.tail_shift.val().index());
        if self.plan.val().begins_half {
            self.head.next = self.half_head.val();
        }
        self.front.next = self.body.val();
        if self.plan.val().starts_front {
            self.front.next =
                (self.body.val() << 128) | bit_cast::<512, 128>(self.plan.val().front_header);
        }
        self.back.next = self.front.val().get_bits::<256>(256);
        if self.plan.val().starts_rear {
            self.back.next = bit_cast::<256, 128>(self.plan.val().rear_header)
                | (bit_cast::<256, 128>(self.head.val()) << 128);
        }
        self.data.next = bit_cast::<512, 256>(self.front.val().get_bits::<256>(0))
            | (bit_cast::<512, 256>(self.back.val()) << 256);
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Packer {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The PCIe hard block is in reset: the current TLP is dropped, no write is in flight.
    pub link_reset: Signal<In, Bit>,
    /// Jobs are forgotten: the job count starts at 0, and stored payload is given up as soon as no
    /// TLP is in progress.
    pub flush: Signal<In, Bit>,
    /// The hard block may have dropped what it took: no write is in flight. Only while `idle`.
    pub forget: Signal<In, Bit>,
    /// TLPs may start.
    pub run: Signal<In, Bit>,
    /// The packet buffer is almost full: writes go before reads.
    pub rx_almost_full: Signal<In, Bit>,

    /// Write requests, in job order.
    pub write_tlp: MessageSink<RequestTlp>,
    /// Payload of the writes: beats in the order of `write_tlp`, at the positions that the requests
    /// name.
    pub beat: MessageSink<Bits<512>>,
    /// Read requests.
    pub read_tlp: MessageSink<RequestTlp>,

    /// Data of the RQ port.
    pub rq_tdata: Signal<Out, Bits<512>>,
    /// Side band of the RQ port.
    pub rq_tuser: Signal<Out, Bits<137>>,
    /// A beat is offered on the RQ port.
    pub rq_tvalid: Signal<Out, Bit>,
    /// The hard block takes the beat.
    pub rq_tready: Signal<In, Bit>,

    /// Number of writes whose sequence number returned in this cycle, 0 to 2.
    pub writes_returned: Signal<In, Bits<2>>,
    /// Number of beats stored so far, modulo 2^12.
    pub written: Signal<Out, Bits<12>>,
    /// No TLP is in progress.
    pub idle: Signal<Out, Bit>,
    /// A write was taken.
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
    /// Number of payload beats that wait to be sent.
    pub beats_held: Signal<Out, Bits<7>>,

    planner: RequestPlanner,
    memory: PayloadMemory,
    side_band: SideBand,
    beat_data: BeatData,
    data: DFF<Bits<512>>,
    user: DFF<Bits<137>>,
    offered: DFF<Bit>,

    take: Signal<Local, Bit>,
    plan: Signal<Local, BeatPlan>,
}

impl Logic for Packer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, data, user, offered);
        clock!(self, clock, planner, memory);
        MessageSink::<RequestTlp>::link(&mut self.write_tlp, &mut self.planner.write_tlp);
        MessageSink::<RequestTlp>::link(&mut self.read_tlp, &mut self.planner.read_tlp);
        MessageSink::<Bits<512>>::link(&mut self.beat, &mut self.memory.beat);
        self.planner.link_reset.next = self.link_reset.val();
        self.planner.flush.next = self.flush.val();
        self.planner.forget.next = self.forget.val();
        self.planner.run.next = self.run.val();
        self.planner.written.next = self.memory.written.val();
        self.planner.stores.next = self.memory.stores.val();
        self.planner.writes_returned.next = self.writes_returned.val();
        self.memory.flush.next = self.flush.val() & self.planner.idle.val() & !self.offered.q.val();
        self.memory.hold.next = self.flush.val();
        self.written.next = self.memory.written.val();
        self.idle.next = self.planner.idle.val() & !self.offered.q.val();
        self.write_taken.next = self.planner.write_taken.val();
        self.read_taken.next = self.planner.read_taken.val();
        self.jobs_issued.next = self.planner.jobs_issued.val();
        self.window_stall.next = self.planner.window_stall.val();
        self.data_stall.next = self.planner.data_stall.val();
        self.writes_in_flight.next = self.planner.writes_in_flight.val();
        self.beats_held.next = self.memory.beats_held.val();
        self.planner.rx_almost_full.next = self.rx_almost_full.val();

        self.plan.next = self.planner.plan.payload.val();
        self.side_band.plan.next = self.planner.plan.payload.val();
        self.take.next = !self.offered.q.val() | self.rq_tready.val();
        self.planner.plan.ready.next = self.take.val();
        self.memory.window.next = self.plan.val().window;
        self.memory.window_behind.next = self.plan.val().window_behind;
        self.memory.half.next = self.plan.val().half;
        self.memory.advance.next =
            self.take.val() & self.planner.plan.valid.val() & self.plan.val().loads;

        self.beat_data.plan.next = self.planner.plan.payload.val();
        self.beat_data.body.next = self.memory.dwords.val();
        self.beat_data.half_head.next = self.memory.half_head.val();
        if self.take.val() {
            self.offered.d.next = self.planner.plan.valid.val();
            self.user.d.next = self.side_band.user.val();
            self.data.d.next = self.beat_data.data.val();
        }
        if self.link_reset.val() {
            self.offered.d.next = false;
        }
        self.rq_tdata.next = self.data.q.val();
        self.rq_tuser.next = self.user.q.val();
        self.rq_tvalid.next = self.offered.q.val();
    }
}
