//! Keeps, for every owner, the first slot of a descriptor whose second slot has not been fetched
//! yet.
//!
//! ```text
//!  save ──► one slot and the index of its successor for each owner
//!  next_owner, next_index ──► is it the successor? ──► joins; first, second
//! ```
//! Timing: `joins` is a register, one cycle after `next_owner` and `next_index`. `first` and
//! `second` come one cycle after `drop` and stay until the next one: they are the slot of the
//! `next_owner` that `joins` was about. `save` and `drop` count in the next cycle.
//!
//! Invariants:
//! 1. `joins` is high only when a slot is kept for `next_owner` and its successor has index
//!    `next_index`. A slot that was kept before its ring was enabled again never joins, because the
//!    indices start at 0 again.

use crate::owner::owner_set::OwnerSet;
use stream::prelude::*;

/// The kept slots. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct FirstSlots<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets every slot.
    pub reset: Signal<In, Bit>,

    /// Owner of the fetch that comes next.
    pub next_owner: Signal<In, Bits<OWNER_BITS>>,
    /// Index of the first slot of the fetch that comes next.
    pub next_index: Signal<In, Bits<32>>,
    /// The fetch of `next_owner` begins with the successor of the slot kept for this owner.
    pub joins: Signal<Out, Bit>,

    /// Owner that `save` and `drop` are about.
    pub owner: Signal<In, Bits<OWNER_BITS>>,
    /// Index of the slot to keep with `save`.
    pub index: Signal<In, Bits<32>>,
    /// First beat of the slot that `joins` was about when `drop` came last.
    pub first: Signal<Out, Bits<512>>,
    /// Second beat of the slot that `joins` was about when `drop` came last.
    pub second: Signal<Out, Bits<512>>,

    /// Keep a slot for `owner`.
    pub save: Signal<In, Bit>,
    /// First beat of the slot to keep.
    pub save_first: Signal<In, Bits<512>>,
    /// Second beat of the slot to keep.
    pub save_second: Signal<In, Bits<512>>,
    /// Keep nothing for `owner`.
    pub drop: Signal<In, Bit>,

    kept: OwnerSet<OWNER_BITS, OWNERS>,
    firsts: BlockRam<Bits<512>, OWNER_BITS>,
    seconds: BlockRam<Bits<512>, OWNER_BITS>,
    successors: LutRam<Bits<32>, OWNER_BITS>,
    fits: DFF<Bit>,

    #[value(1)]
    one: Constant<Bits<32>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for FirstSlots<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, fits);
        clock!(self, clock, kept, firsts, seconds, successors);
        self.kept.reset.next = self.reset.val();

        self.kept.add.next = self.save.val();
        self.kept.add_owner.next = self.owner.val();
        self.kept.remove.next = self.drop.val();
        self.kept.remove_owner.next = self.owner.val();
        self.firsts.write_address.next = self.owner.val();
        self.firsts.write_data.next = self.save_first.val();
        self.firsts.write_enable.next = self.save.val();
        self.seconds.write_address.next = self.owner.val();
        self.seconds.write_data.next = self.save_second.val();
        self.seconds.write_enable.next = self.save.val();
        self.successors.write_address.next = self.owner.val();
        self.successors.write_data.next = self.index.val() + self.one.val();
        self.successors.write_enable.next = self.save.val();

        self.firsts.read_address.next = self.next_owner.val();
        self.firsts.read_enable.next = true;
        self.firsts.register_enable.next = self.drop.val();
        self.first.next = self.firsts.read_data.val();
        self.seconds.read_address.next = self.next_owner.val();
        self.seconds.read_enable.next = true;
        self.seconds.register_enable.next = self.drop.val();
        self.second.next = self.seconds.read_data.val();
        self.successors.read_address.next = self.next_owner.val();
        self.fits.d.next = self.kept.members.val().get_bit(self.next_owner.val().index())
            & (self.successors.read_data.val() == self.next_index.val());
        self.joins.next = self.fits.q.val();
    }
}
