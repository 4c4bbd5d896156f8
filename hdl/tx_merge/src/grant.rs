//! Has one part of a segment granted, page by page, and stores its pieces.
//!
//! ```text
//!  request ──► region_request ··· region_reply ──► queue of 128 ──► piece
//!     ▲             └───────── next page ◄──────────┤
//!  reply ◄── refused, or all granted ───────────────┘
//! ```
//! Timing: 2 cycles and the answer for each page.
//!
//! Invariants:
//! 1. `reply` pulses when every byte is granted and its pieces are stored, or at the first refusal.
//! 2. A region's refusal is `send_region_refused`; a range of more than 128 pieces is
//!    `send_malformed`.
//! 3. Pieces appear with `commit`, those since the last one vanish with `discard`.

use crate::piece_queue::PieceQueue;
use crate::plan::{GrantReply, SendPiece};
use abi::reason::SendError;
use stream::prelude::*;

// The literals of the kernel.
const _: () = {
    assert!(SendError::SendRegionRefused as u8 == 2 && SendError::SendMalformed as u8 == 4);
};

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum State {
    Take,
    Ask,
    Reply,
    Store,
}

/// The stage. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Grant {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,

    /// The part: region, key, domain, offset and bytes; the next one only after its reply.
    pub request: PulseSink<RegionRequest>,
    /// Its fate.
    pub reply: PulseSource<GrantReply>,
    /// Asks for a grant.
    pub region_request: MessageSource<RegionRequest>,
    /// The grant.
    pub region_reply: MessageSink<RegionReply>,
    /// Pieces of ranges granted completely.
    pub piece: MessageSource<SendPiece>,
    /// The range is granted: show its pieces.
    pub commit: Signal<In, Bit>,
    /// The range is refused: forget its pieces.
    pub discard: Signal<In, Bit>,

    pieces: PieceQueue,
    state: DFF<State>,
    part: DFF<RegionRequest>,
    page: DFF<RegionReply>,

    offset_next: Signal<Local, Bits<48>>,
    rest_next: Signal<Local, Bits<32>>,
}

impl Logic for Grant {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, part, page);
        self.reply.valid.next = false;
        self.reply.payload.next.refused = true;
        self.reply.payload.next.error = 4.into();
        self.region_request.valid.next = self.state.q.val() == State::Ask;
        self.region_request.payload.next = self.part.q.val();
        self.region_reply.ready.next = self.state.q.val() == State::Reply;
        self.pieces.clock.next = self.clock.val();
        self.pieces.reset.next = self.reset.val();
        self.pieces.commit.next = self.commit.val();
        self.pieces.discard.next = self.discard.val();
        MessageSource::<SendPiece>::link(&mut self.piece, &mut self.pieces.source);
        self.pieces.sink.valid.next =
            (self.state.q.val() == State::Store) & !self.pieces.full.val();
        self.pieces.sink.payload.next.address = self.page.q.val().address;
        self.pieces.sink.payload.next.bytes = bit_cast::<18, 32>(self.page.q.val().bytes);
        self.offset_next.next =
            self.part.q.val().offset + bit_cast::<48, 32>(self.page.q.val().bytes);
        self.rest_next.next = self.part.q.val().bytes - self.page.q.val().bytes;

        match self.state.q.val() {
            // Waits for a part of a segment.
            State::Take => {
                self.part.d.next = self.request.payload.val();
                if self.request.valid.val() {
                    self.state.d.next = State::Ask;
                }
            }
            // Waits until the rest of the part is asked for.
            State::Ask => {
                if self.region_request.ready.val() {
                    self.state.d.next = State::Reply;
                }
            }
            // Waits for the grant of it, which names the first page.
            State::Reply => {
                self.page.d.next = self.region_reply.payload.val();
                if self.region_reply.valid.val() {
                    self.state.d.next = State::Store;
                    if !self.region_reply.payload.val().granted {
                        self.reply.valid.next = true;
                        self.reply.payload.next.error = 2.into();
                        self.state.d.next = State::Take;
                    }
                }
            }
            // Waits until the piece is stored, then goes to the next page.
            State::Store => {
                if self.pieces.full.val() {
                    self.reply.valid.next = true;
                    self.state.d.next = State::Take;
                } else if self.pieces.sink.ready.val() {
                    self.part.d.next.offset = self.offset_next.val();
                    self.part.d.next.bytes = self.rest_next.val();
                    self.state.d.next = State::Ask;
                    if !self.rest_next.val().any() {
                        self.reply.valid.next = true;
                        self.reply.payload.next.refused = false;
                        self.state.d.next = State::Take;
                    }
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = State::Take;
        }
    }
}
