//! A walk that fails: why, and the packet as it is deferred then.
//!
//! Timing: combinational.

use crate::messages::Placement;
use crate::rules::disposition;
use abi::config::PIECES_MAX;
use abi::reason::Disposition;
use stream::prelude::*;

/// The failure. See the module's head.
#[derive(LogicBlock)]
pub struct WalkFailure {
    /// The packet.
    pub work: Signal<In, Placement>,
    /// The segment at hand is wanted now.
    pub cut: Signal<In, Bit>,
    /// The list's answer.
    pub segment: Signal<In, SegmentReply>,
    /// It was asked for by index: it must begin at the position.
    pub by_index: Signal<In, Bit>,
    /// The position in the segment.
    pub segment_offset: Signal<In, Bits<32>>,
    /// The region table answers now.
    pub region_taken: Signal<In, Bit>,
    /// Its answer.
    pub grant: Signal<In, RegionReply>,
    /// Pieces granted so far.
    pub count: Signal<In, Bits<5>>,
    /// No segment holds the position.
    pub missing: Signal<Out, Bit>,
    /// The region refused, or this were one piece too many.
    pub refused: Signal<Out, Bit>,
    /// The walk fails.
    pub failed: Signal<Out, Bit>,
    /// The packet, to be deferred.
    pub deferred: Signal<Out, Placement>,

    is_missing: Signal<Local, Bit>,
    is_full: Signal<Local, Bit>,
    reason: Signal<Local, Bits<4>>,
    pieces_max: Constant<Bits<5>>,
    no_segment: Constant<Bits<4>>,
    ahead_of_window: Constant<Bits<4>>,
    region_refused: Constant<Bits<4>>,
    too_many_pieces: Constant<Bits<4>>,
}

impl Default for WalkFailure {
    fn default() -> Self {
        Self {
            work: Default::default(),
            cut: Default::default(),
            segment: Default::default(),
            by_index: Default::default(),
            segment_offset: Default::default(),
            region_taken: Default::default(),
            grant: Default::default(),
            count: Default::default(),
            missing: Default::default(),
            refused: Default::default(),
            failed: Default::default(),
            deferred: Default::default(),
            is_missing: Default::default(),
            is_full: Default::default(),
            reason: Default::default(),
            pieces_max: Constant::new((PIECES_MAX as u64).to_bits()),
            no_segment: disposition(Disposition::NoSegment),
            ahead_of_window: disposition(Disposition::AheadOfWindow),
            region_refused: disposition(Disposition::RegionRefused),
            too_many_pieces: disposition(Disposition::TooManyPieces),
        }
    }
}

impl Logic for WalkFailure {
    #[hdl_gen]
    fn update(&mut self) {
        self.is_missing.next =
            !self.segment.val().found | (self.by_index.val() & self.segment_offset.val().any());
        self.is_full.next = self.count.val() == self.pieces_max.val();
        self.missing.next = self.is_missing.val();
        self.refused.next = !self.grant.val().granted | self.is_full.val();
        self.failed.next = self.cut.val() & self.is_missing.val();
        self.reason.next = self.no_segment.val();
        if !self.segment.val().found & self.segment.val().beyond {
            self.reason.next = self.ahead_of_window.val();
        }
        if self.region_taken.val() {
            self.failed.next = !self.grant.val().granted | self.is_full.val();
            self.reason.next = self.region_refused.val();
            if self.grant.val().granted {
                self.reason.next = self.too_many_pieces.val();
            }
        }

        self.deferred.next = self.work.val();
        self.deferred.next.walk = false;
        self.deferred.next.disposition = self.reason.val();
        self.deferred.next.trimmed_bytes = bits::<14>(0);
        self.deferred.next.segment_index = bits::<16>(0);
        self.deferred.next.pieces = bits::<5>(0);
    }
}
