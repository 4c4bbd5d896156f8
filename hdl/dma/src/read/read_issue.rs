//! Gives each piece of a read a tag and room in the hard block's completion buffer, and sends its
//! request.
//!
//! ```text
//!   piece ─► [two, with their room] ─► [next] ─► [request] ─┬─► tlp      read request
//!   busy ─► TagTurn ────────────────────┤▲                  ├─► order    what to deliver, in order
//!   returned ─► RoomAccount ────────────┤│                  └─► record   what to expect, by tag
//!   delivered ─► ReorderRing ───────────┘└ goes when it has a tag, room and beats
//! ```
//! Timing: three registers from piece to request; one request a cycle. Whether the next piece has
//! room, beats and a tag is in registers, decided a cycle ahead. Order and record go out when the
//! request is taken; the queue behind `order` has room for all tags.
//!
//! Invariants:
//! 1. Completions of all requests in flight never need more than the buffer has. Room comes back
//!    when the hard block has handed over the last completion (see [`crate::read::room_return`]),
//!    whatever becomes of the answer after that.
//! 2. Beats of the reorder memory are given out in a ring, as many as the window of a request
//!    touches, and come back when the answer is delivered. No request goes out without its beats.
//! 3. A request stays inside an aligned window of 512 bytes.
//!
//! Source: PG213, receive buffer and flow control.

use crate::byte_enables::ByteEnables;
use crate::read::messages::{ReadOrder, ReadRecord};
use ip::board::CompletionBuffer;

use crate::messages::{Piece, RequestTlp};
use crate::read::completion_room::{CompletionRoom, ReadRoom, RoomAccount};
use crate::read::reorder_ring::ReorderRing;
use crate::read::tag::{Tag, TAG_BITS};
use crate::read::tag_turn::TagTurn;
use stream::prelude::*;

/// A piece and what its completions can occupy.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RoomedPiece {
    /// The piece.
    pub piece: Piece,
    /// Its room.
    pub room: ReadRoom,
    /// Beats of the reorder memory that it touches, 1 to 8.
    pub beats: Bits<4>,
}

/// Makes request, delivery order and record of a piece.
#[derive(LogicBlock, Default)]
pub struct ReadFormat {
    /// The piece.
    pub piece: Signal<In, Piece>,
    /// Its tag.
    pub tag: Signal<In, Tag>,
    /// Beat of the reorder memory for its first byte.
    pub start: Signal<In, Bits<9>>,

    /// The request.
    pub tlp: Signal<Out, RequestTlp>,
    /// Where the answer goes.
    pub order: Signal<Out, ReadOrder>,
    /// What to expect.
    pub record: Signal<Out, ReadRecord>,

    enables: ByteEnables,
    address: Signal<Local, Bits<64>>,
    bytes: Signal<Local, Bits<11>>,
    last_byte: Signal<Local, Bits<11>>,
    base: Signal<Local, Bits<9>>,
    next_tlp: Signal<Local, RequestTlp>,
    next_order: Signal<Local, ReadOrder>,
    next_record: Signal<Local, ReadRecord>,
}

impl Logic for ReadFormat {
    #[hdl_gen]
    fn update(&mut self) {
        self.address.next = self.piece.val().address;
        self.bytes.next = self.piece.val().bytes;
        self.enables.address.next = self.address.val();
        self.enables.bytes.next = self.bytes.val();

        self.next_tlp.next.header = bit_cast::<128, 64>(self.enables.dword_address.val())
            | (bit_cast::<128, 9>(self.enables.dwords.val()) << 64)
            | (bit_cast::<128, TAG_BITS>(self.tag.val()) << 96);
        self.next_tlp.next.dwords = 0.into();
        self.next_tlp.next.start = 0.into();
        self.next_tlp.next.end_beat = 0.into();
        self.next_tlp.next.first_be = self.enables.first_be.val();
        self.next_tlp.next.last_be = self.enables.last_be.val();
        self.next_tlp.next.last = self.piece.val().last;
        self.tlp.next = self.next_tlp.val();

        self.last_byte.next =
            (bit_cast::<11, 9>(self.address.val().get_bits::<9>(0)) + self.bytes.val()) - 1;
        // The window's start may lie before the ring's: only the touched beats are used.
        self.base.next = self.start.val() - bit_cast::<9, 3>(self.address.val().get_bits::<3>(6));
        self.next_order.next.tag = self.tag.val();
        self.next_order.next.start = self.start.val();
        self.next_order.next.client = self.piece.val().client;
        self.next_order.next.first = self.piece.val().first;
        self.next_order.next.last = self.piece.val().last;
        self.next_order.next.begin = self.address.val().get_bits::<9>(0);
        self.next_order.next.end = bit_cast::<9, 11>(self.last_byte.val());
        self.order.next = self.next_order.val();

        self.next_record.next.end =
            self.address.val().get_bits::<12>(0) + bit_cast::<12, 11>(self.bytes.val());
        self.next_record.next.bytes = bit_cast::<10, 11>(self.bytes.val());
        self.next_record.next.base = self.base.val();
        self.record.next = self.next_record.val();
    }
}

/// The next piece and the one behind it, with their room.
#[derive(LogicBlock, Default)]
pub struct PieceAhead {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets all pieces.
    pub reset: Signal<In, Bit>,

    /// Pieces in.
    pub piece: MessageSink<Piece>,
    /// Completions are cut at 128 bytes instead of 64.
    pub rcb: Signal<In, Bit>,
    /// There is a next piece: a register.
    pub has_next: Signal<Out, Bit>,
    /// It: a register.
    pub next_piece: Signal<Out, RoomedPiece>,
    /// What becomes the next one if this one goes, or if there is none; anything if nothing waits.
    pub behind: Signal<Out, RoomedPiece>,
    /// The next one goes.
    pub take: Signal<In, Bit>,

    room: CompletionRoom,
    queue: Fifo<RoomedPiece, 1, 2>,
    is_held: DFF<Bit>,
    held: DFF<RoomedPiece>,

    roomed: Signal<Local, RoomedPiece>,
    refill: Signal<Local, Bit>,
}

impl Logic for PieceAhead {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, is_held, held);
        clock!(self, clock, queue);
        self.queue.reset.next = self.reset.val();
        self.room.piece.next = self.piece.payload.val();
        self.room.rcb.next = self.rcb.val();
        self.roomed.next.piece = self.piece.payload.val();
        self.roomed.next.room = self.room.room.val();
        self.roomed.next.beats = self.room.beats.val();
        self.queue.sink.valid.next = self.piece.valid.val();
        self.queue.sink.payload.next = self.roomed.val();
        self.piece.ready.next = self.queue.sink.ready.val();

        self.refill.next = self.take.val() | !self.is_held.q.val();
        self.queue.source.ready.next = self.refill.val();
        if self.refill.val() {
            self.held.d.next = self.queue.source.payload.val();
        }
        self.is_held.d.next =
            !self.reset.val() & (self.queue.source.valid.val() | !self.refill.val());
        self.has_next.next = self.is_held.q.val();
        self.next_piece.next = self.held.q.val();
        self.behind.next = self.queue.source.payload.val();
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ReadIssue {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets all requests.
    pub reset: Signal<In, Bit>,
    /// Reads of before the reset have not ended: nothing is issued.
    pub draining: Signal<In, Bit>,

    /// Pieces in.
    pub piece: MessageSink<Piece>,
    /// Requests out.
    pub tlp: MessageSource<RequestTlp>,
    /// The same requests, for delivery.
    pub order: MessageSource<ReadOrder>,

    /// Completions are cut at 128 bytes instead of 64.
    pub rcb: Signal<In, Bit>,
    /// The host allows 8-bit tags; without it 32 tags are used instead of 256.
    pub extended_tags: Signal<In, Bit>,
    /// Tag that may be used next.
    pub candidate: Signal<Out, Tag>,
    /// It must not be used.
    pub candidate_busy: Signal<In, Bit>,
    /// It will not come back.
    pub candidate_quarantined: Signal<In, Bit>,
    /// A request goes out.
    pub issue: Signal<Out, Bit>,
    /// Its tag.
    pub issue_tag: Signal<Out, Tag>,
    /// What to expect.
    pub record: Signal<Out, ReadRecord>,
    /// What its completions can occupy.
    pub issue_room: Signal<Out, ReadRoom>,
    /// Completion headers that come back.
    pub give_back_headers: Signal<In, Bits<5>>,
    /// Completion data that comes back.
    pub give_back_data: Signal<In, Bits<7>>,
    /// This request has been delivered.
    pub delivered: PulseSink<ReadOrder>,
    /// A read waits for a free tag.
    pub tag_stall: Signal<Out, Bit>,
    /// A read waits for room in the completion buffer or for beats to reorder in.
    pub room_stall: Signal<Out, Bit>,
    /// Completion headers that reads in flight may need.
    pub headers_level: Signal<Out, Bits<10>>,
    /// Completion data that they may need.
    pub data_level: Signal<Out, Bits<12>>,

    ahead: PieceAhead,
    account: RoomAccount,
    tags: TagTurn,
    ring: ReorderRing,
    format: ReadFormat,
    staged: DFF<Bit>,
    tlp_stage: DFF<RequestTlp>,
    order_stage: DFF<ReadOrder>,
    record_stage: DFF<ReadRecord>,
    room_stage: DFF<ReadRoom>,

    has_room: Signal<Local, Bit>,
    load: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
}

impl ReadIssue {
    /// Issues reads for a hard block with this buffer.
    pub fn new(buffer: CompletionBuffer) -> Self {
        Self {
            account: RoomAccount::new(buffer),
            ..Self::default()
        }
    }
}

impl Logic for ReadIssue {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, staged, tlp_stage);
        dff_setup!(self, clock, order_stage, record_stage, room_stage);
        clock!(self, clock, ahead, account, tags, ring);
        self.ahead.reset.next = self.reset.val();
        self.account.reset.next = self.reset.val();
        self.ring.reset.next = self.reset.val();

        // The next one goes when everything is there for it.
        self.has_room.next = self.account.fits.val() & self.ring.has_room.val();
        self.take.next = self.staged.q.val() & self.tlp.ready.val() & !self.reset.val();
        self.load.next = self.ahead.has_next.val()
            & self.has_room.val()
            & self.tags.has_tag.val()
            & !self.draining.val()
            & !self.reset.val()
            & (!self.staged.q.val() | self.tlp.ready.val());

        MessageSink::<Piece>::link(&mut self.piece, &mut self.ahead.piece);
        self.ahead.rcb.next = self.rcb.val();
        self.ahead.take.next = self.load.val();
        self.account.is_wanted.next = self.ahead.has_next.val();
        self.account.wanted.next = self.ahead.next_piece.val().room;
        self.account.behind.next = self.ahead.behind.val().room;
        self.account.give_back_headers.next = self.give_back_headers.val();
        self.account.give_back_data.next = self.give_back_data.val();
        self.candidate.next = self.tags.candidate.val();
        self.tags.busy.next = self.candidate_busy.val();
        self.tags.quarantined.next = self.candidate_quarantined.val();
        self.tags.extended_tags.next = self.extended_tags.val();
        PulseSink::<ReadOrder>::link(&mut self.delivered, &mut self.ring.delivered);
        self.account.take.next = self.load.val();
        self.tags.take.next = self.load.val();
        self.ring.take.next = self.load.val();
        self.ring.beats.next = self.ahead.next_piece.val().beats;
        self.tag_stall.next = self.ahead.has_next.val() & !self.tags.has_tag.val();
        self.room_stall.next =
            self.ahead.has_next.val() & self.tags.has_tag.val() & !self.has_room.val();
        self.headers_level.next = self.account.headers_level.val();
        self.data_level.next = self.account.data_level.val();

        self.format.piece.next = self.ahead.next_piece.val().piece;
        self.format.tag.next = self.tags.tag.val();
        self.format.start.next = self.ring.start.val();
        if self.load.val() {
            self.tlp_stage.d.next = self.format.tlp.val();
            self.order_stage.d.next = self.format.order.val();
            self.record_stage.d.next = self.format.record.val();
            self.room_stage.d.next = self.ahead.next_piece.val().room;
        }
        self.staged.d.next =
            !self.reset.val() & (self.load.val() | (self.staged.q.val() & !self.tlp.ready.val()));
        self.tlp.valid.next = self.staged.q.val() & !self.reset.val();
        self.tlp.payload.next = self.tlp_stage.q.val();
        self.order.valid.next = self.take.val();
        self.order.payload.next = self.order_stage.q.val();
        self.issue.next = self.take.val();
        self.issue_tag.next = self.order_stage.q.val().tag;
        self.record.next = self.record_stage.q.val();
        self.issue_room.next = self.room_stage.q.val();
    }
}
