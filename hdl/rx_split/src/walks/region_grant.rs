//! What the region table's reply means for a walk: its next piece, and how it goes on or ends.
//!
//! Timing: combinational.
//!
//! Invariants:
//! 1. Exactly one of `ends`, `next_page` and `next_segment` holds.
//!
//! Source: docs/specification.md, Placement, rule 11.

use crate::messages::{Piece, WalkOutcome};
use crate::walks::messages::{PieceWrite, SegmentToken, WalkEnd, WalkToken};
use abi::config::PIECES_MAX;
use abi::reason::Disposition;
use stream::prelude::*;

/// The judgement. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RegionGrant {
    /// The walk with its segment.
    pub token: Signal<In, SegmentToken>,
    /// Reply of the region table.
    pub grant: Signal<In, RegionReply>,
    /// The reply grants everything that the walk wants.
    pub complete: Signal<In, Bit>,
    /// The reply grants everything that is left of the segment.
    pub segment_ends: Signal<In, Bit>,
    /// The region refused, or the walk has one piece too many.
    pub refused: Signal<Out, Bit>,
    /// The piece granted, unless `refused`.
    pub piece: Signal<Out, PieceWrite>,
    /// The walk is complete, or refused.
    pub ends: Signal<Out, Bit>,
    /// End of the walk, with `ends`.
    pub walk_end: Signal<Out, WalkEnd>,
    /// The walk goes on in the next page of the segment.
    pub next_page: Signal<Out, Bit>,
    /// The walk as it goes on, with `next_page`.
    pub page: Signal<Out, SegmentToken>,
    /// The walk goes on in the next segment.
    pub next_segment: Signal<Out, Bit>,
    /// The walk as it goes on, with `next_segment`.
    pub again: Signal<Out, WalkToken>,

    walk: Signal<Local, WalkToken>,
    bytes: Signal<Local, Bits<14>>,
    new_piece: Signal<Local, Piece>,
    is_refused: Signal<Local, Bit>,
    moved: Signal<Local, WalkToken>,
    memories: Signal<Local, Bits<4>>,
    #[value(1)]
    one: Constant<Bits<4>>,
    outcome: Signal<Local, WalkOutcome>,
    #[value(PIECES_MAX as u64)]
    pieces_max: Constant<Bits<5>>,
    #[value(Disposition::RegionRefused as u64)]
    region_refused: Constant<DispositionCode>,
    #[value(Disposition::TooManyPieces as u64)]
    too_many_pieces: Constant<DispositionCode>,
}

impl Logic for RegionGrant {
    #[hdl_gen]
    fn update(&mut self) {
        self.walk.next = self.token.val().walk;
        self.bytes.next = bit_cast::<14, 32>(self.grant.val().bytes);
        self.is_refused.next =
            !self.grant.val().granted | (self.walk.val().count == self.pieces_max.val());
        self.refused.next = self.is_refused.val();
        self.ends.next = self.is_refused.val() | self.complete.val();
        self.next_segment.next =
            !self.is_refused.val() & !self.complete.val() & self.segment_ends.val();
        self.next_page.next =
            !self.is_refused.val() & !self.complete.val() & !self.segment_ends.val();

        self.new_piece.next.address = self.grant.val().address;
        self.new_piece.next.bytes = self.bytes.val();
        self.new_piece.next.memory = self.grant.val().memory;
        self.piece.next.slot = self.walk.val().slot;
        self.piece.next.number = bit_cast::<4, 5>(self.walk.val().count);
        self.piece.next.piece = self.new_piece.val();

        // The walk after the piece.
        self.moved.next = self.walk.val();
        self.moved.next.position = self.walk.val().position + self.grant.val().bytes;
        self.moved.next.rest = self.walk.val().rest - self.bytes.val();
        self.moved.next.count = self.walk.val().count + 1;
        self.memories.next = self.walk.val().memories | (self.one.val() << self.grant.val().memory);
        self.moved.next.memories = self.memories.val();
        self.page.next = self.token.val();
        self.page.next.walk = self.moved.val();
        self.page.next.offset =
            self.token.val().offset + bit_cast::<48, 32>(self.grant.val().bytes);
        self.page.next.left = self.token.val().left - self.grant.val().bytes;
        self.again.next = self.moved.val();
        self.again.next.by_index = true;
        self.again.next.index = self.walk.val().index + 1;

        self.outcome.next.failed = self.is_refused.val();
        self.outcome.next.disposition = self.too_many_pieces.val();
        if !self.grant.val().granted {
            self.outcome.next.disposition = self.region_refused.val();
        }
        self.outcome.next.segment_index = self.walk.val().first_index;
        self.outcome.next.pieces = self.walk.val().count + 1;
        self.outcome.next.memories = self.memories.val();
        self.walk_end.next.slot = self.walk.val().slot;
        self.walk_end.next.outcome = self.outcome.val();
    }
}
