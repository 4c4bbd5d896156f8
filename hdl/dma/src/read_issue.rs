//! Gives each piece of a read a tag and room in the hard block's completion buffer, and sends its
//! request.
//!
//! ```text
//!   piece ──►┌───────────┐──► tlp      read request
//!            │ ReadIssue │──► order    what to deliver, in job order
//!    busy ──►└───────────┘──► record   what to expect, by tag
//!  returned ─────┘ (room of completions taken, beats of answers delivered)
//! ```
//! Timing: outputs are registered; one request a cycle, one cycle for each quarantined tag that is
//! passed over. Tags are used in turn and come back in turn: the next one is waited for. Order and
//! record go out when the request is taken; the queue behind `order` has room for all tags.
//!
//! Invariants:
//! 1. Completions of all requests in flight never need more than the buffer has:
//!    256 headers and 1,792 times 16 bytes. Room comes back when the hard block has handed over the
//!    last completion (see [`crate::room_return`]), whatever becomes of the answer after that.
//! 2. Beats of the reorder memory are given out in a ring, as many as the window of a request
//!    touches, and come back when the answer is delivered. No request goes out without its beats.
//! 3. A request stays inside an aligned window of 512 bytes.
//!
//! Source: PG213, receive buffer and flow control; headers = ceil((address mod RCB + length) /
//! RCB).

use crate::byte_enables::ByteEnables;
use crate::reorder_ring::ReorderRing;
use crate::request::{Piece, RequestTlp};
use crate::tags::{Tag, TagSet, TAG_BITS};
use stream::prelude::*;

/// What completions of a request must look like.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ReadRecord {
    /// Address of the byte behind the last one, modulo 4,096.
    pub end: Bits<12>,
    /// Bytes requested, 1 to 512.
    pub bytes: Bits<10>,
    /// Beat of the reorder memory that would hold the start of the window of 512 bytes.
    pub base: Bits<9>,
}

/// Where the answer to a request lies and to which job it belongs.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ReadOrder {
    /// Tag.
    pub tag: Tag,
    /// Beat of the reorder memory that holds the first byte.
    pub start: Bits<9>,
    /// Client that gets the answer.
    pub client: Bits<2>,
    /// First request of its job.
    pub first: Bit,
    /// Last request of its job.
    pub last: Bit,
    /// Place of the first byte in the window of 512 bytes.
    pub begin: Bits<9>,
    /// Place of the last byte.
    pub end: Bits<9>,
}

/// What the completions of a request can occupy in the hard block, at most.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ReadRoom {
    /// Headers.
    pub headers: Bits<4>,
    /// Data, in units of 16 bytes.
    pub data: Bits<6>,
}

/// The room of a piece.
#[derive(LogicBlock, Default)]
pub struct CompletionRoom {
    /// The piece.
    pub piece: Signal<In, Piece>,
    /// Completions are cut at 128 bytes instead of 64.
    pub rcb: Signal<In, Bit>,

    /// Headers.
    pub headers: Signal<Out, Bits<4>>,
    /// Data, in units of 16 bytes.
    pub data: Signal<Out, Bits<6>>,

    address: Signal<Local, Bits<64>>,
    bytes: Signal<Local, Bits<11>>,
    end_64: Signal<Local, Bits<11>>,
    end_128: Signal<Local, Bits<11>>,
    end_16: Signal<Local, Bits<11>>,
}

impl Logic for CompletionRoom {
    #[hdl_gen]
    fn update(&mut self) {
        self.address.next = self.piece.val().address;
        self.bytes.next = self.piece.val().bytes;
        self.end_64.next =
            bit_cast::<11, 6>(self.address.val().get_bits::<6>(0)) + self.bytes.val() + 63;
        self.end_128.next =
            bit_cast::<11, 7>(self.address.val().get_bits::<7>(0)) + self.bytes.val() + 127;
        self.end_16.next =
            bit_cast::<11, 4>(self.address.val().get_bits::<4>(0)) + self.bytes.val() + 15;
        self.headers.next = self.end_64.val().get_bits::<4>(6);
        if self.rcb.val() {
            self.headers.next = self.end_128.val().get_bits::<4>(7);
        }
        self.data.next = self.end_16.val().get_bits::<6>(4);
    }
}

/// Completions that the hard block stores. What exceeds it is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletionBuffer {
    /// Headers, 8 to 256.
    pub headers: u32,
    /// Data, in units of 16 bytes, 32 to 1,984.
    pub data: u32,
}

impl Default for CompletionBuffer {
    /// What the hard block was measured to hold: 256 headers, 28 KiB.
    fn default() -> Self {
        Self {
            headers: 256,
            data: 1792,
        }
    }
}

impl CompletionBuffer {
    /// Whether the read engine can keep account of it: the largest read must fit.
    pub fn is_supported(&self) -> bool {
        (8..=256).contains(&self.headers) && (32..=1984).contains(&self.data)
    }
}

/// Keeps count of the completion buffer that requests in flight may need.
#[derive(LogicBlock)]
pub struct RoomAccount {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Nothing is in flight.
    pub reset: Signal<In, Bit>,

    /// Headers that the next request needs.
    pub headers: Signal<In, Bits<4>>,
    /// Data that it needs.
    pub data: Signal<In, Bits<6>>,
    /// There is room for it.
    pub fits: Signal<Out, Bit>,
    /// It takes the room.
    pub reserve: Signal<In, Bit>,
    /// Headers that come back.
    pub give_back_headers: Signal<In, Bits<5>>,
    /// Data that comes back.
    pub give_back_data: Signal<In, Bits<7>>,

    /// Headers in use.
    pub headers_level: Signal<Out, Bits<10>>,
    /// Data in use.
    pub data_level: Signal<Out, Bits<12>>,

    headers_used: DFF<Bits<10>>,
    data_used: DFF<Bits<12>>,

    headers_after: Signal<Local, Bits<10>>,
    data_after: Signal<Local, Bits<12>>,
    headers_now: Signal<Local, Bits<10>>,
    data_now: Signal<Local, Bits<12>>,
    headers_max: Constant<Bits<10>>,
    data_max: Constant<Bits<12>>,
}

impl RoomAccount {
    /// The account of a buffer.
    pub fn new(buffer: CompletionBuffer) -> Self {
        assert!(buffer.is_supported(), "{buffer:?}");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            headers: Default::default(),
            data: Default::default(),
            fits: Default::default(),
            reserve: Default::default(),
            give_back_headers: Default::default(),
            give_back_data: Default::default(),
            headers_level: Default::default(),
            data_level: Default::default(),
            headers_used: Default::default(),
            data_used: Default::default(),
            headers_after: Default::default(),
            data_after: Default::default(),
            headers_now: Default::default(),
            data_now: Default::default(),
            headers_max: Constant::new(u64::from(buffer.headers).to_bits()),
            data_max: Constant::new(u64::from(buffer.data).to_bits()),
        }
    }
}

impl Default for RoomAccount {
    fn default() -> Self {
        Self::new(CompletionBuffer::default())
    }
}

impl Logic for RoomAccount {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, headers_used, data_used);
        self.headers_after.next = self.headers_used.q.val() + bit_cast::<10, 4>(self.headers.val());
        self.data_after.next = self.data_used.q.val() + bit_cast::<12, 6>(self.data.val());
        self.fits.next = (self.headers_after.val() <= self.headers_max.val())
            & (self.data_after.val() <= self.data_max.val());

        self.headers_level.next = self.headers_used.q.val();
        self.data_level.next = self.data_used.q.val();
        self.headers_now.next = self.headers_used.q.val();
        self.data_now.next = self.data_used.q.val();
        if self.reserve.val() {
            self.headers_now.next = self.headers_after.val();
            self.data_now.next = self.data_after.val();
        }
        self.headers_used.d.next =
            self.headers_now.val() - bit_cast::<10, 5>(self.give_back_headers.val());
        self.data_used.d.next = self.data_now.val() - bit_cast::<12, 7>(self.give_back_data.val());
        if self.reset.val() {
            self.headers_used.d.next = 0.into();
            self.data_used.d.next = 0.into();
        }
    }
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
    /// Beat of the reorder memory behind the request's.
    pub start_after: Signal<Out, Bits<9>>,

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
        self.start_after.next =
            (self.base.val() + bit_cast::<9, 3>(self.last_byte.val().get_bits::<3>(6))) + 1;
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
    /// Tags that must not be used.
    pub busy: Signal<In, TagSet>,
    /// Tags among them that will not come back.
    pub quarantined: Signal<In, TagSet>,
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

    room: CompletionRoom,
    account: RoomAccount,
    ring: ReorderRing,
    format: ReadFormat,
    staged: DFF<Bit>,
    tlp_stage: DFF<RequestTlp>,
    order_stage: DFF<ReadOrder>,
    record_stage: DFF<ReadRecord>,
    room_stage: DFF<ReadRoom>,
    tag: DFF<Tag>,

    tag_after: Signal<Local, Tag>,
    tag_next: Signal<Local, Tag>,
    is_busy: Signal<Local, Bit>,
    is_lost: Signal<Local, Bit>,
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
        dff_setup!(self, clock, staged, tlp_stage, order_stage);
        dff_setup!(self, clock, record_stage, room_stage, tag);

        self.room.piece.next = self.piece.payload.val();
        self.room.rcb.next = self.rcb.val();
        self.format.piece.next = self.piece.payload.val();
        self.format.tag.next = self.tag.q.val();
        self.format.start.next = self.ring.start.val();

        self.account.headers.next = self.room.headers.val();
        self.account.data.next = self.room.data.val();
        self.is_busy.next = self.busy.val().get_bit(self.tag.q.val().index());
        self.has_room.next = self.account.fits.val() & self.ring.has_room.val();
        self.take.next = self.staged.q.val() & self.tlp.ready.val() & !self.reset.val();
        self.load.next = self.piece.valid.val()
            & self.has_room.val()
            & !self.is_busy.val()
            & !self.draining.val()
            & !self.reset.val()
            & (!self.staged.q.val() | self.take.val());
        self.piece.ready.next = self.load.val();
        self.tag_stall.next = self.piece.valid.val() & self.is_busy.val();
        self.room_stall.next = self.piece.valid.val() & !self.is_busy.val() & !self.has_room.val();
        self.headers_level.next = self.account.headers_level.val();
        self.data_level.next = self.account.data_level.val();
        if self.take.val() {
            self.staged.d.next = false;
        }
        if self.load.val() {
            self.staged.d.next = true;
            self.tlp_stage.d.next = self.format.tlp.val();
            self.order_stage.d.next = self.format.order.val();
            self.record_stage.d.next = self.format.record.val();
            self.room_stage.d.next.headers = self.room.headers.val();
            self.room_stage.d.next.data = self.room.data.val();
        }
        self.tlp.valid.next = self.staged.q.val() & !self.reset.val();
        self.tlp.payload.next = self.tlp_stage.q.val();
        self.order.valid.next = self.take.val();
        self.order.payload.next = self.order_stage.q.val();
        self.issue.next = self.take.val();
        self.issue_tag.next = self.order_stage.q.val().tag;
        self.record.next = self.record_stage.q.val();
        self.issue_room.next = self.room_stage.q.val();

        self.account.clock.next = self.clock.val();
        self.account.reset.next = self.reset.val();
        self.account.reserve.next = self.load.val();
        self.account.give_back_headers.next = self.give_back_headers.val();
        self.account.give_back_data.next = self.give_back_data.val();
        self.ring.clock.next = self.clock.val();
        self.ring.reset.next = self.reset.val();
        self.ring.take.next = self.load.val();
        self.ring.start_after.next = self.format.start_after.val();
        PulseSink::<ReadOrder>::link(&mut self.delivered, &mut self.ring.delivered);

        self.tag_after.next = self.tag.q.val() + 1;
        self.tag_next.next = self.tag_after.val();
        if !self.extended_tags.val() {
            self.tag_next.next = bit_cast::<TAG_BITS, 5>(self.tag_after.val().get_bits::<5>(0));
        }
        self.is_lost.next = self.quarantined.val().get_bit(self.tag.q.val().index());
        if self.load.val() | self.is_lost.val() {
            self.tag.d.next = self.tag_next.val();
        }
        if self.reset.val() {
            self.staged.d.next = false;
        }
    }
}
