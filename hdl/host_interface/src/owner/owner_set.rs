//! A set of owners: one bit each.
//!
//! Timing: `members` is a register; a change counts in the next cycle.
//!
//! Invariants:
//! 1. An owner that is added and removed in the same cycle is a member afterwards.
//! 2. `reset` empties the set.

use stream::prelude::*;

/// The set. `OWNERS` must be 2^`OWNER_BITS`. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[require(OWNERS == 1 << OWNER_BITS, "OWNERS must be 2^OWNER_BITS")]
pub struct OwnerSet<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Empties the set.
    pub reset: Signal<In, Bit>,

    /// Add `add_owner`.
    pub add: Signal<In, Bit>,
    /// Owner to add.
    pub add_owner: Signal<In, Bits<OWNER_BITS>>,
    /// Remove `remove_owner`.
    pub remove: Signal<In, Bit>,
    /// Owner to remove.
    pub remove_owner: Signal<In, Bits<OWNER_BITS>>,

    /// Members of the set; bit n is owner n.
    pub members: Signal<Out, Bits<OWNERS>>,

    held: DFF<Bits<OWNERS>>,

    added: Signal<Local, Bits<OWNERS>>,
    removed: Signal<Local, Bits<OWNERS>>,
    #[value(1)]
    one: Constant<Bits<OWNERS>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for OwnerSet<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        self.added.next = 0.into();
        if self.add.val() {
            self.added.next = self.one.val() << self.add_owner.val();
        }
        self.removed.next = 0.into();
        if self.remove.val() {
            self.removed.next = self.one.val() << self.remove_owner.val();
        }
        self.held.d.next = (self.held.q.val() & !self.removed.val()) | self.added.val();
        if self.reset.val() {
            self.held.d.next = 0.into();
        }
        self.members.next = self.held.q.val();
    }
}
