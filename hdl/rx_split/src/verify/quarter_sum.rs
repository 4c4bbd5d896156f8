//! The sum of four 16-bit words.
//!
//! Timing: `sum` is one cycle behind `words`.

use stream::prelude::*;

/// The sum. See the module's head.
#[derive(LogicBlock, Default)]
pub struct QuarterSum {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Word 0.
    pub word_0: Signal<In, Bits<16>>,
    /// Word 1.
    pub word_1: Signal<In, Bits<16>>,
    /// Word 2.
    pub word_2: Signal<In, Bits<16>>,
    /// Word 3.
    pub word_3: Signal<In, Bits<16>>,
    /// Their sum, wide enough for eight of them.
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
