//! Whether something of an owner is held, and in which queue.
//!
//! ```text
//!  next_owner ─► bit of the owner ──┬─► [holds, queue, is_0] of the job of the next cycle
//!  owner, wants: to be held ────────┘
//!  push, pop ─► counts of the owner ─► bit set, bit cleared
//! ```
//! Timing: `holds`, `queue` and `is_0` are registers: they are of what `next_owner` was a cycle
//! before. What is pushed, or waits to be, shows at once; what is popped two cycles later.
//!
//! Invariants:
//! 1. All that is held of an owner is in one queue: so its entries stay in order.
//! 2. An owner of whom nothing is held has popped as much as was pushed; the counts need no reset.
//!
//! N must be 2^B. An owner holds fewer than 2^8 items.

use stream::prelude::*;

/// What is known of the next job's owner before it is known whether this job is to be held.
#[derive(LogicBlock, Default)]
pub struct OwnerBehind<const B: usize, const N: usize> {
    /// Owner of the job at hand.
    pub owner: Signal<In, Bits<B>>,
    /// Owner of the job of the next cycle.
    pub next_owner: Signal<In, Bits<B>>,
    /// Owners of whom something is held; bit n is owner n.
    pub holding: Signal<In, Bits<N>>,
    /// It is the same owner.
    pub same: Signal<Out, Bit>,
    /// Something of the next one is held.
    pub holds: Signal<Out, Bit>,
}

impl<const B: usize, const N: usize> Logic for OwnerBehind<B, N> {
    #[hdl_gen]
    fn update(&mut self) {
        self.same.next = self.owner.val() == self.next_owner.val();
        self.holds.next = self.holding.val().get_bit(self.next_owner.val().index());
    }
}

/// The owners. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct HeldOwners<const B: usize, const N: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Owner of the job of the next cycle.
    pub next_owner: Signal<In, Bits<8>>,
    /// In that cycle: something of it is held.
    pub holds: Signal<Out, Bit>,
    /// With `holds`: the queue.
    pub queue: Signal<Out, Bits<2>>,
    /// It is owner 0.
    pub is_0: Signal<Out, Bit>,
    /// Owner of the job at hand.
    pub owner: Signal<In, Bits<8>>,
    /// The job is to be held in a queue.
    pub wants: Signal<In, Bit>,
    /// In this queue.
    pub push_queue: Signal<In, Bits<2>>,
    /// Its item is pushed.
    pub push: Signal<In, Bit>,
    /// An item is popped.
    pub pop: Signal<In, Bit>,
    /// Its owner.
    pub pop_owner: Signal<In, Bits<8>>,

    /// Items pushed: for the next push, for pops.
    pushed: [LutRam<Bits<8>, B>; 2],
    /// Items popped: likewise.
    popped: [LutRam<Bits<8>, B>; 2],
    queues: LutRam<Bits<2>, B>,
    holding: DFF<Bits<N>>,
    behind: OwnerBehind<B, N>,
    next_holds: DFF<Bit>,
    next_queue: DFF<Bits<2>>,
    next_is_0: DFF<Bit>,

    at: Signal<Local, Bits<B>>,
    next_at: Signal<Local, Bits<B>>,
    pop_at: Signal<Local, Bits<B>>,
    pushed_before: Signal<Local, Bits<8>>,
    pushed_after: Signal<Local, Bits<8>>,
    popped_after: Signal<Local, Bits<8>>,
    stays: Signal<Local, Bit>,
    push_mask: Signal<Local, Bits<N>>,
    pop_mask: Signal<Local, Bits<N>>,
    #[value(1)]
    one: Constant<Bits<N>>,
    #[value(0)]
    zero: Constant<Bits<N>>,
}

impl<const B: usize, const N: usize> Logic for HeldOwners<B, N> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, holding, next_holds, next_queue, next_is_0);
        clock!(self, clock, queues);
        self.at.next = bit_cast::<B, 8>(self.owner.val());
        self.next_at.next = bit_cast::<B, 8>(self.next_owner.val());
        self.pop_at.next = bit_cast::<B, 8>(self.pop_owner.val());
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

        self.push_mask.next = self.zero.val();
        if self.push.val() {
            self.push_mask.next = self.one.val() << self.at.val();
        }
        self.pop_mask.next = self.zero.val();
        if self.pop.val() & (self.popped_after.val() == self.pushed[1].read_data.val()) {
            self.pop_mask.next = self.one.val() << self.pop_at.val();
        }
        self.holding.d.next = (self.holding.q.val() & !self.pop_mask.val()) | self.push_mask.val();

        // What waits to be pushed counts as held: whoever comes behind it goes where it goes.
        self.behind.owner.next = self.at.val();
        self.behind.next_owner.next = self.next_at.val();
        self.behind.holding.next = self.holding.q.val();
        self.stays.next = self.wants.val() & self.behind.same.val();
        self.next_holds.d.next = self.stays.val() | self.behind.holds.val();
        self.next_queue.d.next = self.queues.read_data.val();
        if self.stays.val() {
            self.next_queue.d.next = self.push_queue.val();
        }
        self.next_is_0.d.next = self.next_owner.val() == 0;
        self.holds.next = self.next_holds.q.val();
        self.queue.next = self.next_queue.q.val();
        self.is_0.next = self.next_is_0.q.val();
        if self.reset.val() {
            self.holding.d.next = self.zero.val();
            self.next_holds.d.next = false;
        }
    }
}
