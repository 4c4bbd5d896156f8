//! The half of a walk that goes through the region table.
//!
//! ```text
//!  tokens ─► queue ─► region_request      region_reply ─► [register] ─┬─► piece
//!                └──► waiting ───────────────────┘                    ├─► [page: next page]
//!                                                                     ├─► again: next segment
//!                                                                     └─► ended
//! ```
//! Timing: one token per cycle; a token leaves one cycle after its reply came, as `page` two cycles
//! after. `acts` is high when something leaves.
//!
//! Invariants:
//! 1. Replies meet their tokens: both are in the order of the requests.
//! 2. There are at most as many tokens as slots, so no queue is ever full.
//! 3. Every reply makes exactly one of `page`, `again` and `ended`.
//! 4. A walk has at most `PIECES_MAX` pieces; they follow each other in the stream without a gap.

use crate::walks::messages::{PieceWrite, SegmentToken, WalkEnd, WalkToken};
use crate::walks::region_grant::RegionGrant;
use stream::prelude::*;

/// The step. See the module's head.
#[derive(LogicBlock, Default)]
pub struct RegionStep {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: all walks inside are forgotten.
    pub reset: Signal<In, Bit>,

    /// Walks with a segment.
    pub tokens: PulseSink<SegmentToken>,
    /// Requests to the region table, with write right.
    pub request: MessageSource<RegionRequest>,
    /// Replies of the region table, in the order of the requests.
    pub reply: MessageSink<RegionReply>,
    /// A token leaves in this cycle: the segment step must hold its own.
    pub acts: Signal<Out, Bit>,
    /// Pieces granted.
    pub piece: PulseSource<PieceWrite>,
    /// Walks that go on in the next page of their segment.
    pub page: PulseSource<SegmentToken>,
    /// Walks that need the next segment.
    pub again: PulseSource<WalkToken>,
    /// Walks that are complete, or refused.
    pub ended: PulseSource<WalkEnd>,

    queue: Fifo<SegmentToken, 4, 5>,
    waiting: BlockFifo<SegmentToken, 4, 5>,
    valid: DFF<Bit>,
    held: DFF<SegmentToken>,
    grant: DFF<RegionReply>,
    complete: DFF<Bit>,
    segment_ends: DFF<Bit>,
    judge: RegionGrant,
    page_valid: DFF<Bit>,
    page_token: DFF<SegmentToken>,

    requested: Signal<Local, SegmentToken>,
    replied: Signal<Local, SegmentToken>,
    requested_walk: Signal<Local, WalkToken>,
    rest: Signal<Local, Bits<32>>,
    replied_walk: Signal<Local, WalkToken>,
}

impl Logic for RegionStep {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, held, grant, page_valid, page_token);
        dff_setup!(self, clock, complete, segment_ends);
        clock!(self, clock, queue, waiting);
        self.queue.reset.next = self.reset.val();
        self.waiting.reset.next = self.reset.val();
        self.queue.sink.valid.next = self.tokens.valid.val();
        self.queue.sink.payload.next = self.tokens.payload.val();

        self.requested.next = self.queue.source.payload.val();
        self.requested_walk.next = self.requested.val().walk;
        self.rest.next = bit_cast::<32, 14>(self.requested_walk.val().rest);
        self.request.valid.next = self.queue.source.valid.val();
        self.request.payload.next.region = self.requested.val().region;
        self.request.payload.next.region_key = self.requested.val().region_key;
        self.request.payload.next.domain = self.requested_walk.val().domain;
        self.request.payload.next.write = true;
        self.request.payload.next.offset = self.requested.val().offset;
        self.request.payload.next.bytes = self.rest.val();
        if self.requested.val().left < self.rest.val() {
            self.request.payload.next.bytes = self.requested.val().left;
        }
        self.queue.source.ready.next = self.request.ready.val();
        self.waiting.sink.valid.next = self.queue.source.valid.val() & self.request.ready.val();
        self.waiting.sink.payload.next = self.requested.val();

        self.reply.ready.next = self.waiting.source.valid.val();
        self.waiting.source.ready.next = self.reply.valid.val();
        self.valid.d.next =
            self.waiting.source.valid.val() & self.reply.valid.val() & !self.reset.val();
        self.replied.next = self.waiting.source.payload.val();
        self.replied_walk.next = self.replied.val().walk;
        if self.waiting.source.valid.val() & self.reply.valid.val() {
            self.held.d.next = self.replied.val();
            self.grant.d.next = self.reply.payload.val();
            self.complete.d.next =
                self.reply.payload.val().bytes == bit_cast::<32, 14>(self.replied_walk.val().rest);
            self.segment_ends.d.next = self.reply.payload.val().bytes == self.replied.val().left;
        }

        self.acts.next = self.valid.q.val() | self.page_valid.q.val();
        self.judge.token.next = self.held.q.val();
        self.judge.grant.next = self.grant.q.val();
        self.judge.complete.next = self.complete.q.val();
        self.judge.segment_ends.next = self.segment_ends.q.val();
        self.piece.valid.next = self.valid.q.val() & !self.judge.refused.val();
        self.piece.payload.next = self.judge.piece.val();
        self.page_valid.d.next =
            self.valid.q.val() & self.judge.next_page.val() & !self.reset.val();
        if self.valid.q.val() {
            self.page_token.d.next = self.judge.page.val();
        }
        self.page.valid.next = self.page_valid.q.val();
        self.page.payload.next = self.page_token.q.val();
        self.again.valid.next = self.valid.q.val() & self.judge.next_segment.val();
        self.again.payload.next = self.judge.again.val();
        self.ended.valid.next = self.valid.q.val() & self.judge.ends.val();
        self.ended.payload.next = self.judge.walk_end.val();
    }
}
