//! A bank of 2^ADDRESS_BITS 64-bit counters with one increment per cycle and a read port.
//!
//! Timing: an increment is visible at `read_value` two cycles later: a register ends the paths of
//! the stages that count. `read_value` is combinational from `read_index`.
//!
//! Invariants:
//! 1. Each pulse adds exactly one to the counter that it names.
//! 2. Counters start at zero and are never reset: readers take differences.

use crate::memory::LutRam;
use crate::pulse::PulseSink;
use block_default::BlockDefault;
use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock};
use rust_hdl_widgets::dff::DFF;
use rust_hdl_widgets::dff_setup;

/// The counters. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct CounterBank<const ADDRESS_BITS: usize> {
    /// Clock of both sides.
    pub clock: Signal<In, Clock>,
    /// Number of the counter to increment.
    pub count: PulseSink<Bits<ADDRESS_BITS>>,
    /// Number of the counter to read.
    pub read_index: Signal<In, Bits<ADDRESS_BITS>>,
    /// Value of the counter at `read_index`.
    pub read_value: Signal<Out, Bits<64>>,

    increment_copy: LutRam<Bits<64>, ADDRESS_BITS>,
    read_copy: LutRam<Bits<64>, ADDRESS_BITS>,

    counts: DFF<Bit>,
    which: DFF<Bits<ADDRESS_BITS>>,

    sum: Signal<Local, Bits<64>>,
    #[value(1)]
    one: Constant<Bits<64>>,
}

impl<const ADDRESS_BITS: usize> Logic for CounterBank<ADDRESS_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, counts, which);
        clock!(self, clock, increment_copy, read_copy);
        self.counts.d.next = self.count.valid.val();
        self.which.d.next = self.count.payload.val();

        self.increment_copy.read_address.next = self.which.q.val();
        self.sum.next = self.increment_copy.read_data.val() + self.one.val();

        self.increment_copy.write_address.next = self.which.q.val();
        self.increment_copy.write_data.next = self.sum.val();
        self.increment_copy.write_enable.next = self.counts.q.val();
        self.read_copy.write_address.next = self.which.q.val();
        self.read_copy.write_data.next = self.sum.val();
        self.read_copy.write_enable.next = self.counts.q.val();

        self.read_copy.read_address.next = self.read_index.val();
        self.read_value.next = self.read_copy.read_data.val();
    }
}
