//! An owner's context put together from what is kept of it.
//!
//! Timing: combinational.

use crate::owners::OwnerContext;
use stream::prelude::*;

/// The context. See the module's head.
#[derive(LogicBlock, Default)]
pub struct OwnerView {
    /// Header queue, low word.
    pub word_0: Signal<In, Bits<32>>,
    /// Header queue, high word.
    pub word_1: Signal<In, Bits<32>>,
    /// Slow buffers, low word.
    pub word_2: Signal<In, Bits<32>>,
    /// Slow buffers, high word.
    pub word_3: Signal<In, Bits<32>>,
    /// Sizes.
    pub word_4: Signal<In, Bits<32>>,
    /// The owner is enabled.
    pub enabled: Signal<In, Bit>,
    /// Header slots consumed, if `has_returned_header`.
    pub header_consumer: Signal<In, Bits<32>>,
    /// Slow buffers given back, if `has_returned_slow`.
    pub slow_consumer: Signal<In, Bits<32>>,
    /// Header slots produced, if `has_produced`.
    pub header_producer: Signal<In, Bits<32>>,
    /// Slow buffers handed out, if `has_produced`.
    pub slow_producer: Signal<In, Bits<32>>,
    /// The producer indices were written.
    pub has_produced: Signal<In, Bit>,
    /// The header queue's consumer index was written.
    pub has_returned_header: Signal<In, Bit>,
    /// The slow buffers' consumer index was written.
    pub has_returned_slow: Signal<In, Bit>,
    /// The context.
    pub shown: Signal<Out, OwnerContext>,

    header_base: Signal<Local, Bits<64>>,
    slow_base: Signal<Local, Bits<64>>,
    sizes: Signal<Local, Bits<32>>,
}

impl Logic for OwnerView {
    #[hdl_gen]
    fn update(&mut self) {
        self.header_base.next =
            bit_cast::<64, 32>(self.word_0.val()) | (bit_cast::<64, 32>(self.word_1.val()) << 32);
        self.slow_base.next =
            bit_cast::<64, 32>(self.word_2.val()) | (bit_cast::<64, 32>(self.word_3.val()) << 32);
        self.sizes.next = self.word_4.val();
        self.shown.next.enabled = self.enabled.val();
        self.shown.next.header_base = self.header_base.val();
        self.shown.next.slow_base = self.slow_base.val();
        self.shown.next.header_bits = self.sizes.val().get_bits::<4>(16);
        self.shown.next.slow_bits = self.sizes.val().get_bits::<4>(24);
        self.shown.next.header_producer = bits::<32>(0);
        self.shown.next.slow_producer = bits::<32>(0);
        self.shown.next.header_consumer = bits::<32>(0);
        self.shown.next.slow_consumer = bits::<32>(0);
        if self.has_produced.val() {
            self.shown.next.header_producer = self.header_producer.val();
            self.shown.next.slow_producer = self.slow_producer.val();
        }
        if self.has_returned_header.val() {
            self.shown.next.header_consumer = self.header_consumer.val();
        }
        if self.has_returned_slow.val() {
            self.shown.next.slow_consumer = self.slow_consumer.val();
        }
    }
}
