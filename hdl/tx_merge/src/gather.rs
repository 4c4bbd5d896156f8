//! Finds each range in its flow's send list and has every piece granted by its region.
//!
//! ```text
//!  range ──► queue (8) ─┬─ look-up ahead ──► segment_request ··· segment_reply
//!                       │           ▲ next entry                    │
//!                       └─ judge ───┴───────────────────────────────┘
//!                            └──► parts (4), verdicts (16) ──► grant ──► piece, verdict
//! ```
//! Timing: a range without payload takes one cycle, one in a single entry three; entries are
//! requested for up to 8 ranges ahead. A range that goes on in another entry takes 4 cycles and the
//! latency of the reply more for each, and what was requested for the ranges after it is requested
//! again.
//!
//! Invariants:
//! 1. No piece of a range is visible at `piece` before all of the range is granted.
//! 2. Entries are taken in order of their index, and an index before the list's head is the head.
//! 3. After an entry that ends at or before the position, the one that holds the position is
//!    searched: a range costs at most two replies for each part, however far off its index is.
//!
//! On error: `verdict` carries the refusal. A position that no entry holds is `send_no_segment`;
//! see [`crate::gather::grant`] for the others.
//!
//! Source: docs/specification.md, Gather.

pub mod gather_control;
pub mod gather_part;
pub mod gather_request;
pub mod grant;
pub mod grant_cut;
pub mod piece_queue;
pub mod range_queue;

use crate::gather::gather_control::GatherControl;
use crate::gather::gather_part::GatherPart;
use crate::gather::gather_request::GatherRequest;
use crate::gather::grant::Grant;
use crate::gather::range_queue::{RangeLookup, RangeQueue};
use crate::messages::{SendPart, SendPiece, SendRange, SendVerdict};
use abi::reason::SendError;
use stream::prelude::*;

// The literals of the kernel.
const _: () = assert!(SendError::SendNoSegment as u8 == 1);

/// The stage. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Gather {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops all ranges and pieces, and expects no replies any more.
    pub reset: Signal<In, Bit>,

    /// The range to send, one message for each descriptor, in ring order.
    pub range: MessageSink<SendRange>,
    /// What was decided on the descriptor, one message for each range.
    pub verdict: MessageSource<SendVerdict>,
    /// Request for an entry of a send list, by index or by position.
    pub segment_request: MessageSource<SegmentRequest>,
    /// Entry of the send list, in request order.
    pub segment_reply: MessageSink<SegmentReply>,
    /// Request to read a range of a region.
    pub region_request: MessageSource<RegionRequest>,
    /// Grant or refusal of the range, in request order.
    pub region_reply: MessageSink<RegionReply>,
    /// Pieces to read, in stream order.
    pub piece: MessageSource<SendPiece>,

    queue: RangeQueue,
    control: GatherControl,
    request: GatherRequest,
    part: GatherPart,
    parts: Fifo<SendPart, 2, 3>,
    verdicts: Fifo<SendVerdict, 4, 5>,
    grant: Grant,

    ahead: Signal<Local, RangeLookup>,
    judged: Signal<Local, SendRange>,
}

impl Logic for Gather {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, queue, control, request, part, parts, verdicts);
        clock!(self, clock, grant);
        self.queue.reset.next = self.reset.val();
        self.control.reset.next = self.reset.val();
        self.request.reset.next = self.reset.val();
        self.parts.reset.next = self.reset.val();
        self.verdicts.reset.next = self.reset.val();
        self.grant.reset.next = self.reset.val();
        MessageSink::<SendRange>::link(&mut self.range, &mut self.queue.sink);
        MessageSource::<SendPart>::join(&mut self.parts.source, &mut self.grant.part);
        MessageSource::<SendVerdict>::join(&mut self.verdicts.source, &mut self.grant.judged);
        MessageSource::<SendVerdict>::link(&mut self.verdict, &mut self.grant.verdict);
        MessageSource::<SegmentRequest>::link(
            &mut self.segment_request,
            &mut self.request.segment_request,
        );
        MessageSink::<SegmentReply>::link(&mut self.segment_reply, &mut self.request.segment_reply);
        MessageSource::<RegionRequest>::link(
            &mut self.region_request,
            &mut self.grant.region_request,
        );
        MessageSink::<RegionReply>::link(&mut self.region_reply, &mut self.grant.region_reply);
        MessageSource::<SendPiece>::link(&mut self.piece, &mut self.grant.piece);

        // Request entries, of later ranges or of this one, and take the replies.
        self.ahead.next = self.queue.lookup.val();
        self.control.ahead_valid.next = self.queue.lookup_valid.val();
        self.control.ahead_wanted.next = self.ahead.val().wanted;
        self.control.request_ready.next = self.request.ready.val();
        self.queue.lookup_next.next = self.control.pass_ahead.val();
        self.queue.rewind.next = self.control.walk.val();
        self.request.ahead.next = self.ahead.val();
        self.request.request_ahead.next = self.control.request_ahead.val();
        self.request.entry.next = self.part.segment_request.val();
        self.request.request_entry.next = self.control.request_entry.val();
        self.request.wants.next = self.control.wants.val();
        self.request.forget.next = self.control.walk.val();
        self.control.replied.next = self.request.used.val();
        self.part.entry.next = self.segment_reply.payload.val();
        self.part.keep.next = self.request.used.val();
        self.part.load.next = self.control.load.val();
        self.part.by_position.next = self.control.by_position.val();

        // Judge them.
        self.judged.next = self.queue.judge.val();
        self.part.range.next = self.queue.judge.val();
        self.control.range_valid.next = self.queue.judge_valid.val();
        self.control.range_wanted.next = self.judged.val().wanted;
        self.control.holds.next = self.part.holds.val();
        self.control.is_before.next = self.part.is_before.val();
        self.control.ends.next = self.part.ends.val();
        self.control.part_ready.next = self.parts.sink.ready.val() & self.verdicts.sink.ready.val();
        self.part.advance.next = self.control.walk.val() & self.part.holds.val();
        self.queue.judge_next.next = self.control.done.val();
        self.parts.sink.valid.next = self.control.part.val() | self.control.nothing.val();
        self.parts.sink.payload.next = self.part.part.val();
        self.part.nothing.next = self.control.nothing.val();
        self.verdicts.sink.valid.next = self.control.done.val();
        self.verdicts.sink.payload.next = self.judged.val().verdict;
        if self.control.no_segment.val() {
            self.verdicts.sink.payload.next.refused = true;
            self.verdicts.sink.payload.next.error = 1.into();
        }
    }
}
