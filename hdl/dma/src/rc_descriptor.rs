//! Judges the descriptor of a completion against what its request may still expect.
//!
//! ```text
//!   descriptor, record, received ──► good, received_after, dwords
//! ```
//! Timing: combinational.
//!
//! Invariants:
//! 1. `good` holds when status and error code are good, lower address and byte count continue where
//!    the completion before ended, and the announced dwords do not exceed what remains.
//!
//! Source: PG213, requester completion descriptor.

use crate::read_issue::ReadRecord;
use stream::prelude::*;

/// Judges a descriptor.
#[derive(LogicBlock, Default)]
pub struct DescriptorCheck {
    /// RC descriptor.
    pub descriptor: Signal<In, Bits<96>>,
    /// The request.
    pub record: Signal<In, ReadRecord>,
    /// Bytes of it that have come.
    pub received: Signal<In, Bits<10>>,

    /// As expected.
    pub good: Signal<Out, Bit>,
    /// Bytes that have come with this completion.
    pub received_after: Signal<Out, Bits<10>>,
    /// Payload dwords announced.
    pub dwords: Signal<Out, Bits<11>>,

    remaining: Signal<Local, Bits<10>>,
    address: Signal<Local, Bits<12>>,
    count: Signal<Local, Bits<11>>,
    offset: Signal<Local, Bits<2>>,
    reach: Signal<Local, Bits<13>>,
    bytes: Signal<Local, Bits<13>>,
    remaining_up: Signal<Local, Bits<13>>,
    is_last: Signal<Local, Bit>,
    taken: Signal<Local, Bits<10>>,
    after: Signal<Local, Bits<10>>,
    misses: Signal<Local, Bit>,
    fits: Signal<Local, Bit>,
    clean: Signal<Local, Bit>,
    fields: Signal<Local, Bits<32>>,
}

impl Logic for DescriptorCheck {
    #[hdl_gen]
    fn update(&mut self) {
        self.remaining.next = self.record.val().bytes - self.received.val();
        self.address.next = self.record.val().address + bit_cast::<12, 10>(self.received.val());
        self.fields.next = self.descriptor.val().get_bits::<32>(32);
        self.count.next = self.fields.val().get_bits::<11>(0);
        self.dwords.next = self.count.val();

        // Bytes of this completion: up to the end of its last dword, or of the request.
        self.offset.next = self.descriptor.val().get_bits::<2>(0);
        self.reach.next = bit_cast::<13, 11>(self.count.val()) << 2;
        self.bytes.next = self.reach.val() - bit_cast::<13, 2>(self.offset.val());
        self.is_last.next = self.bytes.val() >= bit_cast::<13, 10>(self.remaining.val());
        self.taken.next = bit_cast::<10, 13>(self.bytes.val());
        if self.is_last.val() {
            self.taken.next = self.remaining.val();
        }
        self.after.next = self.received.val() + self.taken.val();
        self.received_after.next = self.after.val();
        self.remaining_up.next = bit_cast::<13, 10>(self.remaining.val()) + 4;
        self.fits.next = self.count.val().any() & (self.bytes.val() < self.remaining_up.val());

        // Error code, status, poisoned; then address and count; then no byte missing at the end.
        self.clean.next = (self.descriptor.val().get_bits::<4>(12) == 0)
            & (self.fields.val().get_bits::<4>(11) == 0);
        self.misses.next =
            self.descriptor.val().get_bit(30) & (self.after.val() != self.record.val().bytes);
        self.good.next = self.clean.val()
            & self.fits.val()
            & !self.misses.val()
            & (self.descriptor.val().get_bits::<12>(0) == self.address.val())
            & (self.descriptor.val().get_bits::<13>(16)
                == bit_cast::<13, 10>(self.remaining.val()));
    }
}
