//! Has every part of a range granted, 4 KiB by 4 KiB, and stores its pieces.
//!
//! ```text
//!  part ──► cut at 4 KiB offsets ──► region_request ··· region_reply ──┐
//!                └──► requested (16) ──────────────────────────────────┴─► queue of 128 ──► piece
//!  judged ─────────────────────────────────────────────────── last ───────────────────► verdict
//! ```
//! No page is smaller than 4 KiB and all start at multiples of it. So each request lies in one
//! page, and its reply is one piece.
//!
//! Timing: one request per cycle, up to 16 before their replies. `region_reply.ready` and
//! `judged.ready` follow `region_reply.valid` and `verdict.ready` in the same cycle.
//!
//! Invariants:
//! 1. A range's verdict leaves when its last reply is there.
//! 2. Pieces of a range that is not refused appear with its verdict; those of a refused one vanish.
//!
//! On error: the first refusal of a range decides. A region that refuses is `send_region_refused`,
//! a range of more than 128 pieces is `send_malformed`; otherwise the verdict of `judged` holds.
//!
//! Source: docs/specification.md, Gather.

use crate::gather::grant_cut::{GrantCut, GrantRequest};
use crate::gather::piece_queue::PieceQueue;
use crate::messages::{SendPart, SendPiece, SendVerdict};
use abi::reason::SendError;
use stream::prelude::*;

// The literals of the kernel.
const _: () = {
    assert!(SendError::SendRegionRefused as u8 == 2 && SendError::SendMalformed as u8 == 4);
};

/// The stage. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Grant {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops all parts and pieces, and expects no replies any more.
    pub reset: Signal<In, Bit>,

    /// Parts of ranges, in order.
    pub part: MessageSink<SendPart>,
    /// What was decided on each range before; it comes no later than the range's last part.
    pub judged: MessageSink<SendVerdict>,
    /// Request to read a range of a region.
    pub region_request: MessageSource<RegionRequest>,
    /// Grant or refusal of the range, in request order.
    pub region_reply: MessageSink<RegionReply>,
    /// What was decided on each range, with its regions.
    pub verdict: MessageSource<SendVerdict>,
    /// Pieces of ranges that are granted completely.
    pub piece: MessageSource<SendPiece>,

    cut: GrantCut,
    requested: Fifo<GrantRequest, 4, 5>,
    pieces: PieceQueue,
    spoiled: DFF<Bit>,
    spoiled_error: DFF<SendErrorCode>,

    head: Signal<Local, GrantRequest>,
    refused_now: Signal<Local, Bit>,
    bad_now: Signal<Local, Bit>,
    good: Signal<Local, Bit>,
    replied: Signal<Local, Bit>,
    placeable: Signal<Local, Bit>,
    step: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    bad: Signal<Local, Bit>,
    error: Signal<Local, SendErrorCode>,
    refused: Signal<Local, Bit>,

    #[value(SendError::SendMalformed as u64)]
    send_malformed: Constant<SendErrorCode>,
    #[value(SendError::SendRegionRefused as u64)]
    send_region_refused: Constant<SendErrorCode>,
}

impl Logic for Grant {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, spoiled, spoiled_error);
        clock!(self, clock, cut, requested, pieces);
        self.cut.reset.next = self.reset.val();
        self.requested.reset.next = self.reset.val();
        self.pieces.reset.next = self.reset.val();
        MessageSink::<SendPart>::link(&mut self.part, &mut self.cut.part);
        MessageSource::<RegionRequest>::link(
            &mut self.region_request,
            &mut self.cut.region_request,
        );
        MessageSource::<GrantRequest>::join(&mut self.cut.requested, &mut self.requested.sink);
        MessageSource::<SendPiece>::link(&mut self.piece, &mut self.pieces.source);

        // What the oldest request has come to.
        self.head.next = self.requested.source.payload.val();
        self.replied.next = self.requested.source.valid.val()
            & (self.region_reply.valid.val() | !self.head.val().wanted);
        self.refused_now.next = self.head.val().wanted & !self.region_reply.payload.val().granted;
        self.bad_now.next =
            self.refused_now.val() | (self.head.val().wanted & self.pieces.full.val());
        self.good.next = self.head.val().wanted & !self.bad_now.val() & !self.spoiled.q.val();
        self.bad.next = self.spoiled.q.val() | self.bad_now.val();
        self.error.next = self.spoiled_error.q.val();
        if !self.spoiled.q.val() {
            self.error.next = self.send_malformed.val();
            if self.refused_now.val() {
                self.error.next = self.send_region_refused.val();
            }
        }

        // It is done when there is space for its piece and, at the end of the range, for the
        // verdict.
        self.placeable.next = !self.good.val() | self.pieces.sink.ready.val();
        self.step.next = self.replied.val()
            & self.placeable.val()
            & (!self.head.val().last | (self.judged.valid.val() & self.verdict.ready.val()));
        self.ends.next = self.step.val() & self.head.val().last;
        self.requested.source.ready.next = self.step.val();
        self.region_reply.ready.next = self.step.val() & self.head.val().wanted;
        self.pieces.sink.valid.next = self.step.val() & self.good.val();
        self.pieces.sink.payload.next.address = self.region_reply.payload.val().address;
        self.pieces.sink.payload.next.bytes = self.head.val().bytes;
        if self.step.val() {
            self.spoiled.d.next = self.bad.val() & !self.head.val().last;
            self.spoiled_error.d.next = self.error.val();
        }

        // The verdict; the pieces appear or vanish with it.
        self.refused.next = self.judged.payload.val().refused | self.bad.val();
        self.verdict.valid.next = self.ends.val();
        self.verdict.payload.next = self.judged.payload.val();
        self.verdict.payload.next.refused = self.refused.val();
        if self.bad.val() {
            self.verdict.payload.next.error = self.error.val();
        }
        self.judged.ready.next = self.ends.val();
        self.pieces.commit.next = self.ends.val() & !self.refused.val();
        self.pieces.discard.next = self.ends.val() & self.refused.val();
        if self.reset.val() {
            self.spoiled.d.next = false;
        }
    }
}
