//! Keeps, for every owner, a first slot whose second slot has not come yet.
//!
//! Timing: `joins` is a register, one cycle behind `next_owner` and `next_index`. `first` and
//! `second` come one cycle behind `drop`, and stay until the next: they are of the `next_owner` of
//! which `joins` spoke. `save` and `drop` count in the next cycle.
//!
//! Invariants:
//! 1. `joins` is high only when a slot is kept for `next_owner` and its successor has index
//!    `next_index`. A slot kept before its ring was enabled anew never joins, since the indices
//!    start at 0 again.

use crate::owner::owner_set::OwnerSet;
use stream::prelude::*;

/// The store. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct SlotCarry<const O: usize, const OWNERS: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets every slot.
    pub reset: Signal<In, Bit>,

    /// Owner of the next fetch.
    pub next_owner: Signal<In, Bits<O>>,
    /// Index of its first slot.
    pub next_index: Signal<In, Bits<32>>,
    /// It continues the kept slot.
    pub joins: Signal<Out, Bit>,

    /// Owner.
    pub owner: Signal<In, Bits<O>>,
    /// Index of the slot that came for it.
    pub index: Signal<In, Bits<32>>,
    /// First beat of the slot that `joins` was about when `drop` came last.
    pub first: Signal<Out, Bits<512>>,
    /// Second beat of it.
    pub second: Signal<Out, Bits<512>>,

    /// Keep a slot for `owner`, whose index is `index`.
    pub save: Signal<In, Bit>,
    /// Its first beat.
    pub save_first: Signal<In, Bits<512>>,
    /// Its second beat.
    pub save_second: Signal<In, Bits<512>>,
    /// Keep nothing for `owner`.
    pub drop: Signal<In, Bit>,

    kept: OwnerSet<O, OWNERS>,
    firsts: BlockRam<Bits<512>, O>,
    seconds: BlockRam<Bits<512>, O>,
    successors: LutRam<Bits<32>, O>,
    fits: DFF<Bit>,

    members: Signal<Local, Bits<OWNERS>>,
    successor: Signal<Local, Bits<32>>,
    #[value(1)]
    one: Constant<Bits<32>>,
}

impl<const O: usize, const OWNERS: usize> Logic for SlotCarry<O, OWNERS> {
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
        self.successor.next = self.index.val() + self.one.val();
        self.successors.write_address.next = self.owner.val();
        self.successors.write_data.next = self.successor.val();
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
        self.members.next = self.kept.members.val();
        self.fits.d.next = self.members.val().get_bit(self.next_owner.val().index())
            & (self.successors.read_data.val() == self.next_index.val());
        self.joins.next = self.fits.q.val();
    }
}
