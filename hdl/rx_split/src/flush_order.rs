//! Which memory is flushed next.
//!
//! Timing: combinational; the lowest first.

use stream::prelude::*;

/// The choice. See the module's head.
#[derive(LogicBlock, Default)]
pub struct FlushOrder {
    /// Memories to flush, one bit each; bit 0 is never set.
    pub pending: Signal<In, Bits<4>>,
    /// The next one.
    pub memory: Signal<Out, Bits<2>>,
    /// Those left behind it.
    pub rest: Signal<Out, Bits<4>>,

    chosen: Signal<Local, Bits<4>>,
    others: Signal<Local, Bits<4>>,
}

impl Logic for FlushOrder {
    #[hdl_gen]
    fn update(&mut self) {
        self.memory.next = bits::<2>(3);
        self.chosen.next = bits::<4>(8);
        if self.pending.val().get_bit(2) {
            self.memory.next = bits::<2>(2);
            self.chosen.next = bits::<4>(4);
        }
        if self.pending.val().get_bit(1) {
            self.memory.next = bits::<2>(1);
            self.chosen.next = bits::<4>(2);
        }
        self.others.next = !self.chosen.val();
        self.rest.next = self.pending.val() & self.others.val();
    }
}
