//! Room in an owner's header queue and slow buffers, and the addresses that are next.
//!
//! ```text
//!  owner ──► [register] ──► used, free, wrapped index ──► [register] ──► reservation
//! ```
//! Timing: two cycles from `owner`, `two_slots` and `needs_slow` to `reservation`.
//!
//! Invariants:
//! 1. A consumer index that runs ahead of the producer leaves no room: a wrong doorbell harms its
//!    owner only.
//! 2. The second slot of an entry follows the first modulo the queue.

use crate::messages::Reservation;
use crate::owners::OwnerContext;
use stream::prelude::*;

/// The arithmetic. See the module's head.
#[derive(LogicBlock)]
pub struct Reserve {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// The owner.
    pub owner: Signal<In, OwnerContext>,
    /// Two slots are wanted.
    pub two_slots: Signal<In, Bit>,
    /// A slow buffer is wanted.
    pub needs_slow: Signal<In, Bit>,
    /// What can be had.
    pub reservation: Signal<Out, Reservation>,

    held: DFF<OwnerContext>,
    result: DFF<Reservation>,

    header_size: Signal<Local, Bits<32>>,
    header_mask: Signal<Local, Bits<32>>,
    header_used: Signal<Local, Bits<32>>,
    slow_size: Signal<Local, Bits<32>>,
    slow_mask: Signal<Local, Bits<32>>,
    slow_used: Signal<Local, Bits<32>>,
    producer: Signal<Local, Bits<32>>,
    second: Signal<Local, Bits<32>>,
    slot: Signal<Local, Bits<32>>,
    second_slot: Signal<Local, Bits<32>>,
    slow_slot: Signal<Local, Bits<32>>,
    passes: Signal<Local, Bits<32>>,
    one: Constant<Bits<32>>,
}

impl Default for Reserve {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            owner: Default::default(),
            two_slots: Default::default(),
            needs_slow: Default::default(),
            reservation: Default::default(),
            held: Default::default(),
            result: Default::default(),
            header_size: Default::default(),
            header_mask: Default::default(),
            header_used: Default::default(),
            slow_size: Default::default(),
            slow_mask: Default::default(),
            slow_used: Default::default(),
            producer: Default::default(),
            second: Default::default(),
            slot: Default::default(),
            second_slot: Default::default(),
            slow_slot: Default::default(),
            passes: Default::default(),
            one: Constant::new(1u64.to_bits()),
        }
    }
}

impl Logic for Reserve {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held, result);
        self.held.d.next = self.owner.val();
        self.reservation.next = self.result.q.val();

        self.producer.next = self.held.q.val().header_producer;
        self.header_size.next = self.one.val() << self.held.q.val().header_bits;
        self.header_mask.next = self.header_size.val() - self.one.val();
        self.header_used.next = self.producer.val() - self.held.q.val().header_consumer;
        self.second.next = self.producer.val() + self.one.val();
        self.slot.next = self.producer.val() & self.header_mask.val();
        self.second_slot.next = self.second.val() & self.header_mask.val();
        self.passes.next = self.producer.val() >> self.held.q.val().header_bits;
        self.slow_size.next = self.one.val() << self.held.q.val().slow_bits;
        self.slow_mask.next = self.slow_size.val() - self.one.val();
        self.slow_used.next = self.held.q.val().slow_producer - self.held.q.val().slow_consumer;
        self.slow_slot.next = self.held.q.val().slow_producer & self.slow_mask.val();

        self.result.d.next.enabled = self.held.q.val().enabled;
        self.result.d.next.header_room =
            self.held.q.val().enabled & (self.header_used.val() < self.header_size.val());
        self.result.d.next.header_producer = self.second.val();
        if self.two_slots.val() {
            self.result.d.next.header_room =
                self.held.q.val().enabled & (self.header_used.val() < self.header_mask.val());
            self.result.d.next.header_producer = self.second.val() + self.one.val();
        }
        self.result.d.next.slow_room = self.slow_used.val() < self.slow_size.val();
        self.result.d.next.slow_producer = self.held.q.val().slow_producer + self.one.val();
        if !self.needs_slow.val() {
            self.result.d.next.slow_room = true;
            self.result.d.next.slow_producer = self.held.q.val().slow_producer;
        }
        self.result.d.next.slot_address =
            self.held.q.val().header_base + (bit_cast::<64, 32>(self.slot.val()) << 7);
        self.result.d.next.second_address =
            self.held.q.val().header_base + (bit_cast::<64, 32>(self.second_slot.val()) << 7);
        self.result.d.next.slow_address =
            self.held.q.val().slow_base + (bit_cast::<64, 32>(self.slow_slot.val()) << 14);
        self.result.d.next.slow_index = self.slow_slot.val().get_bits::<16>(0);
        self.result.d.next.phase = !self.passes.val().get_bit(0);
    }
}

const _: () = assert!(abi::config::SLOT_BYTES == 1 << 7);
const _: () = assert!(abi::config::SLOW_BUFFER_BYTES == 1 << 14);
