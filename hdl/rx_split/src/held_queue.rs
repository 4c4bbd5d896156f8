//! One queue of held slots and confirmations, and whether the oldest waits no longer.
//!
//! ```text
//!  push ─►┌───────────────┐─► head ─► tickets against `done` ─► head.ready
//!         │ 64 items      │
//!  landed ► bytes counted │◄─ pop
//!         └───────────────┘
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | push, item | in | one more item, if there is `room` |
//! | holds | out | something is held |
//! | at | out | its place in the hold memory |
//! | landed | in | the bytes of the oldest slot that still lacked them are in the hold memory |
//! | done, broken | in | tickets that wait no longer, memory 1 in bits 23:0; which in vain |
//! | head, pop | out, in | the oldest item; it is taken |
//! | pushed, popped | out | items pushed and popped since reset, modulo 2^32 |
//!
//! Timing: an item shows the cycle after its push.
//!
//! Invariants:
//! 1. 63 items at most: the bytes of the one popped last stay until its place comes again.
//! 2. A head is ready when every memory it names has a `done` that is not before its ticket, and,
//!    if it is a slot, its bytes have landed.
//!
//! M is the queue's number, the upper bits of `at`.

use crate::messages::{HeldHead, HeldItem};
use stream::prelude::*;

/// Items, log2.
pub const HELD_BITS: usize = 6;

/// The queue. See the module's head.
#[derive(LogicBlock)]
pub struct HeldQueue<const M: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// One more item.
    pub push: Signal<In, Bit>,
    /// The item.
    pub item: Signal<In, HeldItem>,
    /// There is room.
    pub room: Signal<Out, Bit>,
    /// Something is held.
    pub holds: Signal<Out, Bit>,
    /// Place of the next item in the hold memory.
    pub at: Signal<Out, Bits<8>>,
    /// A slot's bytes have landed.
    pub landed: Signal<In, Bit>,
    /// Tickets that wait no longer.
    pub done: Signal<In, Bits<72>>,
    /// Memories whose `done` waited in vain.
    pub broken: Signal<In, Bits<4>>,
    /// The oldest item.
    pub head: Signal<Out, HeldHead>,
    /// It is taken.
    pub pop: Signal<In, Bit>,
    /// Items pushed since reset.
    pub pushed: Signal<Out, Bits<32>>,
    /// Items popped since reset.
    pub popped: Signal<Out, Bits<32>>,

    items: LutRam<HeldItem, 6>,
    pushed_count: DFF<Bits<32>>,
    popped_count: DFF<Bits<32>>,
    landed_count: DFF<Bits<8>>,

    oldest: Signal<Local, HeldItem>,
    memories: Signal<Local, Bits<4>>,
    tickets: Signal<Local, Bits<72>>,
    push_place: Signal<Local, Bits<6>>,
    pop_place: Signal<Local, Bits<6>>,
    vain: Signal<Local, Bits<4>>,
    held: Signal<Local, Bits<32>>,
    ahead_1: Signal<Local, Bits<24>>,
    ahead_2: Signal<Local, Bits<24>>,
    ahead_3: Signal<Local, Bits<24>>,
    waits: Signal<Local, Bit>,
    has_bytes: Signal<Local, Bit>,
    takes_bytes: Signal<Local, Bit>,
    number: Constant<Bits<8>>,
    most: Constant<Bits<32>>,
}

impl<const M: usize> Default for HeldQueue<M> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            push: Default::default(),
            item: Default::default(),
            room: Default::default(),
            holds: Default::default(),
            at: Default::default(),
            landed: Default::default(),
            done: Default::default(),
            broken: Default::default(),
            head: Default::default(),
            pop: Default::default(),
            pushed: Default::default(),
            popped: Default::default(),
            items: Default::default(),
            pushed_count: Default::default(),
            popped_count: Default::default(),
            landed_count: Default::default(),
            oldest: Default::default(),
            memories: Default::default(),
            tickets: Default::default(),
            push_place: Default::default(),
            pop_place: Default::default(),
            vain: Default::default(),
            held: Default::default(),
            ahead_1: Default::default(),
            ahead_2: Default::default(),
            ahead_3: Default::default(),
            waits: Default::default(),
            has_bytes: Default::default(),
            takes_bytes: Default::default(),
            number: Constant::new(((M as u64) << HELD_BITS).to_bits()),
            most: Constant::new(((1u64 << HELD_BITS) - 1).to_bits()),
        }
    }
}

impl<const M: usize> Logic for HeldQueue<M> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, pushed_count, popped_count, landed_count);
        self.push_place.next = bit_cast::<6, 32>(self.pushed_count.q.val());
        self.pop_place.next = bit_cast::<6, 32>(self.popped_count.q.val());
        self.items.clock.next = self.clock.val();
        self.items.write_address.next = self.push_place.val();
        self.items.write_data.next = self.item.val();
        self.items.write_enable.next = self.push.val();
        self.items.read_address.next = self.pop_place.val();
        self.oldest.next = self.items.read_data.val();
        self.memories.next = self.oldest.val().memories;
        self.tickets.next = self.oldest.val().tickets;
        self.pushed.next = self.pushed_count.q.val();
        self.popped.next = self.popped_count.q.val();
        self.held.next = self.pushed_count.q.val() - self.popped_count.q.val();
        self.holds.next = self.held.val().any();
        self.room.next = self.held.val() != self.most.val();
        self.at.next = bit_cast::<8, 6>(self.push_place.val()) | self.number.val();

        // A difference below zero: the flush read of that ticket is still to be answered.
        self.ahead_1.next =
            self.done.val().get_bits::<24>(0) - self.tickets.val().get_bits::<24>(0);
        self.ahead_2.next =
            self.done.val().get_bits::<24>(24) - self.tickets.val().get_bits::<24>(24);
        self.ahead_3.next =
            self.done.val().get_bits::<24>(48) - self.tickets.val().get_bits::<24>(48);
        self.waits.next = (self.memories.val().get_bit(1) & self.ahead_1.val().get_bit(23))
            | (self.memories.val().get_bit(2) & self.ahead_2.val().get_bit(23))
            | (self.memories.val().get_bit(3) & self.ahead_3.val().get_bit(23));
        self.has_bytes.next = self.oldest.val().confirms | self.landed_count.q.val().any();

        self.head.next.item = self.oldest.val();
        self.head.next.at = bit_cast::<8, 6>(self.pop_place.val()) | self.number.val();
        self.head.next.ready = self.held.val().any() & self.has_bytes.val() & !self.waits.val();
        self.vain.next = self.memories.val() & self.broken.val();
        self.head.next.unflushed = self.vain.val().any();

        self.takes_bytes.next = self.pop.val() & !self.oldest.val().confirms;
        if self.landed.val() & !self.takes_bytes.val() {
            self.landed_count.d.next = self.landed_count.q.val() + 1;
        }
        if !self.landed.val() & self.takes_bytes.val() {
            self.landed_count.d.next = self.landed_count.q.val() - 1;
        }
        if self.push.val() {
            self.pushed_count.d.next = self.pushed_count.q.val() + 1;
        }
        if self.pop.val() {
            self.popped_count.d.next = self.popped_count.q.val() + 1;
        }
        if self.reset.val() {
            self.landed_count.d.next = bits::<8>(0);
            self.pushed_count.d.next = bits::<32>(0);
            self.popped_count.d.next = bits::<32>(0);
        }
    }
}
