//! The sum of four 16-bit words.
//!
//! Timing: latency one cycle; one sum per cycle.

use stream::prelude::*;

/// The sum. See the module's head.
#[derive(LogicBlock, Default)]
pub struct QuarterSum {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,
    /// Word 0 of four.
    pub word_0: Signal<In, Bits<16>>,
    /// Word 1 of four.
    pub word_1: Signal<In, Bits<16>>,
    /// Word 2 of four.
    pub word_2: Signal<In, Bits<16>>,
    /// Word 3 of four.
    pub word_3: Signal<In, Bits<16>>,
    /// Sum of the four words one cycle later, wide enough for eight words.
    pub sum: Signal<Out, Bits<21>>,

    held: DFF<Bits<21>>,
}

impl Logic for QuarterSum {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        self.held.d.next = bit_cast::<21, 16>(self.word_0.val())
            + bit_cast::<21, 16>(self.word_1.val())
            + bit_cast::<21, 16>(self.word_2.val())
            + bit_cast::<21, 16>(self.word_3.val());
        self.sum.next = self.held.q.val();
    }
}
