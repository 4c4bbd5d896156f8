//! One queue of held slots and confirmations, and whether the oldest still waits.
//!
//! ```text
//!  push ─►┌────────────────┐─► head ─► tickets against `done` ─► [head.ready]
//!         │ 64 items       │
//!  landed ► tickets, count │◄─ pop
//!         └────────────────┘
//! ```
//! Timing: an item shows the cycle after its push and is ready one cycle later at the earliest; for
//! two cycles after a pop none is ready.
//!
//! Invariants:
//! 1. 63 items at most: the bytes of the item popped last stay until its place is used again.
//! 2. A head is ready when every memory it names has a `done` that is not before its ticket, and,
//!    if it is a slot, its bytes have landed.

use crate::hold::messages::{HeldHead, HeldItem};
use stream::prelude::*;

/// Items, log2.
pub const HELD_BITS: usize = 6;

/// Whether a memory that an item names has not reached the item's ticket.
#[derive(LogicBlock, Default)]
pub struct TicketWait {
    /// Memories that the item names.
    pub memories: Signal<In, Bits<4>>,
    /// Tickets of the item, memory 1 in bits 23:0.
    pub awaited: Signal<In, Bits<72>>,
    /// Tickets that wait no longer, memory 1 in bits 23:0.
    pub done: Signal<In, Bits<72>>,
    /// The item waits.
    pub waits: Signal<Out, Bit>,

    ahead_1: Signal<Local, Bits<24>>,
    ahead_2: Signal<Local, Bits<24>>,
    ahead_3: Signal<Local, Bits<24>>,
}

impl Logic for TicketWait {
    #[hdl_gen]
    fn update(&mut self) {
        // A difference below zero: the flush read of that ticket has not returned.
        self.ahead_1.next =
            self.done.val().get_bits::<24>(0) - self.awaited.val().get_bits::<24>(0);
        self.ahead_2.next =
            self.done.val().get_bits::<24>(24) - self.awaited.val().get_bits::<24>(24);
        self.ahead_3.next =
            self.done.val().get_bits::<24>(48) - self.awaited.val().get_bits::<24>(48);
        self.waits.next = (self.memories.val().get_bit(1) & self.ahead_1.val().get_bit(23))
            | (self.memories.val().get_bit(2) & self.ahead_2.val().get_bit(23))
            | (self.memories.val().get_bit(3) & self.ahead_3.val().get_bit(23));
    }
}

/// The queue of memory QUEUE, which is also the upper bits of `at`. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct HeldQueue<const QUEUE: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: all items are forgotten and the counts are 0.
    pub reset: Signal<In, Bit>,

    /// One item more, only with `has_space`.
    pub push: Signal<In, Bit>,
    /// The item that is pushed.
    pub item: Signal<In, HeldItem>,
    /// There is space for one item more; two cycles after a pop that makes some.
    pub has_space: Signal<Out, Bit>,
    /// Something is held.
    pub holds: Signal<Out, Bit>,
    /// Place of the next item in the hold memory.
    pub at: Signal<Out, Bits<8>>,
    /// The bytes of a slot are in the hold memory, in the order of the items.
    pub landed: Signal<In, Bit>,
    /// Place of the slot that landed.
    pub landed_at: Signal<In, Bits<6>>,
    /// Tickets that the slot that lands waits for, memory 1 in bits 23:0.
    pub tickets: Signal<In, Bits<72>>,
    /// Tickets that wait no longer, memory 1 in bits 23:0.
    pub done: Signal<In, Bits<72>>,
    /// Memories whose `done` ticket failed twice, one bit each.
    pub broken: Signal<In, Bits<4>>,
    /// The oldest item.
    pub head: Signal<Out, HeldHead>,
    /// The oldest item is taken.
    pub pop: Signal<In, Bit>,
    /// Items pushed since reset, modulo 2^32.
    pub pushed: Signal<Out, Bits<32>>,
    /// Items popped since reset, modulo 2^32.
    pub popped: Signal<Out, Bits<32>>,

    items: LutRam<HeldItem, 6>,
    waits_for: LutRam<Bits<72>, 6>,
    tickets_wait: TicketWait,
    pushed_count: DFF<Bits<32>>,
    popped_count: DFF<Bits<32>>,
    landed_count: DFF<Bits<8>>,
    level: DFF<Bits<6>>,
    has_items: DFF<Bit>,
    fits: DFF<Bit>,
    is_ready: DFF<Bit>,
    is_unflushed: DFF<Bit>,

    oldest: Signal<Local, HeldItem>,
    memories: Signal<Local, Bits<4>>,
    push_place: Signal<Local, Bits<6>>,
    pop_place: Signal<Local, Bits<6>>,
    has_bytes: Signal<Local, Bit>,
    takes_bytes: Signal<Local, Bit>,
    #[value((QUEUE as u64) << HELD_BITS)]
    number: Constant<Bits<8>>,
    #[value((1u64 << HELD_BITS) - 2)]
    last: Constant<Bits<6>>,
}

impl<const QUEUE: usize> Logic for HeldQueue<QUEUE> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, pushed_count, popped_count, landed_count, level);
        dff_setup!(self, clock, has_items, fits, is_ready, is_unflushed);
        clock!(self, clock, items, waits_for);
        self.push_place.next = bit_cast::<6, 32>(self.pushed_count.q.val());
        self.pop_place.next = bit_cast::<6, 32>(self.popped_count.q.val());
        self.items.write_address.next = self.push_place.val();
        self.items.write_data.next = self.item.val();
        self.items.write_enable.next = self.push.val();
        self.items.read_address.next = self.pop_place.val();
        self.oldest.next = self.items.read_data.val();
        self.memories.next = self.oldest.val().memories;

        self.pushed.next = self.pushed_count.q.val();
        self.popped.next = self.popped_count.q.val();
        self.holds.next = self.has_items.q.val();
        self.fits.d.next = (self.level.q.val() < self.last.val())
            | ((self.level.q.val() == self.last.val()) & !self.push.val());
        self.has_space.next = self.fits.q.val();
        self.at.next = bit_cast::<8, 6>(self.push_place.val()) | self.number.val();

        self.waits_for.write_address.next = self.landed_at.val();
        self.waits_for.write_data.next = self.tickets.val();
        self.waits_for.write_enable.next = self.landed.val();
        self.waits_for.read_address.next = self.pop_place.val();
        self.tickets_wait.memories.next = self.memories.val();
        self.tickets_wait.awaited.next = self.waits_for.read_data.val();
        self.tickets_wait.done.next = self.done.val();

        self.has_bytes.next = self.oldest.val().confirms | self.landed_count.q.val().any();
        self.head.next.item = self.oldest.val();
        self.head.next.at = bit_cast::<8, 6>(self.pop_place.val()) | self.number.val();
        self.is_ready.d.next = self.has_items.q.val()
            & self.has_bytes.val()
            & !self.tickets_wait.waits.val()
            & !self.pop.val();
        self.head.next.ready = self.is_ready.q.val();
        self.is_unflushed.d.next = (self.memories.val() & self.broken.val()).any();
        self.head.next.unflushed = self.is_unflushed.q.val();

        self.takes_bytes.next = self.pop.val() & !self.oldest.val().confirms;
        if self.landed.val() & !self.takes_bytes.val() {
            self.landed_count.d.next = self.landed_count.q.val() + 1;
        } else if !self.landed.val() & self.takes_bytes.val() {
            self.landed_count.d.next = self.landed_count.q.val() - 1;
        }
        if self.pop.val() {
            self.popped_count.d.next = self.popped_count.q.val() + 1;
            self.has_items.d.next = self.level.q.val() != 1;
            self.level.d.next = self.level.q.val() - 1;
        }
        if self.push.val() {
            self.pushed_count.d.next = self.pushed_count.q.val() + 1;
            self.has_items.d.next = true;
            self.level.d.next = self.level.q.val() + 1;
            if self.pop.val() {
                self.level.d.next = self.level.q.val();
            }
        }
        if self.reset.val() {
            self.landed_count.d.next = 0.into();
            self.level.d.next = 0.into();
            self.has_items.d.next = false;
            self.is_ready.d.next = false;
            self.pushed_count.d.next = 0.into();
            self.popped_count.d.next = 0.into();
        }
    }
}
