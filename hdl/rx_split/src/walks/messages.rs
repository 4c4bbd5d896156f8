//! Messages between the parts of `walks`.

use crate::messages::{Piece, WalkOutcome};
use stream::prelude::*;

/// The end of a walk.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct WalkEnd {
    /// Slot of the walk that ended.
    pub slot: Bits<4>,
    /// What the walk found.
    pub outcome: WalkOutcome,
}

/// A walk on its way to the segment list.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct WalkToken {
    /// Slot of the walk.
    pub slot: Bits<4>,
    /// Flow id.
    pub flow: Bits<16>,
    /// Protection domain of the flow.
    pub domain: Bits<16>,
    /// Stream position that the walk has reached.
    pub position: Bits<32>,
    /// Bytes left to place.
    pub rest: Bits<14>,
    /// Number of pieces granted so far.
    pub count: Bits<5>,
    /// The request is for segment `index`, not for the segment that holds `position`.
    pub by_index: Bit,
    /// List index of the segment to request, then of the segment that was found.
    pub index: Bits<16>,
    /// List index of the first segment.
    pub first_index: Bits<16>,
    /// Memories that the pieces so far lie in, one bit each.
    pub memories: Bits<4>,
}

/// A walk with the segment that was found, on its way to the region table.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SegmentToken {
    /// State of the walk.
    pub walk: WalkToken,
    /// Index of the region that the segment lies in.
    pub region: Bits<16>,
    /// Key of that region.
    pub region_key: Bits<16>,
    /// Byte offset of the walk's position in the region.
    pub offset: Bits<48>,
    /// Bytes of the segment from the walk's position on.
    pub left: Bits<32>,
}

/// A piece and the place where its walk keeps it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PieceWrite {
    /// Slot of the walk.
    pub slot: Bits<4>,
    /// Number of the piece in its walk.
    pub number: Bits<4>,
    /// The piece that is kept.
    pub piece: Piece,
}
