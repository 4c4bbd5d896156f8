//! The way of a read job to its requests.
//!
//! ```text
//!  client 0..3 job ──► registers ──► ReadSelect ──► Cutter ──► ReadIssue ──► tlp, order, record
//!                           event_0, event_1 ──► RoomReturn ─┘
//! ```
//! Timing and invariants: those of the blocks.

use crate::cut::Cutter;
use crate::messages::{CutJob, Piece, RequestTlp};
use crate::read::messages::{ReadOrder, ReadRecord};
use crate::read::read_issue::ReadIssue;
use crate::read::read_select::ReadSelect;
use crate::read::room_return::RoomReturn;
use crate::read::tag::{Tag, TagEvent};
use ip::board::CompletionBuffer;
use stream::prelude::*;

/// The longest request: 128 << limit bytes.
#[derive(LogicBlock, Default)]
pub struct ReadLimit {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Largest read request of the host: 128 << read_request bytes.
    pub read_request: Signal<In, Bits<3>>,
    /// The same, at most 2; a cycle later.
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
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets all jobs.
    pub reset: Signal<In, Bit>,
    /// Reads of before the reset have not ended.
    pub draining: Signal<In, Bit>,

    /// Jobs of client 0.
    pub client_0_job: MessageSink<ReadJob>,
    /// Jobs of client 1.
    pub client_1_job: MessageSink<ReadJob>,
    /// Jobs of client 2.
    pub client_2_job: MessageSink<ReadJob>,
    /// Jobs of client 3: flushes.
    pub client_3_job: MessageSink<ReadJob>,
    /// Requests out.
    pub tlp: MessageSource<RequestTlp>,
    /// The same requests, for delivery.
    pub order: MessageSource<ReadOrder>,

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
    /// Tag that may be used next.
    pub candidate: Signal<Out, Tag>,
    /// It must not be used.
    pub candidate_busy: Signal<In, Bit>,
    /// It will not come back.
    pub candidate_quarantined: Signal<In, Bit>,
    /// A request goes out.
    pub issue: Signal<Out, Bit>,
    /// Its tag.
    pub issue_tag: Signal<Out, Tag>,
    /// What to expect.
    pub record: Signal<Out, ReadRecord>,
    /// A completion ends.
    pub event_0: PulseSink<TagEvent>,
    /// A completion ends.
    pub event_1: PulseSink<TagEvent>,
    /// The tags of event 0 and of event 1 are outstanding.
    pub event_known: [Signal<In, Bit>; 2],
    /// This request has been delivered.
    pub delivered: PulseSink<ReadOrder>,
    /// A job was taken.
    pub job_taken: Signal<Out, Bit>,
    /// A job of client 2 waits to be taken.
    pub job_stall: Signal<Out, Bit>,
    /// A flush waits for the writes before it.
    pub flush_wait: Signal<Out, Bit>,
    /// A read waits for a free tag.
    pub tag_stall: Signal<Out, Bit>,
    /// A read waits for room in the completion buffer or for beats to reorder in.
    pub room_stall: Signal<Out, Bit>,
    /// Completion headers that reads in flight may need.
    pub headers_level: Signal<Out, Bits<10>>,
    /// Completion data that they may need.
    pub data_level: Signal<Out, Bits<12>>,

    job_0: RegisterSlice<ReadJob>,
    job_1: RegisterSlice<ReadJob>,
    job_2: Fifo<ReadJob, 1, 2>,
    job_3: RegisterSlice<ReadJob>,
    select: ReadSelect,
    cutter: Cutter,
    issuer: ReadIssue,
    room: RoomReturn,

    limit: ReadLimit,
}

impl ReadRequests {
    /// Asks no more than fits into this buffer.
    pub fn new(buffer: CompletionBuffer) -> Self {
        Self {
            issuer: ReadIssue::new(buffer),
            ..Self::default()
        }
    }
}

impl Logic for ReadRequests {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, limit, select, cutter, issuer, job_0, job_1);
        clock!(self, clock, job_2, job_3, room);
        self.select.reset.next = self.reset.val();
        self.cutter.reset.next = self.reset.val();
        self.issuer.reset.next = self.reset.val();

        // No client sees whether another one's job is taken. Small reads of payload come each
        // cycle, those of rings and flushes are rare. A reset lasts longer here than at the
        // clients: what they ask meanwhile waits.
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

        // A request has eight beats of the reorder memory at most.
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
        self.room_stall.next = self.issuer.room_stall.val();
        self.headers_level.next = self.issuer.headers_level.val();
        self.data_level.next = self.issuer.data_level.val();
        PulseSink::<ReadOrder>::link(&mut self.delivered, &mut self.issuer.delivered);

        self.room.reset.next = self.reset.val();
        self.room.draining.next = self.draining.val();
        self.room.issue.next = self.issuer.issue.val();
        self.room.issue_tag.next = self.issuer.issue_tag.val();
        self.room.issue_room.next = self.issuer.issue_room.val();
        PulseSink::<TagEvent>::link(&mut self.event_0, &mut self.room.event_0);
        PulseSink::<TagEvent>::link(&mut self.event_1, &mut self.room.event_1);
        self.room.event_known[0].next = self.event_known[0].val();
        self.room.event_known[1].next = self.event_known[1].val();
        self.issuer.give_back_headers.next = self.room.headers.val();
        self.issuer.give_back_data.next = self.room.data.val();
    }
}
