//! The way of a read job to its requests.
//!
//! ```text
//!  client 0..3 job ──► ReadSelect ──► Cutter ──► ReadIssue ──► tlp, order, record
//! ```
//! Timing and invariants: those of the three blocks.

use crate::cut::Cutter;
use crate::read_issue::{ReadIssue, ReadOrder, ReadRecord};
use crate::read_select::ReadSelect;
use crate::request::{CutJob, Piece, RequestTlp};
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
    /// Completions are cut at 128 bytes instead of 64.
    pub rcb: Signal<In, Bit>,
    /// The host allows 8-bit tags; without it 32 tags are used instead of 64.
    pub extended_tags: Signal<In, Bit>,
    /// Write jobs accepted, modulo 2^16.
    pub writes_accepted: Signal<In, Bits<16>>,
    /// Write jobs put on the RQ port, modulo 2^16.
    pub writes_issued: Signal<In, Bits<16>>,
    /// Tags that must not be used.
    pub busy: Signal<In, Bits<64>>,
    /// A request goes out.
    pub issue: Signal<Out, Bit>,
    /// Its tag.
    pub issue_tag: Signal<Out, Bits<6>>,
    /// What to expect.
    pub record: Signal<Out, ReadRecord>,
    /// This request has been delivered.
    pub delivered: PulseSink<ReadOrder>,

    select: ReadSelect,
    cutter: Cutter,
    issuer: ReadIssue,

    limit: Signal<Local, Bits<2>>,
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

        // Slots hold 512 bytes, so larger requests are of no use.
        self.limit.next = bit_cast::<2, 3>(self.max_read_request.val());
        if self.max_read_request.val() > 2 {
            self.limit.next = 2.into();
        }
        self.cutter.limit.next = self.limit.val();
        MessageSource::<Piece>::join(&mut self.cutter.piece, &mut self.issuer.piece);

        MessageSource::<RequestTlp>::link(&mut self.tlp, &mut self.issuer.tlp);
        MessageSource::<ReadOrder>::link(&mut self.order, &mut self.issuer.order);
        self.issuer.draining.next = self.draining.val();
        self.issuer.extended_tags.next = self.extended_tags.val();
        self.issuer.rcb.next = self.rcb.val();
        self.issuer.busy.next = self.busy.val();
        self.issue.next = self.issuer.issue.val();
        self.issue_tag.next = self.issuer.issue_tag.val();
        self.record.next = self.issuer.record.val();
        self.issuer.give_back.next = self.delivered.valid.val();
        self.issuer.give_back_headers.next = self.delivered.payload.val().headers;
        self.issuer.give_back_data.next = self.delivered.payload.val().data;
    }
}
