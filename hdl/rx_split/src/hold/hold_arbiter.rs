//! Chooses which queue of held items is served next, and pops the one that was served last.
//!
//! Timing: combinational, round robin: the first ready input after the one served last is granted.
//!
//! Invariants:
//! 1. No input is granted twice while another one is ready.

use crate::hold::messages::{HeldHead, HeldItem};
use stream::prelude::*;

/// The arbiter. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct HoldArbiter {
    /// The oldest fence.
    pub fence: Signal<In, HeldHead>,
    /// The oldest item of queue 1.
    pub queue_1: Signal<In, HeldHead>,
    /// The oldest item of queue 2.
    pub queue_2: Signal<In, HeldHead>,
    /// The oldest item of queue 3.
    pub queue_3: Signal<In, HeldHead>,
    /// Input that was granted last: 0 is the fences, 1 to 3 are the queues.
    pub served: Signal<In, Bits<2>>,
    /// Input that is granted.
    pub source: Signal<Out, Bits<2>>,
    /// Oldest item of the input granted; `ready` if there is one.
    pub head: Signal<Out, HeldHead>,

    /// The item at `head` is a confirmation.
    pub confirms: Signal<Out, Bit>,
    /// The item of the input `served` is taken.
    pub taken: Signal<In, Bit>,
    /// The queue `served` pops its oldest item, one bit each.
    pub pop: Signal<Out, Bits<4>>,
    /// The fences pop their oldest.
    pub pop_fence: Signal<Out, Bit>,

    right: Signal<Local, Bits<4>>,
    left: Signal<Local, Bits<4>>,
    around: Signal<Local, Bits<4>>,
    waiting: Signal<Local, Bits<4>>,
    step: Signal<Local, Bits<2>>,
    chosen: Signal<Local, Bits<2>>,
    oldest: Signal<Local, HeldHead>,
    item: Signal<Local, HeldItem>,
    served_bit: Signal<Local, Bits<4>>,
    #[value(4)]
    inputs: Constant<Bits<4>>,
    #[value(0xe)]
    queue_bits: Constant<Bits<4>>,
    #[value(1)]
    one: Constant<Bits<4>>,
}

impl Logic for HoldArbiter {
    #[hdl_gen]
    fn update(&mut self) {
        self.waiting.next = bit_cast::<4, 1>(self.fence.val().ready.into())
            | (bit_cast::<4, 1>(self.queue_1.val().ready.into()) << 1)
            | (bit_cast::<4, 1>(self.queue_2.val().ready.into()) << 2)
            | (bit_cast::<4, 1>(self.queue_3.val().ready.into()) << 3);
        // `around` begins after the one served last.
        self.right.next = bit_cast::<4, 2>(self.served.val()) + 1;
        self.left.next = self.inputs.val() - self.right.val();
        self.around.next =
            (self.waiting.val() >> self.right.val()) | (self.waiting.val() << self.left.val());
        self.step.next = 0.into();
        if self.around.val().get_bit(2) {
            self.step.next = bits::<2>(3);
        }
        if self.around.val().get_bit(1) {
            self.step.next = bits::<2>(2);
        }
        if self.around.val().get_bit(0) {
            self.step.next = bits::<2>(1);
        }
        self.chosen.next = self.served.val() + self.step.val();
        self.oldest.next = self.fence.val();
        if self.chosen.val() == 1 {
            self.oldest.next = self.queue_1.val();
        }
        if self.chosen.val() == 2 {
            self.oldest.next = self.queue_2.val();
        }
        if self.chosen.val() == 3 {
            self.oldest.next = self.queue_3.val();
        }
        self.source.next = self.chosen.val();
        self.head.next = self.oldest.val();
        self.item.next = self.oldest.val().item;
        self.confirms.next = self.item.val().confirms;

        self.served_bit.next = self.one.val() << self.served.val();
        self.pop.next = 0.into();
        self.pop_fence.next = false;
        if self.taken.val() {
            self.pop.next = self.served_bit.val() & self.queue_bits.val();
            self.pop_fence.next = self.served_bit.val().get_bit(0);
        }
    }
}
