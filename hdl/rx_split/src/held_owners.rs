//! Whether something of an owner is held, and in which queue.
//!
//! Timing: outputs follow `owner` in the same cycle; what is pushed or popped shows in the next.
//!
//! Invariants:
//! 1. All that is held of an owner is in one queue: so its entries stay in order.
//! 2. Counts that were not written since `reset` are 0.
//!
//! N must be 2^B. An owner holds fewer than 2^8 items.

use stream::prelude::*;

/// The owners. See the module's head.
#[derive(LogicBlock)]
pub struct HeldOwners<const B: usize, const N: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Owner to show.
    pub owner: Signal<In, Bits<8>>,
    /// Something of it is held.
    pub holds: Signal<Out, Bit>,
    /// With `holds`: the queue.
    pub queue: Signal<Out, Bits<2>>,
    /// An item of `owner` is pushed.
    pub push: Signal<In, Bit>,
    /// To this queue.
    pub push_queue: Signal<In, Bits<2>>,
    /// An item is popped.
    pub pop: Signal<In, Bit>,
    /// Its owner.
    pub pop_owner: Signal<In, Bits<8>>,

    pushed: LutRam<Bits<8>, B>,
    popped: [LutRam<Bits<8>, B>; 2],
    queues: LutRam<Bits<2>, B>,
    has_pushed: DFF<Bits<N>>,
    has_popped: DFF<Bits<N>>,

    at: Signal<Local, Bits<B>>,
    pop_at: Signal<Local, Bits<B>>,
    pushed_count: Signal<Local, Bits<8>>,
    popped_count: Signal<Local, Bits<8>>,
    before_pop: Signal<Local, Bits<8>>,
    push_mask: Signal<Local, Bits<N>>,
    pop_mask: Signal<Local, Bits<N>>,
    one: Constant<Bits<N>>,
    zero: Constant<Bits<N>>,
}

impl<const B: usize, const N: usize> Default for HeldOwners<B, N> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            owner: Default::default(),
            holds: Default::default(),
            queue: Default::default(),
            push: Default::default(),
            push_queue: Default::default(),
            pop: Default::default(),
            pop_owner: Default::default(),
            pushed: Default::default(),
            popped: Default::default(),
            queues: Default::default(),
            has_pushed: Default::default(),
            has_popped: Default::default(),
            at: Default::default(),
            pop_at: Default::default(),
            pushed_count: Default::default(),
            popped_count: Default::default(),
            before_pop: Default::default(),
            push_mask: Default::default(),
            pop_mask: Default::default(),
            one: Constant::new(1u64.to_bits()),
            zero: Constant::new(0u64.to_bits()),
        }
    }
}

impl<const B: usize, const N: usize> Logic for HeldOwners<B, N> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, has_pushed, has_popped);
        self.at.next = bit_cast::<B, 8>(self.owner.val());
        self.pop_at.next = bit_cast::<B, 8>(self.pop_owner.val());
        self.pushed.clock.next = self.clock.val();
        self.queues.clock.next = self.clock.val();
        self.pushed.read_address.next = self.at.val();
        self.popped[0].read_address.next = self.at.val();
        self.popped[1].read_address.next = self.pop_at.val();
        self.queues.read_address.next = self.at.val();
        self.pushed_count.next = bits::<8>(0);
        if self.has_pushed.q.val().get_bit(self.at.val().index()) {
            self.pushed_count.next = self.pushed.read_data.val();
        }
        self.popped_count.next = bits::<8>(0);
        if self.has_popped.q.val().get_bit(self.at.val().index()) {
            self.popped_count.next = self.popped[0].read_data.val();
        }
        self.before_pop.next = bits::<8>(0);
        if self.has_popped.q.val().get_bit(self.pop_at.val().index()) {
            self.before_pop.next = self.popped[1].read_data.val();
        }
        for i in 0..2 {
            self.popped[i].clock.next = self.clock.val();
            self.popped[i].write_address.next = self.pop_at.val();
            self.popped[i].write_data.next = self.before_pop.val() + 1;
            self.popped[i].write_enable.next = self.pop.val();
        }
        self.pushed.write_address.next = self.at.val();
        self.pushed.write_data.next = self.pushed_count.val() + 1;
        self.pushed.write_enable.next = self.push.val();
        self.queues.write_address.next = self.at.val();
        self.queues.write_data.next = self.push_queue.val();
        self.queues.write_enable.next = self.push.val();

        self.holds.next = self.pushed_count.val() != self.popped_count.val();
        self.queue.next = self.queues.read_data.val();

        self.push_mask.next = self.one.val() << self.at.val();
        self.pop_mask.next = self.one.val() << self.pop_at.val();
        if self.push.val() {
            self.has_pushed.d.next = self.has_pushed.q.val() | self.push_mask.val();
        }
        if self.pop.val() {
            self.has_popped.d.next = self.has_popped.q.val() | self.pop_mask.val();
        }
        if self.reset.val() {
            self.has_pushed.d.next = self.zero.val();
            self.has_popped.d.next = self.zero.val();
        }
    }
}
