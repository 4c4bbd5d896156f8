//! Packs requests into beats of the RQ port, in straddle format: up to two TLPs in a beat.
//!
//! ```text
//!   write_tlp ──►┌─────────────┐ step ┌────────────────────┐
//!   read_tlp  ──►│ RequestPlan │─────►│ RequestPacker      │──► rq_tdata, rq_tuser, rq_tvalid
//!                └─────────────┘      └─────────▲──────────┘
//!   beat ───────────────────────────► PayloadMemory: 64 beats, any 16 dwords in one read
//! ```
//! Timing: a read is on the port two cycles after it was taken, a write three; one beat a cycle.
//! The plan decides what the beat holds, the packer reads the payload and registers the beat.
//!
//! Invariants:
//! 1. A write is taken only when all of its payload is stored: `rq_tvalid` never falls inside a
//!    TLP.
//! 2. A TLP starts at dword 0, or at dword 8 when another one ends in dwords 0 to 7; that one may
//!    have started in the same beat if both are writes. Bytes between TLPs are undefined.
//! 3. Without `run` no TLP starts; those at hand are finished.
//! 4. `link_reset` drops everything at once: the hard block has forgotten it too.
//! 5. `flush` with `idle` gives up all stored payload.
//!
//! Source: PG213, requester request interface, 512 bit, straddle.

pub mod payload_memory;
pub mod plan;
pub mod ready_write;
pub mod start_count;
pub mod step;

use crate::messages::RequestTlp;
use crate::pack::payload_memory::PayloadMemory;
use crate::pack::plan::RequestPlan;
use crate::pack::step::Step;
use stream::prelude::*;

/// RQ side band of a step: starts and their enables and sequence numbers, ends.
#[derive(LogicBlock, Default)]
pub struct SideBand {
    /// The step.
    pub step: Signal<In, Step>,
    /// RQ side band.
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
        // The second start is at dword 8 always, the first where no other is at dword 0.
        self.has_start.next = self.step.val().starts_front | self.step.val().starts_rear;
        self.begins_rear.next = !self.step.val().starts_front;
        self.has_two.next = self.step.val().starts_front & self.step.val().starts_rear;
        self.first.next = bit_cast::<137, 4>(self.step.val().first_be)
            | (bit_cast::<137, 4>(self.step.val().last_be) << 8)
            | (bit_cast::<137, 1>(self.has_start.val().into()) << 20)
            | (bit_cast::<137, 1>(self.begins_rear.val().into()) << 23)
            | (bit_cast::<137, 6>(self.step.val().sequence) << 61);
        self.second.next = (bit_cast::<137, 4>(self.step.val().second_first_be) << 4)
            | (bit_cast::<137, 4>(self.step.val().second_last_be) << 12)
            | (bit_cast::<137, 1>(self.has_two.val().into()) << 21)
            | (bit_cast::<137, 1>(self.has_two.val().into()) << 25)
            | (bit_cast::<137, 6>(self.step.val().second_sequence) << 67);
        self.ends.next = (bit_cast::<137, 2>(self.step.val().ends) << 26)
            | (bit_cast::<137, 4>(self.step.val().end_0) << 28)
            | (bit_cast::<137, 4>(self.step.val().end_1) << 32);
        self.user.next = self.ends.val();
        if self.has_start.val() {
            self.user.next = self.first.val() | self.ends.val();
        }
        if self.has_two.val() {
            self.user.next = self.first.val() | self.second.val() | self.ends.val();
        }
    }
}

/// The data of a step: payload, a start at dword 0 with payload behind it, a start at dword 8
/// likewise.
#[derive(LogicBlock, Default)]
pub struct StepData {
    /// The step.
    pub step: Signal<In, Step>,
    /// Payload from its window on.
    pub body: Signal<In, Bits<512>>,
    /// The first dwords of the half beat that it names.
    pub fresh_head: Signal<In, Bits<128>>,
    /// RQ data.
    pub data: Signal<Out, Bits<512>>,

    tail_end: Signal<Local, Bits<3>>,
    tail_shift: Signal<Local, Bits<9>>,
    rear: Signal<Local, Bits<352>>,
    head: Signal<Local, Bits<128>>,
    front: Signal<Local, Bits<512>>,
    back: Signal<Local, Bits<256>>,
}

impl Logic for StepData {
    #[hdl_gen]
    fn update(&mut self) {
        self.tail_end.next = bit_cast::<3, 4>(self.step.val().end_0);
        self.tail_shift.next = bit_cast::<9, 3>(self.tail_end.val()) << 5;
        self.rear.next = self.body.val().get_bits::<352>(32);
        self.head.next = self
            .rear
            .val()
            .get_bits::<128>(self.tail_shift.val().index());
        if self.step.val().begins_half {
            self.head.next = self.fresh_head.val();
        }
        self.front.next = self.body.val();
        if self.step.val().starts_front {
            self.front.next =
                (self.body.val() << 128) | bit_cast::<512, 128>(self.step.val().front_header);
        }
        self.back.next = self.front.val().get_bits::<256>(256);
        if self.step.val().starts_rear {
            self.back.next = bit_cast::<256, 128>(self.step.val().rear_header)
                | (bit_cast::<256, 128>(self.head.val()) << 128);
        }
        self.data.next = bit_cast::<512, 256>(self.front.val().get_bits::<256>(0))
            | (bit_cast::<512, 256>(self.back.val()) << 256);
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct RequestPacker {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The hard block is in reset.
    pub link_reset: Signal<In, Bit>,
    /// Gives up the stored payload as soon as no TLP is at hand.
    pub flush: Signal<In, Bit>,
    /// TLPs may start.
    pub run: Signal<In, Bit>,
    /// What is received piles up: writes go before reads.
    pub rx_crowded: Signal<In, Bit>,

    /// Writes in.
    pub write_tlp: MessageSink<RequestTlp>,
    /// Their payload.
    pub beat: MessageSink<Bits<512>>,
    /// Reads in.
    pub read_tlp: MessageSink<RequestTlp>,

    /// RQ data.
    pub rq_tdata: Signal<Out, Bits<512>>,
    /// RQ side band.
    pub rq_tuser: Signal<Out, Bits<137>>,
    /// RQ beat is offered.
    pub rq_tvalid: Signal<Out, Bit>,
    /// RQ beat is taken.
    pub rq_tready: Signal<In, Bit>,

    /// Writes whose sequence number came back in this cycle, 0 to 2.
    pub writes_returned: Signal<In, Bits<2>>,
    /// Beats stored so far.
    pub written: Signal<Out, Bits<12>>,
    /// No TLP is at hand.
    pub idle: Signal<Out, Bit>,
    /// A write was taken.
    pub write_taken: Signal<Out, Bit>,
    /// A read was taken.
    pub read_taken: Signal<Out, Bit>,
    /// Write jobs since `flush` whose last TLP was taken, modulo 2^16.
    pub jobs_issued: Signal<Out, Bits<16>>,
    /// A write waits: too many are on their way.
    pub window_stall: Signal<Out, Bit>,
    /// A write waits for its bytes.
    pub data_stall: Signal<Out, Bit>,
    /// Writes that have not returned their sequence number.
    pub writes_in_flight: Signal<Out, Bits<6>>,
    /// Beats that wait to be sent.
    pub beats_held: Signal<Out, Bits<7>>,

    plan: RequestPlan,
    memory: PayloadMemory,
    side_band: SideBand,
    step_data: StepData,
    data: DFF<Bits<512>>,
    user: DFF<Bits<137>>,
    offered: DFF<Bit>,

    take: Signal<Local, Bit>,
    step: Signal<Local, Step>,
}

impl Logic for RequestPacker {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, data, user, offered);
        clock!(self, clock, plan, memory);
        MessageSink::<RequestTlp>::link(&mut self.write_tlp, &mut self.plan.write_tlp);
        MessageSink::<RequestTlp>::link(&mut self.read_tlp, &mut self.plan.read_tlp);
        MessageSink::<Bits<512>>::link(&mut self.beat, &mut self.memory.beat);
        self.plan.link_reset.next = self.link_reset.val();
        self.plan.flush.next = self.flush.val();
        self.plan.run.next = self.run.val();
        self.plan.written.next = self.memory.written.val();
        self.plan.stores.next = self.memory.stores.val();
        self.plan.writes_returned.next = self.writes_returned.val();
        self.memory.flush.next = self.flush.val() & self.plan.idle.val() & !self.offered.q.val();
        self.memory.hold.next = self.flush.val();
        self.written.next = self.memory.written.val();
        self.idle.next = self.plan.idle.val() & !self.offered.q.val();
        self.write_taken.next = self.plan.write_taken.val();
        self.read_taken.next = self.plan.read_taken.val();
        self.jobs_issued.next = self.plan.jobs_issued.val();
        self.window_stall.next = self.plan.window_stall.val();
        self.data_stall.next = self.plan.data_stall.val();
        self.writes_in_flight.next = self.plan.writes_in_flight.val();
        self.beats_held.next = self.memory.beats_held.val();
        self.plan.rx_crowded.next = self.rx_crowded.val();

        self.step.next = self.plan.step.payload.val();
        self.side_band.step.next = self.plan.step.payload.val();
        self.take.next = !self.offered.q.val() | self.rq_tready.val();
        self.plan.step.ready.next = self.take.val();
        self.memory.window.next = self.step.val().window;
        self.memory.window_behind.next = self.step.val().window_behind;
        self.memory.fresh.next = self.step.val().half;
        self.memory.advance.next =
            self.take.val() & self.plan.step.valid.val() & self.step.val().loads;

        self.step_data.step.next = self.plan.step.payload.val();
        self.step_data.body.next = self.memory.dwords.val();
        self.step_data.fresh_head.next = self.memory.fresh_head.val();
        if self.take.val() {
            self.offered.d.next = self.plan.step.valid.val();
            self.user.d.next = self.side_band.user.val();
            self.data.d.next = self.step_data.data.val();
        }
        if self.link_reset.val() {
            self.offered.d.next = false;
        }
        self.rq_tdata.next = self.data.q.val();
        self.rq_tuser.next = self.user.q.val();
        self.rq_tvalid.next = self.offered.q.val();
    }
}
