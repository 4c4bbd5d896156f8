//! Folds a 32-bit ones' complement sum to 16 bits and decides whether the checksum in it is right:
//! carries are added back until none is left, and a right sum is all ones.
//!
//! Timing: latency four cycles; one sum per cycle.
//!
//! Source: RFC 1071.

use stream::prelude::*;

/// The fold. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ChecksumFold {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,
    /// Sum of 16-bit words, below 2^30.
    pub sum: Signal<In, Bits<32>>,
    /// Second summand, below 2^30: the sum of the pseudo header, or 0.
    pub extra: Signal<In, Bits<32>>,
    /// The folded sum is 0xffff, four cycles after `sum` and `extra`.
    pub good: Signal<Out, Bit>,

    total: DFF<Bits<32>>,
    once: DFF<Bits<17>>,
    twice: DFF<Bits<16>>,
    result: DFF<Bit>,
}

impl Logic for ChecksumFold {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, total, once, twice, result);
        self.total.d.next = self.sum.val() + self.extra.val();
        self.once.d.next = bit_cast::<17, 16>(self.total.q.val().get_bits::<16>(0))
            + bit_cast::<17, 16>(self.total.q.val().get_bits::<16>(16));
        self.twice.d.next = self.once.q.val().get_bits::<16>(0)
            + bit_cast::<16, 1>(self.once.q.val().get_bits::<1>(16));
        self.result.d.next = self.twice.q.val() == 0xffff;
        self.good.next = self.result.q.val();
    }
}
