//! The path from read jobs to their requests.
//!
//! ```text
//!  client 0..3 job ──► registers ──► ReadSelect ──► Cutter ──► ReadIssue ──► tlp, order, record
//!                           event_0, event_1 ──► CreditReturn ─┘
//! ```
//! Timing and invariants: see the blocks. No client's `ready` depends on another client.

use crate::cutter::Cutter;
use crate::messages::{CutJob, Piece, RequestTlp};
use crate::read::credit_return::CreditReturn;
use crate::read::messages::{ReadOrder, ReadRecord};
use crate::read::read_issue::ReadIssue;
use crate::read::read_select::ReadSelect;
use crate::read::tag::{Tag, TagEvent};
use ip::completion_buffer::CompletionBuffer;
use stream::prelude::*;

/// Limits the length of requests to 512 bytes: a request has at most eight beats of the reorder
/// memory.
///
/// Timing: one cycle.
#[derive(LogicBlock, Default)]
pub struct ReadLimit {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Largest read request set by the host: 128 << read_request bytes.
    pub read_request: Signal<In, Bits<3>>,
    /// Longest request: 128 << limit bytes; `read_request`, but at most 2, one cycle later.
    pub limit: Signal<Out, Bits<2>>,

    held: DFF<Bits<2>>,
}

impl Logic for ReadLimit {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        self.held.d.next = bit_cast::<2, 3>(self.read_request.val());
        if self.read_request.val() > 2 {
            self.held.d.next = 2.into();
        }
        self.limit.next = self.held.q.val();
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ReadRequests {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets all jobs and requests.
    pub reset: Signal<In, Bit>,
    /// Reads from before the reset have not all ended: no request is sent.
    pub draining: Signal<In, Bit>,

    /// Read jobs of client 0.
    pub client_0_job: MessageSink<ReadJob>,
    /// Read jobs of client 1.
    pub client_1_job: MessageSink<ReadJob>,
    /// Read jobs of client 2.
    pub client_2_job: MessageSink<ReadJob>,
    /// Flush reads of client 3: each waits for the writes that were accepted before it was offered.
    pub client_3_job: MessageSink<ReadJob>,
    /// Read requests.
    pub tlp: MessageSource<RequestTlp>,
    /// Each request that is sent, for delivery. Valid for one cycle; `ready` is ignored.
    pub order: MessageSource<ReadOrder>,

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
    /// Tag that may be used next.
    pub candidate: Signal<Out, Tag>,
    /// The candidate is in use or quarantined; combinational reply.
    pub candidate_busy: Signal<In, Bit>,
    /// The candidate is out of use until reset; combinational reply.
    pub candidate_quarantined: Signal<In, Bit>,
    /// A request is sent.
    pub issue: Signal<Out, Bit>,
    /// Tag of the request that is sent.
    pub issue_tag: Signal<Out, Tag>,
    /// What the request that is sent expects.
    pub record: Signal<Out, ReadRecord>,
    /// A completion ends; of two in one cycle the older.
    pub event_0: PulseSink<TagEvent>,
    /// A completion ends; of two in one cycle the younger.
    pub event_1: PulseSink<TagEvent>,
    /// The tags of event 0 and of event 1 are outstanding.
    pub event_known: [Signal<In, Bit>; 2],
    /// The read data of this request have been delivered: its beats are free.
    pub delivered: PulseSink<ReadOrder>,
    /// A job was accepted.
    pub job_taken: Signal<Out, Bit>,
    /// A job of client 2, payload to send, waits.
    pub job_stall: Signal<Out, Bit>,
    /// A flush waits for the writes before it.
    pub flush_wait: Signal<Out, Bit>,
    /// A read waits for a free tag.
    pub tag_stall: Signal<Out, Bit>,
    /// A read waits for completion credit, or for beats of the reorder memory.
    pub credit_stall: Signal<Out, Bit>,
    /// Completion headers that the requests in flight may need.
    pub headers_level: Signal<Out, Bits<10>>,
    /// Completion data that the requests in flight may need, in units of 16 bytes.
    pub data_level: Signal<Out, Bits<12>>,

    job_0: RegisterSlice<ReadJob>,
    job_1: RegisterSlice<ReadJob>,
    job_2: Fifo<ReadJob, 1, 2>,
    job_3: RegisterSlice<ReadJob>,
    select: ReadSelect,
    cutter: Cutter,
    issuer: ReadIssue,
    credit_return: CreditReturn,

    limit: ReadLimit,
}

impl ReadRequests {
    /// Reads in flight never need more than this completion buffer.
    pub fn new(buffer: CompletionBuffer) -> Self {
        Self { issuer: ReadIssue::new(buffer), ..Self::default() }
    }
}

impl Logic for ReadRequests {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, limit, select, cutter, issuer, job_0, job_1);
        clock!(self, clock, job_2, job_3, credit_return);
        self.select.reset.next = self.reset.val();
        self.cutter.reset.next = self.reset.val();
        self.issuer.reset.next = self.reset.val();

        // The registers keep each client's `ready` independent of the others. Small reads of
        // payload come every cycle, reads of rings and flushes are rare. A reset lasts longer here
        // than at the clients: jobs that they give meanwhile wait.
        self.job_0.reset.next = self.reset.val();
        self.job_1.reset.next = self.reset.val();
        self.job_2.reset.next = self.reset.val();
        self.job_3.reset.next = self.reset.val();
        MessageSink::<ReadJob>::link(&mut self.client_0_job, &mut self.job_0.sink);
        MessageSink::<ReadJob>::link(&mut self.client_1_job, &mut self.job_1.sink);
        MessageSink::<ReadJob>::link(&mut self.client_2_job, &mut self.job_2.sink);
        MessageSink::<ReadJob>::link(&mut self.client_3_job, &mut self.job_3.sink);
        MessageSource::<ReadJob>::join(&mut self.job_0.source, &mut self.select.client_0_job);
        MessageSource::<ReadJob>::join(&mut self.job_1.source, &mut self.select.client_1_job);
        MessageSource::<ReadJob>::join(&mut self.job_2.source, &mut self.select.client_2_job);
        MessageSource::<ReadJob>::join(&mut self.job_3.source, &mut self.select.client_3_job);
        self.job_stall.next = self.job_2.source.valid.val() & !self.select.client_2_job.ready.val();
        self.select.writes_accepted.next = self.writes_accepted.val();
        self.select.writes_issued.next = self.writes_issued.val();
        MessageSource::<CutJob>::join(&mut self.select.cut, &mut self.cutter.job);

        // A request has at most eight beats of the reorder memory.
        self.limit.read_request.next = self.max_read_request.val();
        self.cutter.limit.next = self.limit.limit.val();
        self.cutter.by_lines.next = false;
        MessageSource::<Piece>::join(&mut self.cutter.piece, &mut self.issuer.piece);

        MessageSource::<RequestTlp>::link(&mut self.tlp, &mut self.issuer.tlp);
        MessageSource::<ReadOrder>::link(&mut self.order, &mut self.issuer.order);
        self.issuer.draining.next = self.draining.val();
        self.issuer.extended_tags.next = self.extended_tags.val();
        self.issuer.rcb.next = self.rcb.val();
        self.candidate.next = self.issuer.candidate.val();
        self.issuer.candidate_busy.next = self.candidate_busy.val();
        self.issuer.candidate_quarantined.next = self.candidate_quarantined.val();
        self.issue.next = self.issuer.issue.val();
        self.issue_tag.next = self.issuer.issue_tag.val();
        self.record.next = self.issuer.record.val();
        self.job_taken.next = self.select.job_taken.val();
        self.flush_wait.next = self.select.flush_wait.val();
        self.tag_stall.next = self.issuer.tag_stall.val();
        self.credit_stall.next = self.issuer.credit_stall.val();
        self.headers_level.next = self.issuer.headers_level.val();
        self.data_level.next = self.issuer.data_level.val();
        PulseSink::<ReadOrder>::link(&mut self.delivered, &mut self.issuer.delivered);

        self.credit_return.reset.next = self.reset.val();
        self.credit_return.draining.next = self.draining.val();
        self.credit_return.issue.next = self.issuer.issue.val();
        self.credit_return.issue_tag.next = self.issuer.issue_tag.val();
        self.credit_return.issue_credit.next = self.issuer.issue_credit.val();
        PulseSink::<TagEvent>::link(&mut self.event_0, &mut self.credit_return.event_0);
        PulseSink::<TagEvent>::link(&mut self.event_1, &mut self.credit_return.event_1);
        self.credit_return.event_known[0].next = self.event_known[0].val();
        self.credit_return.event_known[1].next = self.event_known[1].val();
        self.issuer.give_back_headers.next = self.credit_return.headers.val();
        self.issuer.give_back_data.next = self.credit_return.data.val();
    }
}
