//! The way of a read job to its requests.
//!
//! ```text
//!  client 0..3 job ──► ReadSelect ──► Cutter ──► ReadIssue ──► tlp, order, record
//!                           event_0, event_1 ──► RoomReturn ─┘
//! ```
//! Timing and invariants: those of the blocks.

use crate::cut::Cutter;
use crate::read_issue::{CompletionBuffer, ReadIssue, ReadOrder, ReadRecord};
use crate::read_select::ReadSelect;
use crate::request::{CutJob, Piece, RequestTlp};
use crate::room_return::RoomReturn;
use crate::tags::{Tag, TagEvent, TagSet};
use stream::prelude::*;

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
    /// Tags that must not be used.
    pub busy: Signal<In, TagSet>,
    /// Tags among them that will not come back.
    pub quarantined: Signal<In, TagSet>,
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
    /// Tags that wait for completions.
    pub outstanding: Signal<In, TagSet>,
    /// This request has been delivered.
    pub delivered: PulseSink<ReadOrder>,
    /// A job was taken.
    pub job_taken: Signal<Out, Bit>,
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

    select: ReadSelect,
    cutter: Cutter,
    issuer: ReadIssue,
    room: RoomReturn,

    limit: Signal<Local, Bits<2>>,
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
        self.select.clock.next = self.clock.val();
        self.cutter.clock.next = self.clock.val();
        self.issuer.clock.next = self.clock.val();
        self.select.reset.next = self.reset.val();
        self.cutter.reset.next = self.reset.val();
        self.issuer.reset.next = self.reset.val();

        MessageSink::<ReadJob>::link(&mut self.client_0_job, &mut self.select.client_0_job);
        MessageSink::<ReadJob>::link(&mut self.client_1_job, &mut self.select.client_1_job);
        MessageSink::<ReadJob>::link(&mut self.client_2_job, &mut self.select.client_2_job);
        MessageSink::<ReadJob>::link(&mut self.client_3_job, &mut self.select.client_3_job);
        self.select.writes_accepted.next = self.writes_accepted.val();
        self.select.writes_issued.next = self.writes_issued.val();
        MessageSource::<CutJob>::join(&mut self.select.cut, &mut self.cutter.job);

        // A request has eight beats of the reorder memory at most.
        self.limit.next = bit_cast::<2, 3>(self.max_read_request.val());
        if self.max_read_request.val() > 2 {
            self.limit.next = 2.into();
        }
        self.cutter.limit.next = self.limit.val();
        self.cutter.by_lines.next = false;
        MessageSource::<Piece>::join(&mut self.cutter.piece, &mut self.issuer.piece);

        MessageSource::<RequestTlp>::link(&mut self.tlp, &mut self.issuer.tlp);
        MessageSource::<ReadOrder>::link(&mut self.order, &mut self.issuer.order);
        self.issuer.draining.next = self.draining.val();
        self.issuer.extended_tags.next = self.extended_tags.val();
        self.issuer.rcb.next = self.rcb.val();
        self.issuer.busy.next = self.busy.val();
        self.issuer.quarantined.next = self.quarantined.val();
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

        self.room.clock.next = self.clock.val();
        self.room.reset.next = self.reset.val();
        self.room.draining.next = self.draining.val();
        self.room.issue.next = self.issuer.issue.val();
        self.room.issue_tag.next = self.issuer.issue_tag.val();
        self.room.issue_room.next = self.issuer.issue_room.val();
        PulseSink::<TagEvent>::link(&mut self.event_0, &mut self.room.event_0);
        PulseSink::<TagEvent>::link(&mut self.event_1, &mut self.room.event_1);
        self.room.outstanding.next = self.outstanding.val();
        self.issuer.give_back_headers.next = self.room.headers.val();
        self.issuer.give_back_data.next = self.room.data.val();
    }
}
