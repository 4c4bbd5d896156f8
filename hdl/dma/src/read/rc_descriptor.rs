//! Checks the descriptor of a completion against what its request still expects.
//!
//! ```text
//!   descriptor ──► DescriptorRead ──► announced ─┐
//!                record, remaining ──────────────┴─► DescriptorCheck ──► good, remaining_after
//! ```
//! Timing: combinational; the user places a register between the two blocks.
//!
//! Invariants:
//! 1. `good` is high if status and error code are good, lower address and byte count continue where
//!    the completion before it ended, and the announced dwords do not exceed what remains.
//!
//! Source: PG213, requester completion descriptor.

use crate::read::messages::ReadRecord;
use stream::prelude::*;

/// What a descriptor states about its completion, without its request.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Announced {
    /// Number of payload dwords.
    pub dwords: Bits<11>,
    /// There is payload.
    pub has_dwords: Bit,
    /// Bytes from the lower address up to the end of the last dword.
    pub bytes: Bits<13>,
    /// `bytes` less 4.
    pub bytes_less: Bits<13>,
    /// `dwords` is at most 1, so `bytes` at most 4.
    pub is_small: Bit,
    /// No error code, good status, not poisoned.
    pub clean: Bit,
}

/// Reads the fields of a descriptor.
///
/// Timing: combinational.
#[derive(LogicBlock, Default)]
pub struct DescriptorRead {
    /// RC descriptor.
    pub descriptor: Signal<In, Bits<96>>,
    /// What the descriptor states.
    pub announced: Signal<Out, Announced>,

    count: Signal<Local, Bits<11>>,
    offset: Signal<Local, Bits<13>>,
    reach: Signal<Local, Bits<13>>,
    bytes: Signal<Local, Bits<13>>,
    fields: Signal<Local, Bits<32>>,
    result: Signal<Local, Announced>,
}

impl Logic for DescriptorRead {
    #[hdl_gen]
    fn update(&mut self) {
        self.fields.next = self.descriptor.val().get_bits::<32>(32);
        self.count.next = self.fields.val().get_bits::<11>(0);
        self.offset.next = bit_cast::<13, 2>(self.descriptor.val().get_bits::<2>(0));
        self.reach.next = bit_cast::<13, 11>(self.count.val()) << 2;
        self.bytes.next = self.reach.val() - self.offset.val();
        self.result.next.dwords = self.count.val();
        self.result.next.has_dwords = self.count.val().any();
        self.result.next.bytes = self.bytes.val();
        self.result.next.bytes_less = self.bytes.val() - 4;
        self.result.next.is_small = self.count.val() <= 1;
        self.result.next.clean = (self.descriptor.val().get_bits::<4>(12) == 0)
            & (self.fields.val().get_bits::<4>(11) == 0);
        self.announced.next = self.result.val();
    }
}

/// Checks the fields against the request.
///
/// Timing: combinational.
#[derive(LogicBlock, Default)]
pub struct DescriptorCheck {
    /// RC descriptor.
    pub descriptor: Signal<In, Bits<96>>,
    /// What the descriptor states.
    pub announced: Signal<In, Announced>,
    /// What the request expects.
    pub record: Signal<In, ReadRecord>,
    /// Bytes of the request that have not come before this completion.
    pub remaining: Signal<In, Bits<10>>,

    /// The completion is as expected, judged by its descriptor.
    pub good: Signal<Out, Bit>,
    /// Bytes of the request that have not come after this completion.
    pub remaining_after: Signal<Out, Bits<10>>,

    left: Signal<Local, Bits<13>>,
    less: Signal<Local, Bits<10>>,
    address: Signal<Local, Bits<12>>,
    is_last: Signal<Local, Bit>,
    misses: Signal<Local, Bit>,
    fits: Signal<Local, Bit>,
}

impl Logic for DescriptorCheck {
    #[hdl_gen]
    fn update(&mut self) {
        self.left.next = bit_cast::<13, 10>(self.remaining.val());
        self.address.next = self.record.val().end - bit_cast::<12, 10>(self.remaining.val());

        // Bytes of this completion: up to the end of its last dword, or of the request.
        self.is_last.next = self.announced.val().bytes >= self.left.val();
        self.less.next = self.remaining.val() - bit_cast::<10, 13>(self.announced.val().bytes);
        self.remaining_after.next = self.less.val();
        if self.is_last.val() {
            self.remaining_after.next = 0.into();
        }
        self.fits.next = self.announced.val().has_dwords
            & (self.announced.val().is_small | (self.announced.val().bytes_less < self.left.val()));

        // Then address and count, and no byte missing at the end.
        self.misses.next = self.descriptor.val().get_bit(30) & !self.is_last.val();
        self.good.next = self.announced.val().clean
            & self.fits.val()
            & !self.misses.val()
            & (self.descriptor.val().get_bits::<12>(0) == self.address.val())
            & (self.descriptor.val().get_bits::<13>(16) == self.left.val());
    }
}
