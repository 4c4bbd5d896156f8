//! A running index of every owner, 0 when the owner's context is enabled.
//!
//! Timing: `value` is combinational from `owner`; `advance` counts in the next cycle.
//!
//! Invariants:
//! 1. Writing a context's enable word sets the owner's index to 0.
//! 2. `advance` has an effect only while `advance_ready` is high.

use crate::owner::owner_registers::OwnerWrite;
use stream::prelude::*;

/// The indices. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct OwnerIndex<const O: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Register writes of owners.
    pub changed: PulseSink<OwnerWrite>,

    /// Owner asked for.
    pub owner: Signal<In, Bits<O>>,
    /// Its index.
    pub value: Signal<Out, Bits<32>>,
    /// Set its index.
    pub advance: Signal<In, Bit>,
    /// To this.
    pub advance_to: Signal<In, Bits<32>>,
    /// The index can be set in this cycle.
    pub advance_ready: Signal<Out, Bit>,

    indices: LutRam<Bits<32>, O>,
    enables: Signal<Local, Bit>,
    #[value(0)]
    zero: Constant<Bits<32>>,
}

impl<const O: usize> Logic for OwnerIndex<O> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, indices);
        self.enables.next = self.changed.valid.val() & self.changed.payload.val().enable;
        self.advance_ready.next = !self.enables.val();
        self.indices.write_address.next = self.owner.val();
        self.indices.write_data.next = self.advance_to.val();
        self.indices.write_enable.next = self.enables.val() | self.advance.val();
        if self.enables.val() {
            self.indices.write_address.next = bit_cast::<O, 8>(self.changed.payload.val().owner);
            self.indices.write_data.next = self.zero.val();
        }
        self.indices.read_address.next = self.owner.val();
        self.value.next = self.indices.read_data.val();
    }
}
