//! What reads may occupy of the hard block's completion buffer, and whether the next one fits.
//!
//! ```text
//!   piece ─► CompletionRoom ─► room of the read behind ─┐
//!                              room of the next read ───┴─► RoomAccount ─► fits
//!                                        take, give back ────────┘
//! ```
//! | port of RoomAccount | direction | meaning |
//! |---|---|---|
//! | wanted, is_wanted | in | room of the next read; there is one |
//! | behind | in | room of the read behind it: wanted when that one has taken its room or is none |
//! | fits, take | out, in | there is room for the next read; it takes it |
//! | give_back_headers, give_back_data | in | room that comes back |
//! | headers_level, data_level | out | room in use |
//!
//! Timing: the room of a piece is combinational. `fits` is a register: while one read takes its
//! room, it is found out whether the one behind fits as well. What comes back counts in the next
//! cycle for a read that waits, else in the one after it.
//!
//! Invariants:
//! 1. Reads in flight never need more than the buffer has.
//!
//! Source: PG213, receive buffer and flow control; headers = ceil((address mod RCB + length) /
//! RCB).

use ip::board::CompletionBuffer;
use stream::prelude::*;

use crate::messages::Piece;

/// What the completions of a request can occupy in the hard block, at most.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ReadRoom {
    /// Headers, 1 to 9.
    pub headers: Bits<4>,
    /// Data, in units of 16 bytes, 1 to 33.
    pub data: Bits<6>,
}

/// The room of a piece.
#[derive(LogicBlock, Default)]
pub struct CompletionRoom {
    /// The piece.
    pub piece: Signal<In, Piece>,
    /// Completions are cut at 128 bytes instead of 64.
    pub rcb: Signal<In, Bit>,
    /// Its room.
    pub room: Signal<Out, ReadRoom>,
    /// Beats of 64 bytes that it touches, 1 to 8.
    pub beats: Signal<Out, Bits<4>>,

    address: Signal<Local, Bits<64>>,
    bytes: Signal<Local, Bits<11>>,
    end_64: Signal<Local, Bits<11>>,
    end_128: Signal<Local, Bits<11>>,
    end_16: Signal<Local, Bits<11>>,
    result: Signal<Local, ReadRoom>,
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
        self.beats.next = self.end_64.val().get_bits::<4>(6);
        self.result.next.headers = self.end_64.val().get_bits::<4>(6);
        if self.rcb.val() {
            self.result.next.headers = self.end_128.val().get_bits::<4>(7);
        }
        self.result.next.data = self.end_16.val().get_bits::<6>(4);
        self.room.next = self.result.val();
    }
}

/// How much of one kind of room is left, and whether the next read fits. W holds the room and a
/// sign.
///
/// The account of that much room.
#[derive(LogicBlock, BlockDefault)]
#[new(room: u32)]
#[require(room < 1 << (W - 1), "{room} is no number of {W} bits with a sign")]
pub struct RoomLeft<const W: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// All of it is left.
    pub reset: Signal<In, Bit>,

    /// There is a next read.
    pub is_wanted: Signal<In, Bit>,
    /// What it needs.
    pub wanted: Signal<In, Bits<W>>,
    /// What the one behind it needs.
    pub behind: Signal<In, Bits<W>>,
    /// The next read takes its room.
    pub take: Signal<In, Bit>,
    /// What comes back.
    pub give_back: Signal<In, Bits<W>>,
    /// There is room for the next read.
    pub fits: Signal<Out, Bit>,
    /// In use.
    pub used: Signal<Out, Bits<W>>,

    change: DFF<Bits<W>>,
    is_enough: DFF<Bit>,

    left: Signal<Local, Bits<W>>,
    left_after: Signal<Local, Bits<W>>,
    left_for_first: Signal<Local, Bits<W>>,
    left_for_both: Signal<Local, Bits<W>>,
    kept: Signal<Local, Bits<W>>,
    left_next: Signal<Local, Bits<W>>,
    taken: Signal<Local, Bits<W>>,
    #[value(u64::from(room))]
    all: Constant<Bits<W>>,
    #[value(1 << (W - 1))]
    sign: Constant<Bits<W>>,
}

impl<const W: usize> Logic for RoomLeft<W> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, change, is_enough);
        // Zero, as a register begins, means that all is left.
        self.left.next = self.change.q.val() ^ self.all.val();
        self.fits.next = self.is_enough.q.val();
        self.used.next = self.all.val() - self.left.val();

        // Every sum is there before it is known which one is wanted.
        self.left_after.next = self.left.val() - self.wanted.val();
        self.left_for_first.next = self.left.val() - self.behind.val();
        self.left_for_both.next = self.left.val() - (self.wanted.val() + self.behind.val());
        self.kept.next = self.left.val() + self.give_back.val();
        self.taken.next = self.left_after.val() + self.give_back.val();
        self.left_next.next = self.kept.val();
        self.is_enough.d.next = (self.left_for_first.val() & self.sign.val()) != self.sign.val();
        if self.take.val() {
            self.left_next.next = self.taken.val();
            self.is_enough.d.next = (self.left_for_both.val() & self.sign.val()) != self.sign.val();
        } else if self.is_wanted.val() {
            self.is_enough.d.next = (self.taken.val() & self.sign.val()) != self.sign.val();
        }
        if self.reset.val() {
            self.left_next.next = self.all.val();
            self.is_enough.d.next = false;
        }
        self.change.d.next = self.left_next.val() ^ self.all.val();
    }
}

/// Keeps count of the completion buffer that requests in flight may need.
///
/// The account of a buffer.
#[derive(LogicBlock, BlockDefault)]
#[new(buffer: CompletionBuffer)]
#[require(buffer.is_supported(), "{buffer:?}")]
pub struct RoomAccount {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Nothing is in flight.
    pub reset: Signal<In, Bit>,

    /// There is a next request.
    pub is_wanted: Signal<In, Bit>,
    /// What it needs.
    pub wanted: Signal<In, ReadRoom>,
    /// What the one needs that becomes the next when this one has taken its room, or when there is
    /// none.
    pub behind: Signal<In, ReadRoom>,
    /// There is room for the next request.
    pub fits: Signal<Out, Bit>,
    /// It takes the room.
    pub take: Signal<In, Bit>,
    /// Headers that come back.
    pub give_back_headers: Signal<In, Bits<5>>,
    /// Data that comes back.
    pub give_back_data: Signal<In, Bits<7>>,

    /// Headers in use.
    pub headers_level: Signal<Out, Bits<10>>,
    /// Data in use.
    pub data_level: Signal<Out, Bits<12>>,

    #[value(RoomLeft::new(buffer.headers))]
    headers: RoomLeft<10>,
    #[value(RoomLeft::new(buffer.data))]
    data: RoomLeft<12>,
}

impl Default for RoomAccount {
    fn default() -> Self {
        Self::new(CompletionBuffer::default())
    }
}

impl Logic for RoomAccount {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, headers, data);
        self.headers.reset.next = self.reset.val();
        self.headers.is_wanted.next = self.is_wanted.val();
        self.headers.wanted.next = bit_cast::<10, 4>(self.wanted.val().headers);
        self.headers.behind.next = bit_cast::<10, 4>(self.behind.val().headers);
        self.headers.take.next = self.take.val();
        self.headers.give_back.next = bit_cast::<10, 5>(self.give_back_headers.val());
        self.headers_level.next = self.headers.used.val();

        self.data.reset.next = self.reset.val();
        self.data.is_wanted.next = self.is_wanted.val();
        self.data.wanted.next = bit_cast::<12, 6>(self.wanted.val().data);
        self.data.behind.next = bit_cast::<12, 6>(self.behind.val().data);
        self.data.take.next = self.take.val();
        self.data.give_back.next = bit_cast::<12, 7>(self.give_back_data.val());
        self.data_level.next = self.data.used.val();

        self.fits.next = self.headers.fits.val() & self.data.fits.val();
    }
}
