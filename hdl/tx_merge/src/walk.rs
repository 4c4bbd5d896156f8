//! Resolves a range of a flow's send stream through its list and has every piece granted.
//!
//! ```text
//!  request ──► entry by index ──► part that lies in it ──► grant ──► pieces (queue of 128) ──► jobs
//!  reply   ◄── refused, or all granted
//! ```
//! | Port | Direction | Bits | Meaning and duty |
//! |---|---|---|---|
//! | `request`, `reply` | in, out | message | one range at a time |
//! | `segment_request`, `segment_reply` | out, in | message | list entries |
//! | `region_request`, `region_reply` | out, in | message | grants |
//! | `piece` | out | message | what to read |
//!
//! Timing: a range in one piece takes 6 cycles and the two answers; each further entry the same.
//!
//! Invariants:
//! 1. No piece of a range is visible at `piece` before all of the range is granted.
//! 2. Entries are taken in order of their index; one that ends at or before the position is stepped over,
//!    and a position outside the entry behind it is `send_no_segment`.
//! 3. An index below the list's head is resolved by position, which finds the head or what follows it.
//!
//! A range of more than 128 pieces (segment and page ends) is refused as `send_malformed`.

use crate::grant::Grant;
use crate::piece_queue::PieceQueue;
use crate::plan::{SendPiece, WalkReply, WalkRequest};
use crate::walk_part::WalkPart;
use abi::reason::SendError;
use stream::prelude::*;

// The literals of the kernel.
const _: () = assert!(SendError::SendNoSegment as u8 == 1);

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum State {
    Take,
    Ask,
    Reply,
    Judge,
    Grant,
    Granted,
    Finish,
}

/// The stage. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Walk {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,

    /// A range.
    pub request: MessageSink<WalkRequest>,
    /// Its fate.
    pub reply: MessageSource<WalkReply>,
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

    grant: Grant,
    pieces: PieceQueue,
    state: DFF<State>,
    range: DFF<WalkRequest>,
    entry: DFF<SegmentReply>,
    by_position: DFF<Bit>,
    result: DFF<WalkReply>,

    part: WalkPart,
    finish: Signal<Local, Bit>,
}

impl Logic for Walk {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, range, entry, by_position, result);
        self.grant.clock.next = self.clock.val();
        self.grant.reset.next = self.reset.val();
        self.pieces.clock.next = self.clock.val();
        self.pieces.reset.next = self.reset.val();
        MessageSource::<RegionRequest>::link(
            &mut self.region_request,
            &mut self.grant.region_request,
        );
        MessageSink::<RegionReply>::link(&mut self.region_reply, &mut self.grant.region_reply);
        MessageSource::<SendPiece>::join(&mut self.grant.piece, &mut self.pieces.sink);
        MessageSource::<SendPiece>::link(&mut self.piece, &mut self.pieces.source);
        self.grant.full.next = self.pieces.full.val();

        self.part.range.next = self.range.q.val();
        self.part.entry.next = self.entry.q.val();
        self.grant.request.payload.next = self.part.request.val();
        self.grant.request.valid.next = self.state.q.val() == State::Grant;
        self.grant.reply.ready.next = self.state.q.val() == State::Granted;
        self.request.ready.next = self.state.q.val() == State::Take;
        self.segment_request.valid.next = self.state.q.val() == State::Ask;
        self.segment_request.payload.next.flow = self.range.q.val().flow;
        self.segment_request.payload.next.by_index = !self.by_position.q.val();
        self.segment_request.payload.next.index = self.range.q.val().segment_index;
        self.segment_request.payload.next.position = self.range.q.val().position;
        self.segment_reply.ready.next = self.state.q.val() == State::Reply;
        self.reply.valid.next = self.state.q.val() == State::Finish;
        self.reply.payload.next = self.result.q.val();
        self.finish.next = (self.state.q.val() == State::Finish) & self.reply.ready.val();
        self.pieces.commit.next = self.finish.val() & !self.result.q.val().refused;
        self.pieces.discard.next = self.finish.val() & self.result.q.val().refused;

        match self.state.q.val() {
            // Waits for a range.
            State::Take => {
                self.range.d.next = self.request.payload.val();
                self.by_position.d.next = false;
                if self.request.valid.val() {
                    self.state.d.next = State::Ask;
                }
            }
            // Waits until the entry is asked for.
            State::Ask => {
                if self.segment_request.ready.val() {
                    self.state.d.next = State::Reply;
                }
            }
            // Waits for the entry.
            State::Reply => {
                self.entry.d.next = self.segment_reply.payload.val();
                if self.segment_reply.valid.val() {
                    self.state.d.next = State::Judge;
                }
            }
            // Starts the grant, or goes to the next entry, or searches below the head, or gives up.
            State::Judge => {
                self.result.d.next.refused = true;
                self.result.d.next.error = 1.into();
                self.by_position.d.next = false;
                self.state.d.next = State::Finish;
                if self.part.holds.val() {
                    self.state.d.next = State::Grant;
                } else if self.part.is_before.val() {
                    self.range.d.next.segment_index = self.part.index_next.val();
                    self.state.d.next = State::Ask;
                } else if self.part.below_head.val() & !self.by_position.q.val() {
                    self.by_position.d.next = true;
                    self.state.d.next = State::Ask;
                }
            }
            // Waits until the grant begins.
            State::Grant => {
                if self.grant.request.ready.val() {
                    self.state.d.next = State::Granted;
                }
            }
            // Waits for the grant's end, then goes on behind the part.
            State::Granted => {
                self.result.d.next = self.grant.reply.payload.val();
                if self.grant.reply.valid.val() {
                    self.range.d.next.segment_index = self.part.index_next.val();
                    self.range.d.next.position = self.part.position_next.val();
                    self.range.d.next.bytes = self.part.rest_next.val();
                    self.state.d.next = State::Ask;
                    if self.grant.reply.payload.val().refused | !self.part.rest_next.val().any() {
                        self.state.d.next = State::Finish;
                    }
                }
            }
            // Waits until the reply is taken; the pieces appear or vanish with it.
            State::Finish => {
                if self.reply.ready.val() {
                    self.state.d.next = State::Take;
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = State::Take;
        }
    }
}
