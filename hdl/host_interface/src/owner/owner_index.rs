//! A free-running index of every owner, 0 when the owner's context is enabled.
//!
//! ```text
//!  enable word: 0 ─┐
//!  advance ────────┴─► index of each owner ──► value of `owner`
//! ```
//! Timing: `value` is combinational from `owner`; `advance` counts in the next cycle.
//!
//! Invariants:
//! 1. Writing a context's enable word sets the owner's index to 0.
//! 2. `advance` has an effect only while `advance_ready` is high.

use crate::owner::owner_registers::OwnerWrite;
use stream::prelude::*;

/// The indices. See the module's head.
#[derive(LogicBlock, Default)]
pub struct OwnerIndex<const OWNER_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Register writes that concern an owner.
    pub changed: PulseSink<OwnerWrite>,

    /// Owner whose index is requested.
    pub owner: Signal<In, Bits<OWNER_BITS>>,
    /// Index of `owner`.
    pub value: Signal<Out, Bits<32>>,
    /// Set the index of `owner`.
    pub advance: Signal<In, Bit>,
    /// New index.
    pub advance_to: Signal<In, Bits<32>>,
    /// The index can be set in this cycle.
    pub advance_ready: Signal<Out, Bit>,

    indices: LutRam<Bits<32>, OWNER_BITS>,
    enables: Signal<Local, Bit>,
}

impl<const OWNER_BITS: usize> Logic for OwnerIndex<OWNER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, indices);
        self.enables.next = self.changed.valid.val() & self.changed.payload.val().enable;
        self.advance_ready.next = !self.enables.val();
        self.indices.write_address.next = self.owner.val();
        self.indices.write_data.next = self.advance_to.val();
        self.indices.write_enable.next = self.enables.val() | self.advance.val();
        if self.enables.val() {
            self.indices.write_address.next =
                bit_cast::<OWNER_BITS, 8>(self.changed.payload.val().owner);
            self.indices.write_data.next = 0.into();
        }
        self.indices.read_address.next = self.owner.val();
        self.value.next = self.indices.read_data.val();
    }
}
