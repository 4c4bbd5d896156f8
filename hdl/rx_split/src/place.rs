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
//! 2. The pieces of one packet follow each other in the stream without a gap, at most `PIECES_MAX` of them.
//! 3. A segment without bytes is stepped over.

use crate::messages::{Piece, Placement};
use crate::pieces::Pieces;
use crate::rules::disposition;
use abi::config::PIECES_MAX;
use abi::reason::Disposition;
use stream::prelude::*;

/// What `place` waits for.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum PlaceState {
    /// A packet.
    Idle,
    /// Room for its pieces, and the list takes the request.
    Segment,
    /// The list answers.
    SegmentReply,
    /// The part of the segment that is wanted.
    Cut,
    /// The region takes the request.
    Region,
    /// The region answers.
    RegionReply,
    /// Where the walk goes on.
    Next,
    /// `split` takes the packet.
    Hand,
}

/// The stage. See the module's head.
#[derive(LogicBlock)]
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
    state: DFF<PlaceState>,
    work: DFF<Placement>,
    segment: DFF<SegmentReply>,
    by_index: DFF<Bit>,
    position: DFF<Bits<32>>,
    rest: DFF<Bits<32>>,
    segment_offset: DFF<Bits<32>>,
    left: DFF<Bits<32>>,
    wanted: DFF<Bits<32>>,
    granted: DFF<Bits<32>>,
    count: DFF<Bits<5>>,

    failed: Signal<Local, Bit>,
    reason: Signal<Local, Bits<4>>,
    complete: Signal<Local, Bit>,
    missing: Signal<Local, Bit>,
    empty: Signal<Local, Bit>,
    full: Signal<Local, Bit>,
    index_next: Signal<Local, Bits<16>>,
    pieces_max: Constant<Bits<5>>,
    no_segment: Constant<Bits<4>>,
    ahead_of_window: Constant<Bits<4>>,
    region_refused: Constant<Bits<4>>,
    too_many_pieces: Constant<Bits<4>>,
}

impl Default for Place {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            sink: Default::default(),
            source: Default::default(),
            pieces: Default::default(),
            segment_request: Default::default(),
            segment_reply: Default::default(),
            region_request: Default::default(),
            region_reply: Default::default(),
            buffer: Default::default(),
            state: Default::default(),
            work: Default::default(),
            segment: Default::default(),
            by_index: Default::default(),
            position: Default::default(),
            rest: Default::default(),
            segment_offset: Default::default(),
            left: Default::default(),
            wanted: Default::default(),
            granted: Default::default(),
            count: Default::default(),
            failed: Default::default(),
            reason: Default::default(),
            complete: Default::default(),
            missing: Default::default(),
            empty: Default::default(),
            full: Default::default(),
            index_next: Default::default(),
            pieces_max: Constant::new((PIECES_MAX as u64).to_bits()),
            no_segment: disposition(Disposition::NoSegment),
            ahead_of_window: disposition(Disposition::AheadOfWindow),
            region_refused: disposition(Disposition::RegionRefused),
            too_many_pieces: disposition(Disposition::TooManyPieces),
        }
    }
}

impl Logic for Place {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, work, segment, by_index, position, rest);
        dff_setup!(self, clock, segment_offset, left, wanted, granted, count);
        self.buffer.clock.next = self.clock.val();
        self.buffer.reset.next = self.reset.val();
        MessageSource::<Piece>::link(&mut self.pieces, &mut self.buffer.source);

        self.sink.ready.next = false;
        self.source.valid.next = false;
        self.source.payload.next = self.work.q.val();
        self.index_next.next = self.segment.q.val().index + 1;
        self.segment_request.valid.next = false;
        self.segment_request.payload.next.flow = self.work.q.val().flow;
        self.segment_request.payload.next.by_index = self.by_index.q.val();
        self.segment_request.payload.next.index = self.index_next.val();
        self.segment_request.payload.next.position = self.position.q.val();
        self.segment_reply.ready.next = false;
        self.region_request.valid.next = false;
        self.region_request.payload.next.region = self.segment.q.val().region;
        self.region_request.payload.next.region_key = self.segment.q.val().region_key;
        self.region_request.payload.next.domain = self.work.q.val().domain;
        self.region_request.payload.next.write = true;
        self.region_request.payload.next.offset =
            self.segment.q.val().offset + bit_cast::<48, 32>(self.segment_offset.q.val());
        self.region_request.payload.next.bytes = self.wanted.q.val();
        self.region_reply.ready.next = false;
        self.buffer.sink.valid.next = false;
        self.buffer.sink.payload.next.address = self.region_reply.payload.val().address;
        self.buffer.sink.payload.next.bytes =
            bit_cast::<14, 32>(self.region_reply.payload.val().bytes);
        self.buffer.sink.payload.next.memory = self.region_reply.payload.val().memory;
        self.failed.next = false;
        self.reason.next = self.no_segment.val();
        self.complete.next = false;
        self.full.next = self.count.q.val() == self.pieces_max.val();
        self.missing.next = !self.segment.q.val().found
            | (self.by_index.q.val() & self.segment_offset.q.val().any());
        self.empty.next = self.segment.q.val().found & !self.left.q.val().any();

        match self.state.q.val() {
            // Waits for a packet, then starts its walk.
            PlaceState::Idle => {
                self.sink.ready.next = true;
                self.work.d.next = self.sink.payload.val();
                self.position.d.next = self.sink.payload.val().place_position;
                self.rest.d.next = bit_cast::<32, 14>(self.sink.payload.val().place_bytes);
                self.by_index.d.next = false;
                self.count.d.next = bits::<5>(0);
                if self.sink.valid.val() {
                    self.state.d.next = PlaceState::Hand;
                    if self.sink.payload.val().walk {
                        self.state.d.next = PlaceState::Segment;
                    }
                }
            }
            // Waits for room and for the list to take the request.
            PlaceState::Segment => {
                self.segment_request.valid.next = self.buffer.room.val() | self.by_index.q.val();
                if self.segment_request.ready.val()
                    & (self.buffer.room.val() | self.by_index.q.val())
                {
                    self.state.d.next = PlaceState::SegmentReply;
                }
            }
            // Waits for the list's answer.
            PlaceState::SegmentReply => {
                self.segment_reply.ready.next = true;
                self.segment.d.next = self.segment_reply.payload.val();
                self.segment_offset.d.next =
                    self.position.q.val() - self.segment_reply.payload.val().position;
                self.left.d.next = self.segment_reply.payload.val().bytes
                    - (self.position.q.val() - self.segment_reply.payload.val().position);
                if self.segment_reply.valid.val() {
                    self.state.d.next = PlaceState::Cut;
                }
            }
            // Cuts the wanted part out of the segment, or ends the walk.
            PlaceState::Cut => {
                self.wanted.d.next = self.rest.q.val();
                if self.left.q.val() < self.rest.q.val() {
                    self.wanted.d.next = self.left.q.val();
                }
                self.failed.next = self.missing.val();
                if !self.segment.q.val().found & self.segment.q.val().beyond {
                    self.reason.next = self.ahead_of_window.val();
                }
                if self.count.q.val() == 0 {
                    self.work.d.next.segment_index = self.segment.q.val().index;
                }
                self.state.d.next = PlaceState::Region;
                if self.empty.val() {
                    self.by_index.d.next = true;
                    self.state.d.next = PlaceState::Segment;
                }
            }
            // Waits for the region table to take the request.
            PlaceState::Region => {
                self.region_request.valid.next = true;
                if self.region_request.ready.val() {
                    self.state.d.next = PlaceState::RegionReply;
                }
            }
            // Waits for the grant, then stores the piece.
            PlaceState::RegionReply => {
                self.region_reply.ready.next = true;
                self.granted.d.next = self.region_reply.payload.val().bytes;
                self.reason.next = self.region_refused.val();
                if self.region_reply.valid.val() {
                    self.buffer.sink.valid.next =
                        self.region_reply.payload.val().granted & !self.full.val();
                    self.failed.next = !self.region_reply.payload.val().granted | self.full.val();
                    if self.region_reply.payload.val().granted {
                        self.reason.next = self.too_many_pieces.val();
                    }
                    self.count.d.next = self.count.q.val() + 1;
                    self.state.d.next = PlaceState::Next;
                }
            }
            // Goes on behind the piece: in the same segment, in the next, or not at all.
            PlaceState::Next => {
                self.position.d.next = self.position.q.val() + self.granted.q.val();
                self.rest.d.next = self.rest.q.val() - self.granted.q.val();
                self.segment_offset.d.next = self.segment_offset.q.val() + self.granted.q.val();
                self.left.d.next = self.left.q.val() - self.granted.q.val();
                self.by_index.d.next = false;
                self.state.d.next = PlaceState::Cut;
                if self.granted.q.val() == self.rest.q.val() {
                    self.complete.next = true;
                    self.work.d.next.pieces = self.count.q.val();
                    self.state.d.next = PlaceState::Hand;
                } else if self.granted.q.val() == self.left.q.val() {
                    self.by_index.d.next = true;
                    self.state.d.next = PlaceState::Segment;
                }
            }
            // Waits for `split` to take the packet.
            PlaceState::Hand => {
                self.source.valid.next = true;
                if self.source.ready.val() {
                    self.state.d.next = PlaceState::Idle;
                }
            }
        }

        self.buffer.commit.next = self.complete.val();
        self.buffer.discard.next = self.failed.val();
        if self.failed.val() {
            self.work.d.next.walk = false;
            self.work.d.next.disposition = self.reason.val();
            self.work.d.next.trimmed_bytes = bits::<14>(0);
            self.work.d.next.segment_index = bits::<16>(0);
            self.state.d.next = PlaceState::Hand;
        }
        if self.reset.val() {
            self.state.d.next = PlaceState::Idle;
        }
    }
}
