//! Completion credit: what reads may occupy of the hard block's completion buffer, and whether the
//! next read fits.
//!
//! ```text
//!   piece ─► CompletionCredit ─► credit of the following read ─┐
//!                                credit of the next read ──────┴─► CreditAccount ─► fits
//!                                          take, give back ──────────────┘
//! ```
//! Timing: the credit of a piece is combinational. `fits` is a register: while one read takes its
//! credit, the account decides whether the following one fits as well. Credit that is given back
//! counts in the next cycle for a read that waits, otherwise one cycle later.
//!
//! Invariants:
//! 1. Reads in flight never need more than the buffer has.
//!
//! Source: PG213, receive buffer and flow control; headers = ceil((address mod RCB + length) /
//! RCB).

use ip::completion_buffer::CompletionBuffer;
use stream::prelude::*;

use crate::messages::Piece;

/// Most that the completions of a request can occupy in the hard block.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ReadCredit {
    /// Completion headers, 1 to 9.
    pub headers: Bits<4>,
    /// Completion data in units of 16 bytes, 1 to 33.
    pub data: Bits<6>,
}

/// Computes the credit that a piece needs.
///
/// Timing: combinational.
#[derive(LogicBlock, Default)]
pub struct CompletionCredit {
    /// The piece.
    pub piece: Signal<In, Piece>,
    /// Read completion boundary: high is 128 bytes, low is 64.
    pub rcb: Signal<In, Bit>,
    /// Credit that the piece needs.
    pub credit: Signal<Out, ReadCredit>,
    /// Aligned beats of 64 bytes that the piece touches, 1 to 8.
    pub beats: Signal<Out, Bits<4>>,

    address: Signal<Local, Bits<64>>,
    bytes: Signal<Local, Bits<11>>,
    end_64: Signal<Local, Bits<11>>,
    end_128: Signal<Local, Bits<11>>,
    end_16: Signal<Local, Bits<11>>,
    result: Signal<Local, ReadCredit>,
}

impl Logic for CompletionCredit {
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
        self.credit.next = self.result.val();
    }
}

/// How much of one kind of credit is left, and whether the next read fits.
///
/// There is `credit` in all. `WIDTH` bits hold it and a sign.
#[derive(LogicBlock, BlockDefault)]
#[new(credit: u32)]
#[require(credit < 1 << (WIDTH - 1), "{credit} is no number of {WIDTH} bits with a sign")]
pub struct CreditLeft<const WIDTH: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// All credit is left.
    pub reset: Signal<In, Bit>,

    /// There is a next read.
    pub is_wanted: Signal<In, Bit>,
    /// Credit that the next read needs.
    pub wanted: Signal<In, Bits<WIDTH>>,
    /// Credit that the read after it needs; ignored if there is none.
    pub following: Signal<In, Bits<WIDTH>>,
    /// The next read takes its credit. Allowed only with `is_wanted` and `fits`.
    pub take: Signal<In, Bit>,
    /// Credit that is given back in this cycle.
    pub give_back: Signal<In, Bits<WIDTH>>,
    /// There is enough credit for the next read.
    pub fits: Signal<Out, Bit>,
    /// Credit in use.
    pub used: Signal<Out, Bits<WIDTH>>,

    change: DFF<Bits<WIDTH>>,
    is_enough: DFF<Bit>,

    left: Signal<Local, Bits<WIDTH>>,
    left_after: Signal<Local, Bits<WIDTH>>,
    left_for_first: Signal<Local, Bits<WIDTH>>,
    left_for_both: Signal<Local, Bits<WIDTH>>,
    kept: Signal<Local, Bits<WIDTH>>,
    left_next: Signal<Local, Bits<WIDTH>>,
    taken: Signal<Local, Bits<WIDTH>>,
    #[value(u64::from(credit))]
    all: Constant<Bits<WIDTH>>,
    #[value(1 << (WIDTH - 1))]
    sign: Constant<Bits<WIDTH>>,
}

impl<const WIDTH: usize> Logic for CreditLeft<WIDTH> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, change, is_enough);
        // The register is 0 at power-up: that means that all credit is left.
        self.left.next = self.change.q.val() ^ self.all.val();
        self.fits.next = self.is_enough.q.val();
        self.used.next = self.all.val() - self.left.val();

        // Every sum is made before it is known which one is needed.
        self.left_after.next = self.left.val() - self.wanted.val();
        self.left_for_first.next = self.left.val() - self.following.val();
        self.left_for_both.next = self.left.val() - (self.wanted.val() + self.following.val());
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

/// Accounts for the completion `buffer` that requests in flight may need: headers and data.
#[derive(LogicBlock, BlockDefault)]
#[new(buffer: CompletionBuffer)]
#[require(buffer.is_supported(), "{buffer:?}")]
pub struct CreditAccount {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Nothing is in flight: all credit is left.
    pub reset: Signal<In, Bit>,

    /// There is a next request.
    pub is_wanted: Signal<In, Bit>,
    /// Credit that the next request needs.
    pub wanted: Signal<In, ReadCredit>,
    /// Credit of the request that becomes the next one when this one takes its credit, or when
    /// there is none; ignored if there is none.
    pub following: Signal<In, ReadCredit>,
    /// There is enough credit for the next request.
    pub fits: Signal<Out, Bit>,
    /// The next request takes its credit. Allowed only with `is_wanted` and `fits`.
    pub take: Signal<In, Bit>,
    /// Completion headers that are given back in this cycle.
    pub give_back_headers: Signal<In, Bits<5>>,
    /// Completion data that is given back in this cycle, in units of 16 bytes.
    pub give_back_data: Signal<In, Bits<7>>,

    /// Completion headers in use.
    pub headers_level: Signal<Out, Bits<10>>,
    /// Completion data in use, in units of 16 bytes.
    pub data_level: Signal<Out, Bits<12>>,

    #[value(CreditLeft::new(buffer.headers))]
    headers: CreditLeft<10>,
    #[value(CreditLeft::new(buffer.data))]
    data: CreditLeft<12>,
}

impl Default for CreditAccount {
    fn default() -> Self {
        Self::new(CompletionBuffer::default())
    }
}

impl Logic for CreditAccount {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, headers, data);
        self.headers.reset.next = self.reset.val();
        self.headers.is_wanted.next = self.is_wanted.val();
        self.headers.wanted.next = bit_cast::<10, 4>(self.wanted.val().headers);
        self.headers.following.next = bit_cast::<10, 4>(self.following.val().headers);
        self.headers.take.next = self.take.val();
        self.headers.give_back.next = bit_cast::<10, 5>(self.give_back_headers.val());
        self.headers_level.next = self.headers.used.val();

        self.data.reset.next = self.reset.val();
        self.data.is_wanted.next = self.is_wanted.val();
        self.data.wanted.next = bit_cast::<12, 6>(self.wanted.val().data);
        self.data.following.next = bit_cast::<12, 6>(self.following.val().data);
        self.data.take.next = self.take.val();
        self.data.give_back.next = bit_cast::<12, 7>(self.give_back_data.val());
        self.data_level.next = self.data.used.val();

        self.fits.next = self.headers.fits.val() & self.data.fits.val();
    }
}
