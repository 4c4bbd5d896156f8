//! Two bits an owner: enabled, and whether its producer indices were written since.
//!
//! Timing: outputs are combinational from `owner` and `other`; a write shows in the next cycle.
//!
//! Invariants:
//! 1. Enabling an owner marks its producer indices as unwritten.
//! 2. `reset` disables every owner.
//!
//! N must be 2^B.

use crate::admit::owner_decode::OwnerWrite;
use stream::prelude::*;

/// The bits. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct OwnerFlags<const B: usize, const N: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// A register write.
    pub write: Signal<In, OwnerWrite>,
    /// Whose context it means.
    pub write_owner: Signal<In, Bits<B>>,
    /// Producer indices were written.
    pub update: Signal<In, Bit>,
    /// Whose.
    pub update_owner: Signal<In, Bits<B>>,
    /// Whose bits to show.
    pub owner: Signal<In, Bits<B>>,
    /// It is enabled.
    pub is_enabled: Signal<Out, Bit>,
    /// Its producer indices were written.
    pub has_produced: Signal<Out, Bit>,
    /// Another owner.
    pub other: Signal<In, Bits<B>>,
    /// That one's producer indices were written.
    pub other_has_produced: Signal<Out, Bit>,

    enabled: DFF<Bits<N>>,
    produced: DFF<Bits<N>>,
    written: Signal<Local, Bits<N>>,
    unwritten: Signal<Local, Bits<N>>,
    updated: Signal<Local, Bits<N>>,
    #[value(1)]
    one: Constant<Bits<N>>,
    #[value(0)]
    zero: Constant<Bits<N>>,
}

impl<const B: usize, const N: usize> Logic for OwnerFlags<B, N> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, enabled, produced);
        self.is_enabled.next = self.enabled.q.val().get_bit(self.owner.val().index());
        self.has_produced.next = self.produced.q.val().get_bit(self.owner.val().index());
        self.other_has_produced.next = self.produced.q.val().get_bit(self.other.val().index());

        self.written.next = self.one.val() << self.write_owner.val();
        self.unwritten.next = !self.written.val();
        self.updated.next = self.one.val() << self.update_owner.val();
        if self.update.val() {
            self.produced.d.next = self.produced.q.val() | self.updated.val();
        }
        if self.write.val().enable {
            self.enabled.d.next = self.enabled.q.val() & self.unwritten.val();
            if self.write.val().switch {
                self.enabled.d.next = self.enabled.q.val() | self.written.val();
                self.produced.d.next = self.produced.q.val() & self.unwritten.val();
            }
        }
        if self.reset.val() {
            self.enabled.d.next = self.zero.val();
        }
    }
}
