//! A set of owners: one bit each.
//!
//! Timing: `members` is a register; a change counts in the next cycle.
//!
//! Invariants:
//! 1. An owner that is added and removed in the same cycle is a member afterwards.
//! 2. `reset` empties the set.

use stream::prelude::*;

/// The set. OWNERS must be 2^O. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[require(OWNERS == 1 << O, "OWNERS must be 2^O")]
pub struct OwnerSet<const O: usize, const OWNERS: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Empties the set.
    pub reset: Signal<In, Bit>,

    /// Add an owner.
    pub add: Signal<In, Bit>,
    /// Which.
    pub add_owner: Signal<In, Bits<O>>,
    /// Remove an owner.
    pub remove: Signal<In, Bit>,
    /// Which.
    pub remove_owner: Signal<In, Bits<O>>,

    /// The set; bit n is owner n.
    pub members: Signal<Out, Bits<OWNERS>>,

    held: DFF<Bits<OWNERS>>,

    added: Signal<Local, Bits<OWNERS>>,
    removed: Signal<Local, Bits<OWNERS>>,
    kept: Signal<Local, Bits<OWNERS>>,
    #[value(1)]
    one: Constant<Bits<OWNERS>>,
    #[value(0)]
    none: Constant<Bits<OWNERS>>,
}

impl<const O: usize, const OWNERS: usize> Logic for OwnerSet<O, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        self.added.next = self.none.val();
        if self.add.val() {
            self.added.next = self.one.val() << self.add_owner.val();
        }
        self.removed.next = self.none.val();
        if self.remove.val() {
            self.removed.next = self.one.val() << self.remove_owner.val();
        }
        self.kept.next = !self.removed.val();
        self.held.d.next = (self.held.q.val() & self.kept.val()) | self.added.val();
        if self.reset.val() {
            self.held.d.next = self.none.val();
        }
        self.members.next = self.held.q.val();
    }
}
