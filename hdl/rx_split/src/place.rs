//! Walks over segments and pages and turns a range of the stream into pieces of bus memory.
//!
//! ```text
//!  sink ──► segment by position ──► region ──► piece ─┬─► next page: region again
//!                  ▲                                  ├─► next byte: segment by index + 1
//!                  └──────────────────────────────────┴─► complete ──► source
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | sink | in | packets; those with `walk` have a range to place |
//! | segment_request, segment_reply | out, in | the flow's list |
//! | region_request, region_reply | out, in | check and translation |
//! | source | out | the same packets; `walk` only if all pieces were granted |
//! | pieces | out | their pieces, in order |
//!
//! Timing: one packet at a time; three cycles, and for each piece four and the tables' latency.
//!
//! Invariants:
//! 1. A walk that fails leaves no piece.
//! 2. The pieces of one packet follow each other in the stream without a gap, at most `PIECES_MAX`
//!    of them.
//! 3. A segment without bytes is stepped over.

use crate::messages::{Piece, Placement};
use crate::pieces::Pieces;
use crate::place_control::{PlaceControl, PlaceState};
use crate::walk::Walk;
use stream::prelude::*;

/// The stage. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Place {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Packets.
    pub sink: MessageSink<Placement>,
    /// Packets with their pieces counted.
    pub source: MessageSource<Placement>,
    /// The pieces.
    pub pieces: MessageSource<Piece>,
    /// To the segment list.
    pub segment_request: MessageSource<SegmentRequest>,
    /// From the segment list.
    pub segment_reply: MessageSink<SegmentReply>,
    /// To the region table.
    pub region_request: MessageSource<RegionRequest>,
    /// From the region table.
    pub region_reply: MessageSink<RegionReply>,

    buffer: Pieces,
    walk: Walk,
    control: PlaceControl,

    ask_list: Signal<Local, Bit>,
    state: Signal<Local, PlaceState>,
}

impl Logic for Place {
    #[hdl_gen]
    fn update(&mut self) {
        self.control.clock.next = self.clock.val();
        self.control.reset.next = self.reset.val();
        self.state.next = self.control.step.val();
        self.buffer.clock.next = self.clock.val();
        self.buffer.reset.next = self.reset.val();
        self.walk.clock.next = self.clock.val();
        MessageSource::<Piece>::link(&mut self.pieces, &mut self.buffer.source);

        self.sink.ready.next = self.state.val() == PlaceState::Idle;
        self.walk.start.next = self.state.val() == PlaceState::Idle;
        self.walk.packet.next = self.sink.payload.val();
        self.ask_list.next = (self.state.val() == PlaceState::Segment)
            & (self.buffer.room.val() | self.walk.segment_request.val().by_index);
        self.segment_request.valid.next = self.ask_list.val();
        self.segment_request.payload.next = self.walk.segment_request.val();
        self.segment_reply.ready.next = self.state.val() == PlaceState::SegmentReply;
        self.walk.segment_taken.next =
            (self.state.val() == PlaceState::SegmentReply) & self.segment_reply.valid.val();
        self.walk.segment.next = self.segment_reply.payload.val();
        self.walk.cut.next = self.state.val() == PlaceState::Cut;
        self.region_request.valid.next = self.state.val() == PlaceState::Region;
        self.region_request.payload.next = self.walk.region_request.val();
        self.region_reply.ready.next = self.state.val() == PlaceState::RegionReply;
        self.walk.region_taken.next =
            (self.state.val() == PlaceState::RegionReply) & self.region_reply.valid.val();
        self.walk.grant.next = self.region_reply.payload.val();
        self.walk.step.next = self.state.val() == PlaceState::Next;
        self.source.valid.next = self.state.val() == PlaceState::Hand;
        self.source.payload.next = self.walk.placement.val();

        self.control.packet_taken.next = self.sink.valid.val();
        self.control.walk.next = self.sink.payload.val().walk;
        self.control.list_asked.next = self.ask_list.val() & self.segment_request.ready.val();
        self.control.list_answered.next = self.segment_reply.valid.val();
        self.control.missing.next = self.walk.missing.val();
        self.control.empty.next = self.walk.empty.val();
        self.control.region_asked.next = self.region_request.ready.val();
        self.control.region_answered.next = self.region_reply.valid.val();
        self.control.refused.next = self.walk.refused.val();
        self.control.next_segment.next = self.walk.next_segment.val();
        self.control.is_last.next = self.walk.complete.val();
        self.control.handed.next = self.source.ready.val();
        self.buffer.sink.valid.next = (self.state.val() == PlaceState::RegionReply)
            & self.region_reply.valid.val()
            & !self.control.failed.val();
        self.buffer.sink.payload.next.address = self.region_reply.payload.val().address;
        self.buffer.sink.payload.next.bytes =
            bit_cast::<14, 32>(self.region_reply.payload.val().bytes);
        self.buffer.sink.payload.next.memory = self.region_reply.payload.val().memory;
        self.buffer.commit.next = self.control.complete.val();
        self.buffer.discard.next = self.control.failed.val();
    }
}
