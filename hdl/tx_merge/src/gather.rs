//! Resolves ranges through their flows' send lists and has every piece granted.
//!
//! ```text
//!  range ──► queue (8) ─┬─ asked ahead ──► segment_request ··· segment_reply
//!                       │        ▲ next entry                    │
//!                       └─ judge ┴───────────────────────────────┘
//!                            └──► parts (4), verdicts (16) ──► grant ──► piece, verdict
//! ```
//! | Port | Direction | Bits | Meaning and duty |
//! |---|---|---|---|
//! | `range` | in | message | one for each descriptor |
//! | `segment_request`, `segment_reply` | out, in | message | list entries |
//! | `region_request`, `region_reply` | out, in | message | grants |
//! | `verdict` | out | message | one for each descriptor |
//! | `piece` | out | message | what to read |
//!
//! Timing: a range without payload takes one cycle, one in a single entry three; entries are asked
//! for up to 8 ranges ahead. A range that goes on in another entry takes 4 cycles more and the
//! answer for each, and what was asked for behind it is asked for again.
//!
//! Invariants:
//! 1. No piece of a range is visible at `piece` before all of the range is granted.
//! 2. Entries are taken in order of their index, and an index before the list's head is the head.
//! 3. Behind an entry that ends at or before the position, the one that holds the position is
//!    searched: a walk costs at most two answers for each part, however far off the index is.
//! 4. A position that no such entry holds is `send_no_segment`.

pub mod gather_ask;
pub mod gather_control;
pub mod gather_part;
pub mod grant;
pub mod grant_cut;
pub mod piece_queue;
pub mod range_queue;

use crate::gather::gather_ask::GatherAsk;
use crate::gather::gather_control::GatherControl;
use crate::gather::gather_part::GatherPart;
use crate::gather::grant::Grant;
use crate::gather::range_queue::{RangeAsk, RangeQueue};
use crate::messages::{SendPart, SendPiece, SendRange, SendVerdict};
use abi::reason::SendError;
use stream::prelude::*;

// The literals of the kernel.
const _: () = assert!(SendError::SendNoSegment as u8 == 1);

/// The stage. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Gather {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,

    /// A range.
    pub range: MessageSink<SendRange>,
    /// Its fate.
    pub verdict: MessageSource<SendVerdict>,
    /// Asks for a list entry.
    pub segment_request: MessageSource<SegmentRequest>,
    /// The list entry.
    pub segment_reply: MessageSink<SegmentReply>,
    /// Asks for a grant.
    pub region_request: MessageSource<RegionRequest>,
    /// The grant.
    pub region_reply: MessageSink<RegionReply>,
    /// Pieces to read.
    pub piece: MessageSource<SendPiece>,

    queue: RangeQueue,
    control: GatherControl,
    ask: GatherAsk,
    part: GatherPart,
    parts: Fifo<SendPart, 2, 3>,
    verdicts: Fifo<SendVerdict, 4, 5>,
    grant: Grant,

    ahead: Signal<Local, RangeAsk>,
    judged: Signal<Local, SendRange>,
}

impl Logic for Gather {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, queue, control, ask, part, parts, verdicts);
        clock!(self, clock, grant);
        self.queue.reset.next = self.reset.val();
        self.control.reset.next = self.reset.val();
        self.ask.reset.next = self.reset.val();
        self.parts.reset.next = self.reset.val();
        self.verdicts.reset.next = self.reset.val();
        self.grant.reset.next = self.reset.val();
        MessageSink::<SendRange>::link(&mut self.range, &mut self.queue.sink);
        MessageSource::<SendPart>::join(&mut self.parts.source, &mut self.grant.part);
        MessageSource::<SendVerdict>::join(&mut self.verdicts.source, &mut self.grant.judged);
        MessageSource::<SendVerdict>::link(&mut self.verdict, &mut self.grant.verdict);
        MessageSource::<SegmentRequest>::link(
            &mut self.segment_request,
            &mut self.ask.segment_request,
        );
        MessageSink::<SegmentReply>::link(&mut self.segment_reply, &mut self.ask.segment_reply);
        MessageSource::<RegionRequest>::link(
            &mut self.region_request,
            &mut self.grant.region_request,
        );
        MessageSink::<RegionReply>::link(&mut self.region_reply, &mut self.grant.region_reply);
        MessageSource::<SendPiece>::link(&mut self.piece, &mut self.grant.piece);

        // Ask for entries, ahead or on, and take the answers.
        self.ahead.next = self.queue.ask.val();
        self.control.ahead_valid.next = self.queue.ask_valid.val();
        self.control.ahead_wanted.next = self.ahead.val().wanted;
        self.control.ask_ready.next = self.ask.ready.val();
        self.queue.ask_next.next = self.control.pass_ahead.val();
        self.queue.rewind.next = self.control.walk.val();
        self.ask.ahead.next = self.ahead.val();
        self.ask.ask_ahead.next = self.control.ask_ahead.val();
        self.ask.on.next = self.part.segment_request.val();
        self.ask.ask_on.next = self.control.ask_on.val();
        self.ask.wants.next = self.control.wants.val();
        self.ask.forget.next = self.control.walk.val();
        self.control.answered.next = self.ask.used.val();
        self.part.entry.next = self.segment_reply.payload.val();
        self.part.keep.next = self.ask.used.val();
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
