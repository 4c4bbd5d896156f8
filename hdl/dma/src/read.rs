//! The read engine: turns read jobs of four clients into memory read requests, and their
//! completions into packets.
//!
//! ```text
//!  client 0..3 job ──► ReadSelect ──► Cutter ──► ReadIssue ──► tlp
//!                                                 │   └── order ────────┐
//!                                                 ▼                     ▼
//!                                   TagTable ◄── RcCheck            ReorderRead ──► Realign ─┐
//!                                                 ▲ └─► ReorderMemory ──┘                    │
//!                                   rc_* ──► RcSplit           client 0..3 data ◄────────────┘
//! ```
//! Timing: one request per cycle; completions as fast as RC brings them (see [`rc_split`]); one
//! beat of read data per cycle.
//!
//! Invariants:
//! 1. Each job gets exactly one packet of exactly its bytes, from byte 0 of the first beat.
//! 2. Read data leave in the order in which jobs were accepted, over all clients. Every client must
//!    be able to take its read data without waiting for those of another.
//! 3. A request stays inside an aligned window of min(512, largest read request) bytes, so inside 4
//!    KiB.
//! 4. Requests in flight never need more completion buffer than the hard block has.
//! 5. A job of client 3, a flush, waits until all writes accepted before it was offered are on the
//!    RQ port.
//! 6. After `reset` no read data of an earlier job leave, and no request is sent until all earlier
//!    ones have ended, so that a late completion cannot be taken for one of a new request.
//!
//! On error: a packet ends with `abort` if any part of the read failed: wrong completion, error
//! status or timeout. The tag of a timed-out request is quarantined until reset.
//!
//! Source: docs/specification.md, Reads; PG213, requester completion interface.

pub mod completion_credit;
pub mod credit_return;
pub mod data_wait;
pub mod messages;
pub mod rc_check;
pub mod rc_descriptor;
pub mod rc_lookup;
pub mod rc_split;
pub mod read_activity;
pub mod read_issue;
pub mod read_latency;
pub mod read_requests;
pub mod read_return;
pub mod read_select;
pub mod realign;
pub mod reorder_memory;
pub mod reorder_read;
pub mod reorder_ring;
pub mod tag;
pub mod tag_arbiter;
pub mod tag_state;
pub mod tag_sweep;
pub mod tag_timer;
pub mod tag_verdicts;
pub mod tags;

use crate::messages::RequestTlp;
use crate::read::messages::ReadOrder;
use crate::read::read_activity::ReadActivity;
use crate::read::read_requests::ReadRequests;
use crate::read::read_return::ReadReturn;
use crate::read::tag::TagEvent;
use crate::read::tags::TagTable;
use ip::completion_buffer::CompletionBuffer;
use stream::prelude::*;

/// Passes a packet to one of four clients.
///
/// Timing: combinational.
#[derive(LogicBlock, Default)]
pub struct ClientDemux {
    /// Packets.
    pub packet: PacketSink,
    /// Client that gets the packet. It must not change within a packet.
    pub client: Signal<In, Bits<2>>,

    /// Packets of client 0.
    pub client_0: PacketSource,
    /// Packets of client 1.
    pub client_1: PacketSource,
    /// Packets of client 2.
    pub client_2: PacketSource,
    /// Packets of client 3.
    pub client_3: PacketSource,
}

impl Logic for ClientDemux {
    #[hdl_gen]
    fn update(&mut self) {
        self.packet.ready.next = false;
        self.client_0.valid.next = self.packet.valid.val() & (self.client.val() == 0);
        self.client_0.data.next = self.packet.data.val();
        self.client_0.byte_count.next = self.packet.byte_count.val();
        self.client_0.last.next = self.packet.last.val();
        self.client_0.abort.next = self.packet.abort.val();
        self.client_1.valid.next = self.packet.valid.val() & (self.client.val() == 1);
        self.client_1.data.next = self.packet.data.val();
        self.client_1.byte_count.next = self.packet.byte_count.val();
        self.client_1.last.next = self.packet.last.val();
        self.client_1.abort.next = self.packet.abort.val();
        self.client_2.valid.next = self.packet.valid.val() & (self.client.val() == 2);
        self.client_2.data.next = self.packet.data.val();
        self.client_2.byte_count.next = self.packet.byte_count.val();
        self.client_2.last.next = self.packet.last.val();
        self.client_2.abort.next = self.packet.abort.val();
        self.client_3.valid.next = self.packet.valid.val() & (self.client.val() == 3);
        self.client_3.data.next = self.packet.data.val();
        self.client_3.byte_count.next = self.packet.byte_count.val();
        self.client_3.last.next = self.packet.last.val();
        self.client_3.abort.next = self.packet.abort.val();
        if self.client.val() == 0 {
            self.packet.ready.next = self.client_0.ready.val();
        } else if self.client.val() == 1 {
            self.packet.ready.next = self.client_1.ready.val();
        } else if self.client.val() == 2 {
            self.packet.ready.next = self.client_2.ready.val();
        } else {
            self.packet.ready.next = self.client_3.ready.val();
        }
    }
}

/// The engine. See the module's head.
///
/// A read is given up after `timeout_cycles`. Reads in flight never need more than `buffer`.
#[derive(LogicBlock, BlockDefault)]
#[new(timeout_cycles: u32, buffer: CompletionBuffer)]
pub struct ReadEngine {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets all jobs. Requests in flight are waited for before new ones are sent.
    pub reset: Signal<In, Bit>,
    /// The PCIe hard block is in reset: no completion of an earlier request is expected.
    pub link_reset: Signal<In, Bit>,
    /// Requests from before a reset have not ended: none is sent until they have.
    pub draining: Signal<Out, Bit>,

    /// Read jobs of client 0.
    pub client_0_job: MessageSink<ReadJob>,
    /// Read data for client 0: one packet for each job, in order.
    pub client_0_data: PacketSource,
    /// Read jobs of client 1.
    pub client_1_job: MessageSink<ReadJob>,
    /// Read data for client 1: one packet for each job, in order.
    pub client_1_data: PacketSource,
    /// Read jobs of client 2.
    pub client_2_job: MessageSink<ReadJob>,
    /// Read data for client 2: one packet for each job, in order.
    pub client_2_data: PacketSource,
    /// Flush reads of client 3: each waits for the writes that were accepted before it was offered.
    pub client_3_job: MessageSink<ReadJob>,
    /// Read data for client 3: one packet for each job, in order.
    pub client_3_data: PacketSource,

    /// Read requests.
    pub tlp: MessageSource<RequestTlp>,
    /// Data of the RC port.
    pub rc_tdata: Signal<In, Bits<512>>,
    /// Side band of the RC port, straddle of four TLPs.
    pub rc_tuser: Signal<In, Bits<161>>,
    /// A beat is offered on the RC port.
    pub rc_tvalid: Signal<In, Bit>,
    /// The beat is taken.
    pub rc_tready: Signal<Out, Bit>,

    /// Largest read request set by the host: 128 << max_read_request bytes; at most 512 are used.
    pub max_read_request: Signal<In, Bits<3>>,
    /// Read completion boundary: high is 128 bytes, low is 64.
    pub rcb: Signal<In, Bit>,
    /// The host allows 8-bit tags: 256 tags are used, otherwise 32.
    pub extended_tags: Signal<In, Bit>,
    /// Number of write jobs accepted, modulo 2^16.
    pub writes_accepted: Signal<In, Bits<16>>,
    /// Number of write jobs whose last TLP was taken for the RQ port, modulo 2^16.
    pub writes_issued: Signal<In, Bits<16>>,
    /// A request timed out. One pulse per request.
    pub read_timeout: Signal<Out, Bit>,
    /// A completion was wrong or unexpected.
    pub read_error: Signal<Out, Bit>,
    /// At least one timed-out tag is out of use until reset.
    pub tag_quarantined: Signal<Out, Bit>,

    /// Events of reads, for counters.
    pub events: Signal<Out, ReadEvents>,
    /// Bucket of the latency of a sampled read.
    pub latency: Signal<Out, LatencyEvents>,
    /// A read of client 2, payload to send, failed.
    pub payload_failed: Signal<Out, Bit>,
    /// A read of client 3, a flush, failed.
    pub flush_failed: Signal<Out, Bit>,
    /// A completion came that belongs to no outstanding read.
    pub unexpected: Signal<Out, Bit>,
    /// Number of requests that were sent and whose read data have not been delivered.
    pub in_flight: Signal<Out, Bits<16>>,
    /// Number of tags that are out of use until reset.
    pub quarantined: Signal<Out, Bits<16>>,
    /// Completion headers that the requests in flight may need.
    pub headers_level: Signal<Out, Bits<10>>,
    /// Completion data that the requests in flight may need, in units of 16 bytes.
    pub data_level: Signal<Out, Bits<12>>,

    activity: ReadActivity,
    #[value(ReadRequests::new(buffer))]
    requests: ReadRequests,
    read_return: ReadReturn,
    #[value(TagTable::new(timeout_cycles))]
    tags: TagTable,
    demux: ClientDemux,

    has_quarantined: DFF<Bit>,
}

impl Logic for ReadEngine {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, has_quarantined);
        clock!(self, clock, requests, read_return, tags, activity);
        self.requests.reset.next = self.reset.val();
        self.read_return.reset.next = self.reset.val();
        self.tags.reset.next = self.reset.val();
        self.read_return.link_reset.next = self.link_reset.val();
        self.tags.link_reset.next = self.link_reset.val();

        MessageSink::<ReadJob>::link(&mut self.client_0_job, &mut self.requests.client_0_job);
        MessageSink::<ReadJob>::link(&mut self.client_1_job, &mut self.requests.client_1_job);
        MessageSink::<ReadJob>::link(&mut self.client_2_job, &mut self.requests.client_2_job);
        MessageSink::<ReadJob>::link(&mut self.client_3_job, &mut self.requests.client_3_job);
        MessageSource::<RequestTlp>::link(&mut self.tlp, &mut self.requests.tlp);
        MessageSource::<ReadOrder>::join(&mut self.requests.order, &mut self.read_return.order);
        self.requests.max_read_request.next = self.max_read_request.val();
        self.requests.extended_tags.next = self.extended_tags.val();
        self.requests.rcb.next = self.rcb.val();
        self.requests.writes_accepted.next = self.writes_accepted.val();
        self.requests.writes_issued.next = self.writes_issued.val();
        self.requests.draining.next = self.tags.draining.val();
        self.draining.next = self.tags.draining.val();
        self.tags.candidate.next = self.requests.candidate.val();
        self.requests.candidate_busy.next = self.tags.candidate_busy.val();
        self.requests.candidate_quarantined.next = self.tags.candidate_quarantined.val();

        // A tag is in use from issue to retirement.
        self.tags.issue.next = self.requests.issue.val();
        self.tags.issue_tag.next = self.requests.issue_tag.val();
        PulseSource::<TagEvent>::join(&mut self.read_return.event_0, &mut self.tags.event_0);
        PulseSource::<TagEvent>::join(&mut self.read_return.event_1, &mut self.tags.event_1);
        self.requests.event_0.valid.next = self.read_return.event_0.valid.val();
        self.requests.event_0.payload.next = self.read_return.event_0.payload.val();
        self.requests.event_1.valid.next = self.read_return.event_1.valid.val();
        self.requests.event_1.payload.next = self.read_return.event_1.payload.val();
        self.requests.event_known[0].next = self.tags.event_known[0].val();
        self.requests.event_known[1].next = self.tags.event_known[1].val();
        self.tags.retire.next = self.read_return.retire.valid.val();
        self.tags.retire_tag.next = self.read_return.retire.payload.val().tag;
        self.requests.delivered.valid.next = self.read_return.retire.valid.val();
        self.requests.delivered.payload.next = self.read_return.retire.payload.val();
        self.read_timeout.next = self.tags.timed_out.val();
        self.read_error.next = self.read_return.unexpected.val() | self.tags.wrong.val();
        self.has_quarantined.d.next = self.tags.has_quarantined.val();
        self.tag_quarantined.next = self.has_quarantined.q.val();

        self.read_return.issue.next = self.requests.issue.val();
        self.read_return.issue_tag.next = self.requests.issue_tag.val();
        self.read_return.record.next = self.requests.record.val();
        self.tags.completion_tag.next = self.read_return.start_tag.val();
        self.read_return.start_outstanding.next = self.tags.completion_known.val();
        self.tags.tail_tag.next = self.read_return.tail_tag.val();
        self.read_return.tail_outstanding.next = self.tags.tail_known.val();
        self.tags.answer_tag.next = self.read_return.oldest_tag.val();
        self.read_return.done.next = self.tags.answer_done.val();
        self.read_return.failed.next = self.tags.answer_failed.val();
        self.read_return.rc_tdata.next = self.rc_tdata.val();
        self.read_return.rc_tuser.next = self.rc_tuser.val();
        self.read_return.rc_tvalid.next = self.rc_tvalid.val();
        self.rc_tready.next = self.read_return.rc_tready.val();

        self.activity.reset.next = self.reset.val();
        self.activity.rc_valid.next = self.rc_tvalid.val();
        self.activity.rc_ready.next = self.read_return.rc_tready.val();
        self.activity.tag_stall.next = self.requests.tag_stall.val();
        self.activity.credit_stall.next = self.requests.credit_stall.val();
        self.activity.job_taken.next = self.requests.job_taken.val();
        self.activity.job_stall.next = self.requests.job_stall.val();
        self.activity.flush_wait.next = self.requests.flush_wait.val();
        self.activity.data_valid.next = self.read_return.packet.valid.val();
        self.activity.data_ready.next = self.demux.packet.ready.val();
        self.activity.data_failed.next =
            self.read_return.packet.last.val() & self.read_return.packet.abort.val();
        self.activity.client.next = self.read_return.client.val();
        self.activity.issue.next = self.requests.issue.val();
        self.activity.issue_tag.next = self.requests.issue_tag.val();
        self.tags.sampled_tag.next = self.activity.sampled_tag.val();
        self.activity.outstanding.next = self.tags.sampled_waits.val();
        self.activity.retire.next = self.read_return.retire.valid.val();
        self.activity.timed_out.next = self.tags.timed_out.val();
        self.events.next = self.activity.events.val();
        self.latency.next = self.activity.latency.val();
        self.payload_failed.next = self.activity.payload_failed.val();
        self.flush_failed.next = self.activity.flush_failed.val();
        self.unexpected.next = self.read_return.unexpected.val();
        self.in_flight.next = self.activity.in_flight.val();
        self.quarantined.next = self.activity.quarantined.val();
        self.headers_level.next = self.requests.headers_level.val();
        self.data_level.next = self.requests.data_level.val();

        PacketSource::join(&mut self.read_return.packet, &mut self.demux.packet);
        self.demux.client.next = self.read_return.client.val();
        PacketSource::link(&mut self.client_0_data, &mut self.demux.client_0);
        PacketSource::link(&mut self.client_1_data, &mut self.demux.client_1);
        PacketSource::link(&mut self.client_2_data, &mut self.demux.client_2);
        PacketSource::link(&mut self.client_3_data, &mut self.demux.client_3);
    }
}
