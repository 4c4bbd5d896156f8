//! The sum of four 16-bit words.
//!
//! Timing: `sum` is one cycle behind `words`.

use stream::prelude::*;

/// The sum. See the module's head.
#[derive(LogicBlock, Default)]
pub struct QuarterSum {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The words.
    pub words: [Signal<In, Bits<16>>; 4],
    /// Their sum, wide enough for eight of them.
    pub sum: Signal<Out, Bits<21>>,

    held: DFF<Bits<21>>,
}

impl Logic for QuarterSum {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        self.held.d.next = bit_cast::<21, 16>(self.words[0].val())
            + bit_cast::<21, 16>(self.words[1].val())
            + bit_cast::<21, 16>(self.words[2].val())
            + bit_cast::<21, 16>(self.words[3].val());
        self.sum.next = self.held.q.val();
    }
}
