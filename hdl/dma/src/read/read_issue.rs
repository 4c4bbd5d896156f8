//! Gives each piece of a read a tag, completion credit and beats of the reorder memory, and sends
//! its request.
//!
//! ```text
//!   piece ─► [two, with their credit] ─► [next] ─► [request] ─┬─► tlp      read request
//!   busy ─► TagArbiter ────────────────────┤                  ├─► order    for delivery, in order
//!   returned ─► CreditAccount ─────────────┤                  └─► record   what to expect, by tag
//!   delivered ─► ReorderRing ──────────────┘
//! ```
//! The next piece goes when it has a tag, credit and beats.
//!
//! Timing: three registers from piece to request; one request per cycle. Whether the next piece has
//! credit, beats and a tag is in registers, decided one cycle ahead. `order`, `issue` and `record`
//! are valid in the cycle in which the request is taken. `order.ready` is ignored: the queue that
//! takes it has space for all tags.
//!
//! Invariants:
//! 1. Completions of all requests in flight never need more than the completion buffer has. Credit
//!    is given back when the hard block has handed over the last completion (see
//!    [`crate::read::credit_return`]), whatever becomes of the read data after that.
//! 2. Beats of the reorder memory are given out in a ring, as many as the request touches, and are
//!    given back when its read data are delivered. No request is sent without its beats.
//! 3. A request stays inside an aligned window of 512 bytes, if `piece` does.
//!
//! Source: PG213, receive buffer and flow control.

use crate::byte_enables::ByteEnables;
use crate::read::messages::{ReadOrder, ReadRecord};
use ip::completion_buffer::CompletionBuffer;

use crate::messages::{Piece, RequestTlp};
use crate::read::completion_credit::{CompletionCredit, CreditAccount, ReadCredit};
use crate::read::reorder_ring::ReorderRing;
use crate::read::tag::{Tag, TAG_BITS};
use crate::read::tag_arbiter::TagArbiter;
use stream::prelude::*;

/// A piece and the credit that it needs.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CreditedPiece {
    /// The piece.
    pub piece: Piece,
    /// Completion credit that the piece needs.
    pub credit: ReadCredit,
    /// Beats of the reorder memory that the piece touches, 1 to 8.
    pub beats: Bits<4>,
}

/// Makes request, delivery order and record of a piece.
///
/// Timing: combinational.
#[derive(LogicBlock, Default)]
pub struct ReadFormat {
    /// The piece.
    pub piece: Signal<In, Piece>,
    /// Tag of the request.
    pub tag: Signal<In, Tag>,
    /// Beat of the reorder memory for the first byte.
    pub start: Signal<In, Bits<9>>,

    /// The request.
    pub tlp: Signal<Out, RequestTlp>,
    /// Where the read data lie, and which job they belong to.
    pub order: Signal<Out, ReadOrder>,
    /// What the completions must look like.
    pub record: Signal<Out, ReadRecord>,

    enables: ByteEnables,
    address: Signal<Local, Bits<64>>,
    bytes: Signal<Local, Bits<11>>,
    last_byte: Signal<Local, Bits<11>>,
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
        // The window may start before the request's first beat: only touched beats are used.
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
        self.next_record.next.base =
            self.start.val() - bit_cast::<9, 3>(self.address.val().get_bits::<3>(6));
        self.record.next = self.next_record.val();
    }
}

/// Holds the next piece and the one after it, with the credit that they need.
///
/// Timing: latency two cycles, one piece per cycle. `has_next` and `next_piece` are registers.
#[derive(LogicBlock, Default)]
pub struct PieceAhead {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets all pieces.
    pub reset: Signal<In, Bit>,

    /// Pieces, in job order.
    pub piece: MessageSink<Piece>,
    /// Read completion boundary: high is 128 bytes, low is 64.
    pub rcb: Signal<In, Bit>,
    /// There is a next piece.
    pub has_next: Signal<Out, Bit>,
    /// The next piece.
    pub next_piece: Signal<Out, CreditedPiece>,
    /// The piece that becomes the next one if the next one goes, or if there is none; undefined if
    /// no piece waits.
    pub following: Signal<Out, CreditedPiece>,
    /// The next piece goes.
    pub take: Signal<In, Bit>,

    credit: CompletionCredit,
    queue: Fifo<CreditedPiece, 1, 2>,
    is_held: DFF<Bit>,
    held: DFF<CreditedPiece>,

    credited: Signal<Local, CreditedPiece>,
    refill: Signal<Local, Bit>,
}

impl Logic for PieceAhead {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, is_held, held);
        clock!(self, clock, queue);
        self.queue.reset.next = self.reset.val();
        self.credit.piece.next = self.piece.payload.val();
        self.credit.rcb.next = self.rcb.val();
        self.credited.next.piece = self.piece.payload.val();
        self.credited.next.credit = self.credit.credit.val();
        self.credited.next.beats = self.credit.beats.val();
        self.queue.sink.valid.next = self.piece.valid.val();
        self.queue.sink.payload.next = self.credited.val();
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
        self.following.next = self.queue.source.payload.val();
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ReadIssue {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets all pieces and requests, and all credit and beats in use.
    pub reset: Signal<In, Bit>,
    /// Reads from before the reset have not all ended: no request is sent.
    pub draining: Signal<In, Bit>,

    /// Pieces of read jobs, in job order.
    pub piece: MessageSink<Piece>,
    /// Read requests.
    pub tlp: MessageSource<RequestTlp>,
    /// Each request that is sent, for delivery. Valid for one cycle; `ready` is ignored.
    pub order: MessageSource<ReadOrder>,

    /// Read completion boundary: high is 128 bytes, low is 64.
    pub rcb: Signal<In, Bit>,
    /// The host allows 8-bit tags: 256 tags are used, otherwise 32.
    pub extended_tags: Signal<In, Bit>,
    /// Tag that may be used next.
    pub candidate: Signal<Out, Tag>,
    /// The candidate is in use or quarantined; combinational reply.
    pub candidate_busy: Signal<In, Bit>,
    /// The candidate is out of use until reset; combinational reply.
    pub candidate_quarantined: Signal<In, Bit>,
    /// A request is sent.
    pub issue: Signal<Out, Bit>,
    /// Tag of the request that is sent.
    pub issue_tag: Signal<Out, Tag>,
    /// What the request that is sent expects.
    pub record: Signal<Out, ReadRecord>,
    /// Completion credit of the request that is sent.
    pub issue_credit: Signal<Out, ReadCredit>,
    /// Completion headers that are given back in this cycle.
    pub give_back_headers: Signal<In, Bits<5>>,
    /// Completion data that is given back in this cycle, in units of 16 bytes.
    pub give_back_data: Signal<In, Bits<7>>,
    /// The read data of this request have been delivered: its beats are free.
    pub delivered: PulseSink<ReadOrder>,
    /// A read waits for a free tag.
    pub tag_stall: Signal<Out, Bit>,
    /// A read waits for completion credit, or for beats of the reorder memory.
    pub credit_stall: Signal<Out, Bit>,
    /// Completion headers that the requests in flight may need.
    pub headers_level: Signal<Out, Bits<10>>,
    /// Completion data that the requests in flight may need, in units of 16 bytes.
    pub data_level: Signal<Out, Bits<12>>,

    ahead: PieceAhead,
    account: CreditAccount,
    tags: TagArbiter,
    ring: ReorderRing,
    format: ReadFormat,
    staged: DFF<Bit>,
    tlp_stage: DFF<RequestTlp>,
    order_stage: DFF<ReadOrder>,
    record_stage: DFF<ReadRecord>,
    credit_stage: DFF<ReadCredit>,

    has_space: Signal<Local, Bit>,
    load: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
}

impl ReadIssue {
    /// Issues reads for a hard block with this completion buffer.
    pub fn new(buffer: CompletionBuffer) -> Self {
        Self { account: CreditAccount::new(buffer), ..Self::default() }
    }
}

impl Logic for ReadIssue {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, staged, tlp_stage);
        dff_setup!(self, clock, order_stage, record_stage, credit_stage);
        clock!(self, clock, ahead, account, tags, ring);
        self.ahead.reset.next = self.reset.val();
        self.account.reset.next = self.reset.val();
        self.ring.reset.next = self.reset.val();

        // The next piece goes when it has everything that it needs.
        self.has_space.next = self.account.fits.val() & self.ring.has_space.val();
        self.take.next = self.staged.q.val() & self.tlp.ready.val() & !self.reset.val();
        self.load.next = self.ahead.has_next.val()
            & self.has_space.val()
            & self.tags.has_tag.val()
            & !self.draining.val()
            & !self.reset.val()
            & (!self.staged.q.val() | self.tlp.ready.val());

        MessageSink::<Piece>::link(&mut self.piece, &mut self.ahead.piece);
        self.ahead.rcb.next = self.rcb.val();
        self.ahead.take.next = self.load.val();
        self.account.is_wanted.next = self.ahead.has_next.val();
        self.account.wanted.next = self.ahead.next_piece.val().credit;
        self.account.following.next = self.ahead.following.val().credit;
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
        self.credit_stall.next =
            self.ahead.has_next.val() & self.tags.has_tag.val() & !self.has_space.val();
        self.headers_level.next = self.account.headers_level.val();
        self.data_level.next = self.account.data_level.val();

        self.format.piece.next = self.ahead.next_piece.val().piece;
        self.format.tag.next = self.tags.tag.val();
        self.format.start.next = self.ring.start.val();
        if self.load.val() {
            self.tlp_stage.d.next = self.format.tlp.val();
            self.order_stage.d.next = self.format.order.val();
            self.record_stage.d.next = self.format.record.val();
            self.credit_stage.d.next = self.ahead.next_piece.val().credit;
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
        self.issue_credit.next = self.credit_stage.q.val();
    }
}
