//! All memory accesses of the card: the write engine and the read engine on the requester ports of
//! the PCIe hard block.
//!
//! ```text
//!  receive, completion, interrupt ──► WriteEngine ── tlp, beat ──►┐
//!                                                                 ├─► Packer ──► s_axis_rq
//!  command, send_ring, payload, flush ──► ReadEngine ── tlp ─────►┘
//!                 ◄── read data ─────────────┘◄──────────────────────────────── m_axis_rc
//! ```
//! Timing: see [`crate::write`], [`crate::read`] and [`crate::packer`]. A write of up to 64 bytes
//! is on the port 7 cycles after its job was taken, if its data came with the job.
//!
//! Invariants:
//! 1. Writes appear on the port in the order in which their jobs were accepted. A flush read
//!    follows every write whose job was accepted before the flush was offered. Other reads may pass
//!    writes.
//! 2. A TLP that has begun is finished, whatever `reset` and `bus_master` do; only `user_reset`
//!    cuts it off.
//! 3. `reset` forgets every job without a reply; clients are reset by the same signal. The job
//!    ports are not ready until all earlier writes have left, and no read is sent until all earlier
//!    reads have ended. `requests_pending` is high from the second cycle after `reset` until then:
//!    a completion that the card sends afterwards comes behind every earlier write. A write has
//!    left when its sequence number has returned. Where bus mastering was off since the last
//!    reset, the hard block may have dropped what it took: a write has left then with the port.
//!
//! On error: a read that fails in any part returns all its bytes with `abort` set. A timed-out read
//! quarantines its tag until reset.
//!
//! Source: docs/specification.md, Writes and Reads; decision 09; PG213, requester interfaces.

use crate::activity::ActivitySource;
use crate::last_job::LastJob;
use crate::messages::RequestTlp;
use crate::packer::Packer;
use crate::read::ReadEngine;
use crate::write::WriteEngine;
use ip::completion_buffer::CompletionBuffer;
use ip::pcie::{CompletionPort, RequestPort, SequencePort};
use stream::prelude::*;

/// Completion timeout: 50 ms in cycles of 4 ns.
pub const TIMEOUT_CYCLES: u32 = 12_500_000;

/// Counts the writes among the sequence numbers that return in a cycle. Bit 5 of a number is set
/// for reads.
///
/// Timing: combinational.
#[derive(LogicBlock, Default)]
pub struct ReturnedWrites {
    /// First sequence number of the cycle.
    pub number_0: Signal<In, Bits<6>>,
    /// The first sequence number is valid.
    pub valid_0: Signal<In, Bit>,
    /// Second sequence number of the cycle.
    pub number_1: Signal<In, Bits<6>>,
    /// The second sequence number is valid.
    pub valid_1: Signal<In, Bit>,
    /// Number of writes among the valid sequence numbers, 0 to 2.
    pub writes: Signal<Out, Bits<2>>,

    is_write_0: Signal<Local, Bit>,
    is_write_1: Signal<Local, Bit>,
}

impl Logic for ReturnedWrites {
    #[hdl_gen]
    fn update(&mut self) {
        self.is_write_0.next = self.valid_0.val() & !self.number_0.val().get_bit(5);
        self.is_write_1.next = self.valid_1.val() & !self.number_1.val().get_bit(5);
        self.writes.next = 0.into();
        if self.is_write_0.val() & self.is_write_1.val() {
            self.writes.next = 2.into();
        } else if self.is_write_0.val() | self.is_write_1.val() {
            self.writes.next = 1.into();
        }
    }
}

/// The block. See the module's head.
///
/// A read is given up after `timeout_cycles`, normally [`TIMEOUT_CYCLES`]. Reads in flight never
/// need more than the hard block's completion `buffer`.
#[derive(LogicBlock, BlockDefault)]
#[new(timeout_cycles: u32, buffer: CompletionBuffer)]
pub struct Requester {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Starts an epoch: every job is forgotten without a reply. A TLP that has begun is finished
    /// first; reads in flight are waited for.
    pub reset: Signal<In, Bit>,
    /// Reset of the PCIe hard block: it has lost every TLP. The current TLP is cut off; no
    /// completion of an earlier read is expected.
    pub user_reset: Signal<In, Bit>,
    /// Bus mastering is enabled. Without it no request starts, from the next cycle on.
    pub bus_master: Signal<In, Bit>,

    /// Write jobs of the receive path.
    pub receive_job: MessageSink<WriteJob>,
    /// Packets of the receive path's write jobs: one for each job, in order.
    pub receive_data: PacketSink,
    /// Write jobs of the completion rings.
    pub completion_job: MessageSink<WriteJob>,
    /// Packets of the completion rings' write jobs: one for each job, in order.
    pub completion_data: PacketSink,
    /// Write jobs of the interrupts.
    pub interrupt_job: MessageSink<WriteJob>,
    /// Packets of the interrupts' write jobs: one for each job, in order.
    pub interrupt_data: PacketSink,
    /// The last write of the interrupts has not left: a completion of the card could overtake it.
    pub interrupt_under_way: Signal<Out, Bit>,

    /// Read jobs of the command rings.
    pub command_job: MessageSink<ReadJob>,
    /// Read data for the command rings: one packet for each job, in order.
    pub command_data: PacketSource,
    /// Read jobs of the send rings.
    pub send_ring_job: MessageSink<ReadJob>,
    /// Read data for the send rings: one packet for each job, in order.
    pub send_ring_data: PacketSource,
    /// Read jobs for payload to send.
    pub payload_job: MessageSink<ReadJob>,
    /// Read data of payload to send: one packet for each job, in order.
    pub payload_data: PacketSource,
    /// Flush reads: each follows every write that was accepted before it was offered.
    pub flush_job: MessageSink<ReadJob>,
    /// Read data of flush reads: one packet for each job, in order.
    pub flush_data: PacketSource,

    /// Requester request interface of the hard block, straddle on.
    pub s_axis_rq: RequestPort,
    /// Requester completion interface of the hard block, straddle on.
    pub m_axis_rc: CompletionPort,
    /// Sequence numbers of the requests that have left the hard block.
    pub pcie_rq_seq: SequencePort,
    /// Maximum payload size set by the host: 128 << n bytes.
    pub cfg_max_payload: Signal<In, Bits<2>>,
    /// Maximum read request size set by the host: 128 << n bytes; at most 512 are used.
    pub cfg_max_read_req: Signal<In, Bits<3>>,
    /// Read completion boundary set by the host: high is 128 bytes, low is 64.
    pub cfg_rcb_status: Signal<In, Bit>,

    /// The host allows 8-bit tags (device control, bit 8): 256 tags are used, otherwise 32.
    pub extended_tags: Signal<In, Bit>,
    /// The packet buffer is almost full: writes go before reads.
    pub rx_almost_full: Signal<In, Bit>,

    /// A write TLP was taken for the RQ port. One pulse per TLP.
    pub write_tlp: Signal<Out, Bit>,
    /// A read TLP was taken for the RQ port. One pulse per TLP.
    pub read_tlp: Signal<Out, Bit>,
    /// A read timed out. One pulse per read.
    pub read_timeout: Signal<Out, Bit>,
    /// A completion was wrong or unexpected. One pulse per cycle with such a completion.
    pub read_error: Signal<Out, Bit>,
    /// Requests from before a reset have not ended: a write is not yet past the point where a
    /// completion can overtake it, or a read has not been answered.
    pub requests_pending: Signal<Out, Bit>,
    /// At least one timed-out tag is out of use until reset.
    pub tag_quarantined: Signal<Out, Bit>,
    /// Events and levels for counters and peaks.
    pub activity: ActivitySource,

    write: WriteEngine,
    #[value(ReadEngine::new(timeout_cycles, buffer))]
    read: ReadEngine,
    packer: Packer,
    returned: ReturnedWrites,
    interrupt: LastJob,
    flushing: DFF<Bit>,
    runs: DFF<Bit>,
    /// Bus mastering was off since the last reset ended.
    was_barred: DFF<Bit>,

    stop: Signal<Local, Bit>,
    stops: Signal<Local, Bit>,
    has_left: Signal<Local, Bit>,
    barred: Signal<Local, Bit>,
    events: Signal<Local, RequestEvents>,
}

impl Default for Requester {
    fn default() -> Self {
        Self::new(TIMEOUT_CYCLES, CompletionBuffer::default())
    }
}

impl Logic for Requester {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, flushing, runs, was_barred);
        clock!(self, clock, write, read, packer, interrupt);

        // Inside, a reset begins one cycle later and lasts until all earlier writes have left.
        self.stop.next = self.flushing.q.val();
        self.barred.next = self.was_barred.q.val() | !self.bus_master.val();
        self.has_left.next = self.packer.idle.val()
            & (!self.packer.writes_in_flight.val().any() | self.barred.val());
        self.stops.next = self.reset.val()
            | self.user_reset.val()
            | (self.flushing.q.val() & !self.has_left.val());
        // Until a reset has ended: numbers that are lost may be missed by a later one alone.
        self.was_barred.d.next = self.barred.val() & (!self.flushing.q.val() | self.stops.val());
        self.packer.forget.next =
            self.flushing.q.val() & self.packer.idle.val() & self.barred.val();
        self.flushing.d.next = self.stops.val();
        self.runs.d.next = self.bus_master.val() & !self.stops.val();
        self.write.reset.next = self.stop.val();
        self.read.reset.next = self.stop.val();
        self.read.link_reset.next = self.user_reset.val();
        self.packer.link_reset.next = self.user_reset.val();
        self.packer.flush.next = self.stop.val();
        self.packer.run.next = self.runs.q.val();
        self.packer.rx_almost_full.next = self.rx_almost_full.val();

        MessageSink::<WriteJob>::link(&mut self.receive_job, &mut self.write.client_0_job);
        PacketSink::link(&mut self.receive_data, &mut self.write.client_0_data);
        MessageSink::<WriteJob>::link(&mut self.completion_job, &mut self.write.client_1_job);
        PacketSink::link(&mut self.completion_data, &mut self.write.client_1_data);
        MessageSink::<WriteJob>::link(&mut self.interrupt_job, &mut self.write.client_2_job);
        PacketSink::link(&mut self.interrupt_data, &mut self.write.client_2_data);
        MessageSink::<ReadJob>::link(&mut self.command_job, &mut self.read.client_0_job);
        PacketSource::link(&mut self.command_data, &mut self.read.client_0_data);
        MessageSink::<ReadJob>::link(&mut self.send_ring_job, &mut self.read.client_1_job);
        PacketSource::link(&mut self.send_ring_data, &mut self.read.client_1_data);
        MessageSink::<ReadJob>::link(&mut self.payload_job, &mut self.read.client_2_job);
        PacketSource::link(&mut self.payload_data, &mut self.read.client_2_data);
        MessageSink::<ReadJob>::link(&mut self.flush_job, &mut self.read.client_3_job);
        PacketSource::link(&mut self.flush_data, &mut self.read.client_3_data);

        MessageSource::<RequestTlp>::join(&mut self.write.tlp, &mut self.packer.write_tlp);
        MessageSource::<Bits<512>>::join(&mut self.write.beat, &mut self.packer.beat);
        MessageSource::<RequestTlp>::join(&mut self.read.tlp, &mut self.packer.read_tlp);
        self.write.written.next = self.packer.written.val();
        self.write.max_payload.next = self.cfg_max_payload.val();
        self.read.max_read_request.next = self.cfg_max_read_req.val();
        self.read.extended_tags.next = self.extended_tags.val();
        self.read.rcb.next = self.cfg_rcb_status.val();
        self.read.writes_accepted.next = self.write.jobs_accepted.val();
        self.read.writes_issued.next = self.packer.jobs_issued.val();

        self.s_axis_rq.tdata.next = self.packer.rq_tdata.val();
        self.s_axis_rq.tkeep.next = 0xffff.into();
        self.s_axis_rq.tuser.next = self.packer.rq_tuser.val();
        self.s_axis_rq.tvalid.next = self.packer.rq_tvalid.val();
        self.s_axis_rq.tlast.next = false;
        self.packer.rq_tready.next = self.s_axis_rq.tready.val().get_bit(0);
        self.read.rc_tdata.next = self.m_axis_rc.tdata.val();
        self.read.rc_tuser.next = self.m_axis_rc.tuser.val();
        self.read.rc_tvalid.next = self.m_axis_rc.tvalid.val();
        self.m_axis_rc.tready.next = self.read.rc_tready.val();

        self.write_tlp.next = self.packer.write_taken.val();
        self.read_tlp.next = self.packer.read_taken.val();
        self.read_timeout.next = self.read.read_timeout.val();
        self.read_error.next = self.read.read_error.val();
        self.tag_quarantined.next = self.read.tag_quarantined.val();
        self.requests_pending.next = self.read.draining.val();

        self.events.next.rq_beats =
            self.packer.rq_tvalid.val() & self.s_axis_rq.tready.val().get_bit(0);
        self.events.next.rq_stall_cycles =
            self.packer.rq_tvalid.val() & !self.s_axis_rq.tready.val().get_bit(0);
        self.events.next.posted_credit_stall_cycles = false;
        self.events.next.nonposted_credit_stall_cycles = false;
        self.events.next.write_window_stall_cycles = self.packer.window_stall.val();
        self.events.next.write_data_stall_cycles = self.packer.data_stall.val();
        self.events.next.write_jobs = self.write.job_taken.val();
        self.events.next.write_job_stall_cycles =
            self.receive_job.valid.val() & !self.write.client_0_job.ready.val();
        self.activity.requests.next = self.events.val();
        self.activity.reads.next = self.read.events.val();
        self.activity.latency.next = self.read.latency.val();
        self.activity.payload_failed.next = self.read.payload_failed.val();
        self.activity.flush_failed.next = self.read.flush_failed.val();
        self.activity.unexpected.next = self.read.unexpected.val();
        self.activity.reads_in_flight.next = self.read.in_flight.val();
        self.activity.completion_headers.next = bit_cast::<16, 10>(self.read.headers_level.val());
        self.activity.completion_data.next = bit_cast::<16, 12>(self.read.data_level.val());
        self.activity.writes_in_flight.next = bit_cast::<16, 6>(self.packer.writes_in_flight.val());
        self.activity.write_beats.next = bit_cast::<16, 7>(self.packer.beats_held.val());
        self.activity.tags_quarantined.next = self.read.quarantined.val();

        self.returned.number_0.next = self.pcie_rq_seq.num0.val();
        self.returned.valid_0.next = self.pcie_rq_seq.num_vld0.val();
        self.returned.number_1.next = self.pcie_rq_seq.num1.val();
        self.returned.valid_1.next = self.pcie_rq_seq.num_vld1.val();
        self.packer.writes_returned.next = self.returned.writes.val();

        self.interrupt.link_reset.next = self.user_reset.val();
        self.interrupt.flush.next = self.stop.val();
        self.interrupt.taken.next =
            self.interrupt_job.valid.val() & self.write.client_2_job.ready.val();
        self.interrupt.jobs_accepted.next = self.write.jobs_accepted.val();
        self.interrupt.jobs_issued.next = self.packer.jobs_issued.val();
        self.interrupt.in_flight.next = self.packer.writes_in_flight.val();
        self.interrupt.writes_returned.next = self.returned.writes.val();
        self.interrupt_under_way.next = self.interrupt.under_way.val();
    }
}
