//! Two bits per owner: enabled, and whether its producer indices were written since then.
//!
//! Timing: outputs are combinational from `owner` and `other`; a write shows in the next cycle.
//!
//! Invariants:
//! 1. Enabling an owner marks its producer indices as unwritten.
//! 2. `reset` disables every owner.
//! 3. An owner that is enabled takes no mark away from another whose indices are written then.

use crate::owner_decode::OwnerWrite;
use stream::prelude::*;

/// The bits of 2^OWNER_BITS owners; OWNERS must be 2^OWNER_BITS. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct OwnerFlags<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: every owner is disabled.
    pub reset: Signal<In, Bit>,

    /// A decoded register write.
    pub write: Signal<In, OwnerWrite>,
    /// Owner that the write addresses.
    pub write_owner: Signal<In, Bits<OWNER_BITS>>,
    /// Producer indices are written.
    pub update: Signal<In, Bit>,
    /// Owner whose producer indices are written.
    pub update_owner: Signal<In, Bits<OWNER_BITS>>,
    /// Owner whose bits are shown.
    pub owner: Signal<In, Bits<OWNER_BITS>>,
    /// `owner` is enabled.
    pub is_enabled: Signal<Out, Bit>,
    /// The producer indices of `owner` were written since it was enabled.
    pub has_produced: Signal<Out, Bit>,
    /// Second owner whose bit is shown.
    pub other: Signal<In, Bits<OWNER_BITS>>,
    /// The producer indices of `other` were written since it was enabled.
    pub other_has_produced: Signal<Out, Bit>,

    enabled: DFF<Bits<OWNERS>>,
    produced: DFF<Bits<OWNERS>>,
    written: Signal<Local, Bits<OWNERS>>,
    unwritten: Signal<Local, Bits<OWNERS>>,
    marked: Signal<Local, Bits<OWNERS>>,
    #[value(1)]
    one: Constant<Bits<OWNERS>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for OwnerFlags<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, enabled, produced);
        self.is_enabled.next = self.enabled.q.val().get_bit(self.owner.val().index());
        self.has_produced.next = self.produced.q.val().get_bit(self.owner.val().index());
        self.other_has_produced.next = self.produced.q.val().get_bit(self.other.val().index());

        self.written.next = self.one.val() << self.write_owner.val();
        self.unwritten.next = !self.written.val();
        self.marked.next = self.produced.q.val();
        if self.update.val() {
            self.marked.next = self.produced.q.val() | (self.one.val() << self.update_owner.val());
        }
        self.produced.d.next = self.marked.val();
        if self.write.val().enable {
            self.enabled.d.next = self.enabled.q.val() & self.unwritten.val();
            if self.write.val().switch {
                self.enabled.d.next = self.enabled.q.val() | self.written.val();
                self.produced.d.next = self.marked.val() & self.unwritten.val();
            }
        }
        if self.reset.val() {
            self.enabled.d.next = 0.into();
        }
    }
}
