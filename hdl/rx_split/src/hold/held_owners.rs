//! Whether something of an owner is held, and in which queue.
//!
//! ```text
//!  next_owner ─► bit of the owner ──┬─► [holds, queue, is_0] of the job of the next cycle
//!  owner, wants: to be held ────────┘
//!  push, pop ─► counts of the owner ─► bit set, bit cleared
//! ```
//! Timing: `holds`, `queue` and `is_0` are registers: they belong to the `next_owner` of the cycle
//! before. What is pushed, or waits to be, shows at once; what is popped two cycles later.
//!
//! Invariants:
//! 1. Everything held of an owner is in one queue: so its entries stay in order.
//! 2. While nothing of an owner is held, it has popped as much as was pushed; the counts need no
//!    reset.
//! 3. Fewer than 2^8 items of an owner are held.

use stream::prelude::*;

/// What is known of the next job's owner before it is known whether the present job is to be held.
#[derive(LogicBlock, Default)]
pub struct FollowingOwner<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Owner of the job at hand.
    pub owner: Signal<In, Bits<OWNER_BITS>>,
    /// Owner of the job of the next cycle.
    pub next_owner: Signal<In, Bits<OWNER_BITS>>,
    /// Owners of whom something is held; bit n is owner n.
    pub holding: Signal<In, Bits<OWNERS>>,
    /// Both owners are the same.
    pub same: Signal<Out, Bit>,
    /// Something of `next_owner` is held.
    pub holds: Signal<Out, Bit>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for FollowingOwner<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        self.same.next = self.owner.val() == self.next_owner.val();
        self.holds.next = self.holding.val().get_bit(self.next_owner.val().index());
    }
}

/// The owners, 2^OWNER_BITS of them; OWNERS must be 2^OWNER_BITS. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct HeldOwners<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: nothing of any owner is held.
    pub reset: Signal<In, Bit>,

    /// Owner of the job of the next cycle.
    pub next_owner: Signal<In, Bits<8>>,
    /// Something is held of the owner that `next_owner` named a cycle before.
    pub holds: Signal<Out, Bit>,
    /// With `holds`: the queue in which it is held.
    pub queue: Signal<Out, Bits<2>>,
    /// The owner that `next_owner` named a cycle before is owner 0.
    pub is_0: Signal<Out, Bit>,
    /// Owner of the job at hand.
    pub owner: Signal<In, Bits<8>>,
    /// The job at hand is to be held in `push_queue`.
    pub wants: Signal<In, Bit>,
    /// Queue in which the job at hand is to be held.
    pub push_queue: Signal<In, Bits<2>>,
    /// The item of the job at hand is pushed.
    pub push: Signal<In, Bit>,
    /// An item is popped.
    pub pop: Signal<In, Bit>,
    /// Owner of the item that is popped.
    pub pop_owner: Signal<In, Bits<8>>,

    /// Items pushed: one copy for the next push, one for pops.
    pushed: [LutRam<Bits<8>, OWNER_BITS>; 2],
    /// Items popped: one copy for the next push, one for pops.
    popped: [LutRam<Bits<8>, OWNER_BITS>; 2],
    queues: LutRam<Bits<2>, OWNER_BITS>,
    holding: DFF<Bits<OWNERS>>,
    following: FollowingOwner<OWNER_BITS, OWNERS>,
    next_holds: DFF<Bit>,
    next_queue: DFF<Bits<2>>,
    next_is_0: DFF<Bit>,

    at: Signal<Local, Bits<OWNER_BITS>>,
    next_at: Signal<Local, Bits<OWNER_BITS>>,
    pop_at: Signal<Local, Bits<OWNER_BITS>>,
    pushed_before: Signal<Local, Bits<8>>,
    pushed_after: Signal<Local, Bits<8>>,
    popped_after: Signal<Local, Bits<8>>,
    stays: Signal<Local, Bit>,
    push_mask: Signal<Local, Bits<OWNERS>>,
    pop_mask: Signal<Local, Bits<OWNERS>>,
    #[value(1)]
    one: Constant<Bits<OWNERS>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for HeldOwners<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, holding, next_holds, next_queue, next_is_0);
        clock!(self, clock, queues);
        self.at.next = bit_cast::<OWNER_BITS, 8>(self.owner.val());
        self.next_at.next = bit_cast::<OWNER_BITS, 8>(self.next_owner.val());
        self.pop_at.next = bit_cast::<OWNER_BITS, 8>(self.pop_owner.val());
        self.pushed[0].read_address.next = self.at.val();
        self.pushed[1].read_address.next = self.pop_at.val();
        self.popped[0].read_address.next = self.at.val();
        self.popped[1].read_address.next = self.pop_at.val();

        // The first item of an owner begins where its pops ended.
        self.pushed_before.next = self.popped[0].read_data.val();
        if self.holding.q.val().get_bit(self.at.val().index()) {
            self.pushed_before.next = self.pushed[0].read_data.val();
        }
        self.pushed_after.next = self.pushed_before.val() + 1;
        self.popped_after.next = self.popped[1].read_data.val() + 1;
        for i in 0..2 {
            self.pushed[i].clock.next = self.clock.val();
            self.pushed[i].write_address.next = self.at.val();
            self.pushed[i].write_data.next = self.pushed_after.val();
            self.pushed[i].write_enable.next = self.push.val();
            self.popped[i].clock.next = self.clock.val();
            self.popped[i].write_address.next = self.pop_at.val();
            self.popped[i].write_data.next = self.popped_after.val();
            self.popped[i].write_enable.next = self.pop.val();
        }
        self.queues.write_address.next = self.at.val();
        self.queues.write_data.next = self.push_queue.val();
        self.queues.write_enable.next = self.push.val();
        self.queues.read_address.next = self.next_at.val();

        self.push_mask.next = 0.into();
        if self.push.val() {
            self.push_mask.next = self.one.val() << self.at.val();
        }
        self.pop_mask.next = 0.into();
        if self.pop.val() & (self.popped_after.val() == self.pushed[1].read_data.val()) {
            self.pop_mask.next = self.one.val() << self.pop_at.val();
        }
        self.holding.d.next = (self.holding.q.val() & !self.pop_mask.val()) | self.push_mask.val();

        // What waits to be pushed counts as held: what follows it goes to the same queue.
        self.following.owner.next = self.at.val();
        self.following.next_owner.next = self.next_at.val();
        self.following.holding.next = self.holding.q.val();
        self.stays.next = self.wants.val() & self.following.same.val();
        self.next_holds.d.next = self.stays.val() | self.following.holds.val();
        self.next_queue.d.next = self.queues.read_data.val();
        if self.stays.val() {
            self.next_queue.d.next = self.push_queue.val();
        }
        self.next_is_0.d.next = self.next_owner.val() == 0;
        self.holds.next = self.next_holds.q.val();
        self.queue.next = self.next_queue.q.val();
        self.is_0.next = self.next_is_0.q.val();
        if self.reset.val() {
            self.holding.d.next = 0.into();
            self.next_holds.d.next = false;
        }
    }
}
