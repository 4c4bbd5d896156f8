//! Turns read jobs of four clients into memory read requests and their completions into packets.
//!
//! ```text
//!  client 0..3 job ──► ReadSelect ──► Cutter ──► ReadIssue ──► tlp
//!                                                 │      └── order ──┐
//!                                                 ▼                  ▼
//!                                   TagTable ◄── RcCheck          Gather ──► Realign ──► 0..3 data
//!                                                 ▲  └─► ReorderMemory ─┘
//!                                   rc_* ──► RcSplit
//! ```
//! <!-- ports -->
//! | Port | Direction | Bits | Meaning and duty |
//! |---|---|---|---|
//! | client_N_job | sink | | reads; those of client 3, flushes, wait for the writes before |
//! | client_N_data | source | | one packet for each job, in job order over all clients |
//! | tlp | source | | read requests |
//! | rc_tdata, rc_tuser, rc_tvalid, rc_tready | | | the vendor's RC port, straddle of four |
//! | max_read_request | in | 3 | 128 << max_read_request bytes; at most 512 are asked for |
//! | extended_tags | in | 1 | the host allows 8-bit tags: 256 are used, else 32 |
//! | rcb | in | 1 | completions are cut at 128 bytes instead of 64 |
//! | read_timeout, read_error | out | 1 | pulses: a request timed out; a completion was wrong |
//! | tag_quarantined | out | 1 | a timed-out tag is out of use until reset |
//! <!-- ports -->
//! Timing: one request a cycle; completions as fast as RC brings them (see [`rc_split`]);
//! one beat of answers a cycle.
//!
//! Invariants:
//! 1. Each job gets exactly one packet of exactly its bytes, from byte 0 of the first beat; `abort`
//!    when any part of the read failed.
//! 2. Answers leave in the order in which jobs were accepted. Every client must be able to take its
//!    answers without waiting for another's.
//! 3. A request stays inside an aligned window of min(512, largest read request) bytes, so inside 4
//!    KiB.
//! 4. Requests in flight never need more completion buffer than the hard block has.
//! 5. After `reset` no answer to an earlier job leaves, and no request goes out until all earlier
//!    ones have ended, so that a late completion cannot be taken for a new one.
//!
//! Source: PG213, requester completion interface.

pub mod answer_wait;
pub mod completion_room;
pub mod deliver;
pub mod messages;
pub mod rc_check;
pub mod rc_descriptor;
pub mod rc_lookup;
pub mod rc_split;
pub mod read_activity;
pub mod read_answers;
pub mod read_issue;
pub mod read_latency;
pub mod read_requests;
pub mod read_select;
pub mod reorder;
pub mod reorder_ring;
pub mod room_return;
pub mod tag;
pub mod tag_state;
pub mod tag_sweep;
pub mod tag_turn;
pub mod tag_verdicts;
pub mod tags;

use crate::messages::RequestTlp;
use crate::read::messages::ReadOrder;
use crate::read::read_activity::ReadActivity;
use crate::read::read_answers::ReadAnswers;
use crate::read::read_requests::ReadRequests;
use crate::read::tag::{Tag, TagEvent};
use crate::read::tags::TagTable;
use ip::board::CompletionBuffer;
use stream::prelude::*;

/// Gives a packet to one of four clients.
#[derive(LogicBlock, Default)]
pub struct ClientDemux {
    /// Packets in.
    pub packet: PacketSink,
    /// Client of the packet.
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
/// Gives a read up after `timeout_cycles`, asks no more than fits into `buffer`.
#[derive(LogicBlock, BlockDefault)]
#[new(timeout_cycles: u32, buffer: CompletionBuffer)]
pub struct ReadEngine {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets all jobs.
    pub reset: Signal<In, Bit>,
    /// The hard block is in reset: nothing is outstanding.
    pub link_reset: Signal<In, Bit>,

    /// Jobs of client 0.
    pub client_0_job: MessageSink<ReadJob>,
    /// Answers to client 0.
    pub client_0_data: PacketSource,
    /// Jobs of client 1.
    pub client_1_job: MessageSink<ReadJob>,
    /// Answers to client 1.
    pub client_1_data: PacketSource,
    /// Jobs of client 2.
    pub client_2_job: MessageSink<ReadJob>,
    /// Answers to client 2.
    pub client_2_data: PacketSource,
    /// Jobs of client 3.
    pub client_3_job: MessageSink<ReadJob>,
    /// Answers to client 3.
    pub client_3_data: PacketSource,

    /// Requests out.
    pub tlp: MessageSource<RequestTlp>,
    /// RC data.
    pub rc_tdata: Signal<In, Bits<512>>,
    /// RC side band.
    pub rc_tuser: Signal<In, Bits<161>>,
    /// RC beat is offered.
    pub rc_tvalid: Signal<In, Bit>,
    /// RC beat is taken.
    pub rc_tready: Signal<Out, Bit>,

    /// Largest read request: 128 << max_read_request bytes.
    pub max_read_request: Signal<In, Bits<3>>,
    /// Completions are cut at 128 bytes instead of 256.
    pub rcb: Signal<In, Bit>,
    /// The host allows 8-bit tags; without it 32 tags are used instead of 256.
    pub extended_tags: Signal<In, Bit>,
    /// Write jobs accepted, modulo 2^16.
    pub writes_accepted: Signal<In, Bits<16>>,
    /// Write jobs put on the RQ port, modulo 2^16.
    pub writes_issued: Signal<In, Bits<16>>,
    /// A request timed out.
    pub read_timeout: Signal<Out, Bit>,
    /// A completion was wrong or unexpected.
    pub read_error: Signal<Out, Bit>,
    /// A tag is out of use until reset.
    pub tag_quarantined: Signal<Out, Bit>,

    /// Events of the reads.
    pub events: Signal<Out, ReadEvents>,
    /// Buckets of their latency.
    pub latency: Signal<Out, LatencyEvents>,
    /// A read of client 2 failed.
    pub payload_failed: Signal<Out, Bit>,
    /// A read of client 3 failed.
    pub flush_failed: Signal<Out, Bit>,
    /// A completion that nobody waits for.
    pub unexpected: Signal<Out, Bit>,
    /// Requests in flight.
    pub in_flight: Signal<Out, Bits<16>>,
    /// Tags out of use.
    pub quarantined: Signal<Out, Bits<16>>,
    /// Completion headers that reads in flight may need.
    pub headers_level: Signal<Out, Bits<10>>,
    /// Completion data that they may need.
    pub data_level: Signal<Out, Bits<12>>,

    activity: ReadActivity,
    #[value(ReadRequests::new(buffer))]
    requests: ReadRequests,
    answers: ReadAnswers,
    #[value(TagTable::new(timeout_cycles))]
    tags: TagTable,
    demux: ClientDemux,

    has_quarantined: DFF<Bit>,
    tag: Signal<Local, Tag>,
}

impl Logic for ReadEngine {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, has_quarantined);
        clock!(self, clock, requests, answers, tags, activity);
        self.requests.reset.next = self.reset.val();
        self.answers.reset.next = self.reset.val();
        self.tags.reset.next = self.reset.val();
        self.answers.link_reset.next = self.link_reset.val();
        self.tags.link_reset.next = self.link_reset.val();

        MessageSink::<ReadJob>::link(&mut self.client_0_job, &mut self.requests.client_0_job);
        MessageSink::<ReadJob>::link(&mut self.client_1_job, &mut self.requests.client_1_job);
        MessageSink::<ReadJob>::link(&mut self.client_2_job, &mut self.requests.client_2_job);
        MessageSink::<ReadJob>::link(&mut self.client_3_job, &mut self.requests.client_3_job);
        MessageSource::<RequestTlp>::link(&mut self.tlp, &mut self.requests.tlp);
        MessageSource::<ReadOrder>::join(&mut self.requests.order, &mut self.answers.order);
        self.requests.max_read_request.next = self.max_read_request.val();
        self.requests.extended_tags.next = self.extended_tags.val();
        self.requests.rcb.next = self.rcb.val();
        self.requests.writes_accepted.next = self.writes_accepted.val();
        self.requests.writes_issued.next = self.writes_issued.val();
        self.requests.draining.next = self.tags.draining.val();
        self.tags.candidate.next = self.requests.candidate.val();
        self.requests.candidate_busy.next = self.tags.candidate_busy.val();
        self.requests.candidate_quarantined.next = self.tags.candidate_quarantined.val();

        // A tag lives from issue to retirement.
        self.tags.issue.next = self.requests.issue.val();
        self.tags.issue_tag.next = self.requests.issue_tag.val();
        PulseSource::<TagEvent>::join(&mut self.answers.event_0, &mut self.tags.event_0);
        PulseSource::<TagEvent>::join(&mut self.answers.event_1, &mut self.tags.event_1);
        self.requests.event_0.valid.next = self.answers.event_0.valid.val();
        self.requests.event_0.payload.next = self.answers.event_0.payload.val();
        self.requests.event_1.valid.next = self.answers.event_1.valid.val();
        self.requests.event_1.payload.next = self.answers.event_1.payload.val();
        self.requests.event_known[0].next = self.tags.event_known[0].val();
        self.requests.event_known[1].next = self.tags.event_known[1].val();
        self.tag.next = self.answers.retire.payload.val().tag;
        self.tags.retire.next = self.answers.retire.valid.val();
        self.tags.retire_tag.next = self.tag.val();
        self.requests.delivered.valid.next = self.answers.retire.valid.val();
        self.requests.delivered.payload.next = self.answers.retire.payload.val();
        self.read_timeout.next = self.tags.timed_out.val();
        self.read_error.next = self.answers.unexpected.val() | self.tags.wrong.val();
        self.has_quarantined.d.next = self.tags.has_quarantined.val();
        self.tag_quarantined.next = self.has_quarantined.q.val();

        self.answers.issue.next = self.requests.issue.val();
        self.answers.issue_tag.next = self.requests.issue_tag.val();
        self.answers.record.next = self.requests.record.val();
        self.tags.completion_tag.next = self.answers.start_tag.val();
        self.answers.start_outstanding.next = self.tags.completion_known.val();
        self.tags.tail_tag.next = self.answers.tail_tag.val();
        self.answers.tail_outstanding.next = self.tags.tail_known.val();
        self.tags.answer_tag.next = self.answers.answer_tag.val();
        self.answers.done.next = self.tags.answer_done.val();
        self.answers.failed.next = self.tags.answer_failed.val();
        self.answers.rc_tdata.next = self.rc_tdata.val();
        self.answers.rc_tuser.next = self.rc_tuser.val();
        self.answers.rc_tvalid.next = self.rc_tvalid.val();
        self.rc_tready.next = self.answers.rc_tready.val();

        self.activity.reset.next = self.reset.val();
        self.activity.rc_valid.next = self.rc_tvalid.val();
        self.activity.rc_ready.next = self.answers.rc_tready.val();
        self.activity.tag_stall.next = self.requests.tag_stall.val();
        self.activity.room_stall.next = self.requests.room_stall.val();
        self.activity.job_taken.next = self.requests.job_taken.val();
        self.activity.job_stall.next = self.requests.job_stall.val();
        self.activity.flush_wait.next = self.requests.flush_wait.val();
        self.activity.answer_valid.next = self.answers.packet.valid.val();
        self.activity.answer_ready.next = self.demux.packet.ready.val();
        self.activity.answer_failed.next =
            self.answers.packet.last.val() & self.answers.packet.abort.val();
        self.activity.client.next = self.answers.client.val();
        self.activity.issue.next = self.requests.issue.val();
        self.activity.issue_tag.next = self.requests.issue_tag.val();
        self.tags.sampled_tag.next = self.activity.sampled_tag.val();
        self.activity.outstanding.next = self.tags.sampled_waits.val();
        self.activity.retire.next = self.answers.retire.valid.val();
        self.activity.timed_out.next = self.tags.timed_out.val();
        self.events.next = self.activity.events.val();
        self.latency.next = self.activity.latency.val();
        self.payload_failed.next = self.activity.payload_failed.val();
        self.flush_failed.next = self.activity.flush_failed.val();
        self.unexpected.next = self.answers.unexpected.val();
        self.in_flight.next = self.activity.in_flight.val();
        self.quarantined.next = self.activity.quarantined.val();
        self.headers_level.next = self.requests.headers_level.val();
        self.data_level.next = self.requests.data_level.val();

        PacketSource::join(&mut self.answers.packet, &mut self.demux.packet);
        self.demux.client.next = self.answers.client.val();
        PacketSource::link(&mut self.client_0_data, &mut self.demux.client_0);
        PacketSource::link(&mut self.client_1_data, &mut self.demux.client_1);
        PacketSource::link(&mut self.client_2_data, &mut self.demux.client_2);
        PacketSource::link(&mut self.client_3_data, &mut self.demux.client_3);
    }
}
