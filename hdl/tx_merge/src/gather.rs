//! Resolves a descriptor's range through the flow's send list and has every piece granted.
//!
//! ```text
//!  range ──► entry by index ──► part that lies in it ──► grant ──► piece
//!               ▲ next entry ◄───────────────────────────┤
//!  verdict ◄── refused, or all granted ──────────────────┘
//! ```
//! | Port | Direction | Bits | Meaning and duty |
//! |---|---|---|---|
//! | `range` | in | message | one for each descriptor |
//! | `segment_request`, `segment_reply` | out, in | message | list entries |
//! | `region_request`, `region_reply` | out, in | message | grants |
//! | `verdict` | out | message | one for each descriptor |
//! | `piece` | out | message | what to read |
//!
//! Timing: one descriptor at a time; each entry takes 5 cycles, its answer and the grant.
//!
//! Invariants:
//! 1. No piece of a range is visible at `piece` before all of the range is granted.
//! 2. Entries are taken in order of their index, and an index before the list's head is the head.
//! 3. Behind an entry that ends at or before the position, the one that holds the position is
//!    searched: a walk costs at most two answers for each piece, however far off the index is.
//! 4. A position that no such entry holds is `send_no_segment`.

use crate::gather_control::GatherControl;
use crate::gather_part::GatherPart;
use crate::grant::Grant;
use crate::plan::{SendPiece, SendRange, SendVerdict};
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

    control: GatherControl,
    part: GatherPart,
    grant: Grant,
    fate: DFF<SendVerdict>,

    finish: Signal<Local, Bit>,
}

impl Logic for Gather {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, fate);
        self.control.clock.next = self.clock.val();
        self.control.reset.next = self.reset.val();
        self.grant.clock.next = self.clock.val();
        self.grant.reset.next = self.reset.val();
        self.part.clock.next = self.clock.val();
        MessageSource::<RegionRequest>::link(
            &mut self.region_request,
            &mut self.grant.region_request,
        );
        MessageSink::<RegionReply>::link(&mut self.region_reply, &mut self.grant.region_reply);
        MessageSource::<SendPiece>::link(&mut self.piece, &mut self.grant.piece);

        // What the states wait for.
        self.control.range_valid.next = self.range.valid.val();
        self.control.range_wanted.next = self.range.payload.val().wanted;
        self.control.segment_asked.next = self.segment_request.ready.val();
        self.control.segment_valid.next = self.segment_reply.valid.val();
        self.control.holds.next = self.part.holds.val();
        self.control.is_before.next = self.part.is_before.val();
        self.control.grant_valid.next = self.grant.reply.valid.val();
        self.control.grant_ends.next =
            self.grant.reply.payload.val().refused | self.part.last.val();
        self.control.verdict_taken.next = self.verdict.ready.val();

        // What they do.
        self.range.ready.next = self.control.take.val();
        self.part.range.next = self.range.payload.val();
        self.part.load.next = self.control.take.val();
        self.part.by_position.next = self.control.by_position.val();
        self.segment_request.valid.next = self.control.ask.val();
        self.segment_request.payload.next = self.part.segment_request.val();
        self.segment_reply.ready.next = self.control.reply.val();
        self.part.entry.next = self.segment_reply.payload.val();
        self.part.keep.next = self.control.reply.val();
        self.grant.request.valid.next = self.control.grant.val();
        self.grant.request.payload.next = self.part.region_request.val();
        self.part.advance.next = self.control.granted.val() & self.grant.reply.valid.val();

        // The verdict; the pieces appear or vanish with it.
        if self.control.take.val() {
            self.fate.d.next = self.range.payload.val().verdict;
        } else if self.control.no_segment.val() {
            self.fate.d.next.refused = true;
            self.fate.d.next.error = 1.into();
        } else if self.control.granted.val() {
            self.fate.d.next.refused = self.grant.reply.payload.val().refused;
            self.fate.d.next.error = self.grant.reply.payload.val().error;
        }
        self.verdict.valid.next = self.control.offer.val();
        self.verdict.payload.next = self.fate.q.val();
        self.finish.next = self.control.offer.val() & self.verdict.ready.val();
        self.grant.commit.next = self.finish.val() & !self.fate.q.val().refused;
        self.grant.discard.next = self.finish.val() & self.fate.q.val().refused;
    }
}
