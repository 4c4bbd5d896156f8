//! The half of a walk that goes through the segment list.
//!
//! ```text
//!  tokens ─► queue ─► segment_request     segment_reply ─► [offset, end] ─┬─► located
//!                └──► waiting ───────────────────┘                        ├─► again: empty
//!                                                                         └─► ended: none
//! ```
//! Timing: one token per cycle; a token leaves one cycle after its reply came, or later when `hold`
//! falls.
//!
//! Invariants:
//! 1. Replies meet their tokens: both are in the order of the requests.
//! 2. There are at most as many tokens as slots, so no queue is ever full.
//! 3. Every reply makes exactly one of `located`, `again` and `ended`.
//!
//! Source: docs/specification.md, Placement, rule 11.

use crate::messages::WalkOutcome;
use crate::walks::messages::{SegmentToken, WalkEnd, WalkToken};
use abi::reason::Disposition;
use stream::prelude::*;

/// Whether a segment ends at a position, without a carry chain: each bit of the three operands
/// together is the carry that the bit below must have made.
#[derive(LogicBlock, Default)]
pub struct EndsAt {
    /// Position at which the segment starts.
    pub start: Signal<In, Bits<32>>,
    /// Bytes of the segment.
    pub bytes: Signal<In, Bits<32>>,
    /// Position to compare with the segment's end.
    pub position: Signal<In, Bits<32>>,
    /// `start + bytes == position`, modulo 2^32.
    pub ends: Signal<Out, Bit>,

    sums: Signal<Local, Bits<32>>,
    made: Signal<Local, Bits<32>>,
    carries: Signal<Local, Bits<32>>,
}

impl Logic for EndsAt {
    #[hdl_gen]
    fn update(&mut self) {
        self.sums.next = self.start.val() ^ self.bytes.val() ^ self.position.val();
        self.made.next = (self.start.val() & self.bytes.val())
            | ((self.start.val() | self.bytes.val()) & !self.position.val());
        self.carries.next = self.made.val() << 1;
        self.ends.next = self.sums.val() == self.carries.val();
    }
}

/// The step. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct SegmentStep {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: all walks inside are forgotten.
    pub reset: Signal<In, Bit>,

    /// Walks that need a segment.
    pub tokens: PulseSink<WalkToken>,
    /// Requests to the receive lists.
    pub request: MessageSource<SegmentRequest>,
    /// Replies of the receive lists, in the order of the requests.
    pub reply: MessageSink<SegmentReply>,
    /// No token may leave in this cycle.
    pub hold: Signal<In, Bit>,
    /// Walks with the segment that was found.
    pub located: PulseSource<SegmentToken>,
    /// Walks whose segment holds no byte after the position: they need the next segment.
    pub again: PulseSource<WalkToken>,
    /// Walks that found no segment.
    pub ended: PulseSource<WalkEnd>,

    queue: ThroughFifo<WalkToken, 4, 5>,
    waiting: BlockFifo<WalkToken, 4, 5>,
    valid: DFF<Bit>,
    held: DFF<WalkToken>,
    segment: DFF<SegmentReply>,
    offset: DFF<Bits<32>>,
    stop: DFF<Bits<32>>,
    is_empty: DFF<Bit>,
    is_behind: DFF<Bit>,
    ends_at: EndsAt,

    requested: Signal<Local, WalkToken>,
    replied: Signal<Local, WalkToken>,
    segment_found: Signal<Local, SegmentReply>,
    takes: Signal<Local, Bit>,
    leaves: Signal<Local, Bit>,
    missing: Signal<Local, Bit>,
    walk: Signal<Local, WalkToken>,
    outcome: Signal<Local, WalkOutcome>,
    #[value(Disposition::NoSegment as u64)]
    no_segment: Constant<DispositionCode>,
    #[value(Disposition::AheadOfWindow as u64)]
    ahead_of_window: Constant<DispositionCode>,
    #[value(WalkOutcome::default())]
    none: Constant<WalkOutcome>,
}

impl Logic for SegmentStep {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, held, segment, offset, stop, is_empty, is_behind);
        clock!(self, clock, queue, waiting);
        self.queue.reset.next = self.reset.val();
        self.waiting.reset.next = self.reset.val();
        self.queue.sink.valid.next = self.tokens.valid.val();
        self.queue.sink.payload.next = self.tokens.payload.val();
        self.requested.next = self.queue.source.payload.val();
        self.request.valid.next = self.queue.source.valid.val();
        self.request.payload.next.flow = self.requested.val().flow;
        self.request.payload.next.by_index = self.requested.val().by_index;
        self.request.payload.next.index = self.requested.val().index;
        self.request.payload.next.position = self.requested.val().position;
        self.queue.source.ready.next = self.request.ready.val();
        self.waiting.sink.valid.next = self.queue.source.valid.val() & self.request.ready.val();
        self.waiting.sink.payload.next = self.requested.val();
        // The reply comes: where the position lies in the segment.
        self.leaves.next = self.valid.q.val() & !self.hold.val();
        self.takes.next =
            self.waiting.source.valid.val() & (!self.valid.q.val() | !self.hold.val());
        self.reply.ready.next = self.takes.val();
        self.waiting.source.ready.next = self.takes.val() & self.reply.valid.val();
        self.replied.next = self.waiting.source.payload.val();
        self.segment_found.next = self.reply.payload.val();
        self.ends_at.start.next = self.segment_found.val().position;
        self.ends_at.bytes.next = self.segment_found.val().bytes;
        self.ends_at.position.next = self.replied.val().position;
        self.valid.d.next = self.valid.q.val() & !self.leaves.val();
        if self.takes.val() & self.reply.valid.val() {
            self.valid.d.next = true;
            self.held.d.next = self.replied.val();
            self.segment.d.next = self.segment_found.val();
            self.offset.d.next = self.replied.val().position - self.segment_found.val().position;
            self.stop.d.next = self.segment_found.val().position + self.segment_found.val().bytes;
            self.is_empty.d.next = self.ends_at.ends.val();
            self.is_behind.d.next =
                self.replied.val().position != self.segment_found.val().position;
        }
        if self.reset.val() {
            self.valid.d.next = false;
        }
        // The token leaves.
        self.missing.next =
            !self.segment.q.val().found | (self.held.q.val().by_index & self.is_behind.q.val());
        self.walk.next = self.held.q.val();
        self.walk.next.index = self.segment.q.val().index;
        if self.held.q.val().count == 0 {
            self.walk.next.first_index = self.segment.q.val().index;
        }
        self.located.valid.next = self.leaves.val() & !self.missing.val() & !self.is_empty.q.val();
        self.located.payload.next.walk = self.walk.val();
        self.located.payload.next.region = self.segment.q.val().region;
        self.located.payload.next.region_key = self.segment.q.val().region_key;
        self.located.payload.next.offset =
            self.segment.q.val().offset + bit_cast::<48, 32>(self.offset.q.val());
        self.located.payload.next.left = self.stop.q.val() - self.held.q.val().position;
        self.again.valid.next = self.leaves.val() & !self.missing.val() & self.is_empty.q.val();
        self.again.payload.next = self.walk.val();
        self.again.payload.next.by_index = true;
        self.again.payload.next.index = self.segment.q.val().index + 1;
        self.outcome.next = self.none.val();
        self.outcome.next.failed = true;
        self.outcome.next.disposition = self.no_segment.val();
        if !self.segment.q.val().found & self.segment.q.val().beyond {
            self.outcome.next.disposition = self.ahead_of_window.val();
        }
        self.ended.valid.next = self.leaves.val() & self.missing.val();
        self.ended.payload.next.slot = self.held.q.val().slot;
        self.ended.payload.next.outcome = self.outcome.val();
    }
}
