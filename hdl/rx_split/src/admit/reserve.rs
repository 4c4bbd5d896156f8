//! The addresses in an owner's rings that a packet gets.
//!
//! ```text
//!  rings, producers ──► [register] ──► wrapped indices ──► [register] ──► reservation
//! ```
//! Timing: latency two cycles, one packet per cycle; while none comes both registers hold.
//!
//! Invariants:
//! 1. The second slot of an entry follows the first modulo the queue.

use crate::admit::messages::OwnerContext;
use crate::messages::Reservation;
use stream::prelude::*;

/// Producer indices before a packet and after it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Taken {
    /// Index of the packet's first slot.
    pub header: Bits<32>,
    /// Slots produced after the packet.
    pub header_after: Bits<32>,
    /// Index of the packet's slow buffer, modulo 2^16.
    pub slow: Bits<16>,
}

/// The arithmetic. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Reserve {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// A packet is decided.
    pub valid: Signal<In, Bit>,
    /// Where the owner's rings lie.
    pub rings: Signal<In, OwnerContext>,
    /// What the packet takes of the rings.
    pub taken: Signal<In, Taken>,
    /// Slots produced after the packet, one cycle later.
    pub header_after: Signal<Out, Bits<32>>,
    /// Addresses of what the packet takes, two cycles later.
    pub reservation: Signal<Out, Reservation>,

    passed: DFF<Bit>,
    held: DFF<OwnerContext>,
    indices: DFF<Taken>,
    second: DFF<Bits<32>>,
    result: DFF<Reservation>,

    header_mask: Signal<Local, Bits<32>>,
    slow_mask: Signal<Local, Bits<32>>,
    producer: Signal<Local, Bits<32>>,
    slot: Signal<Local, Bits<32>>,
    second_slot: Signal<Local, Bits<32>>,
    slow_slot: Signal<Local, Bits<32>>,
    #[value(1)]
    one: Constant<Bits<32>>,
    #[value(Bits::<32>::mask())]
    ones: Constant<Bits<32>>,
}

impl Logic for Reserve {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, passed, held, indices, second, result);
        self.passed.d.next = self.valid.val();
        if self.valid.val() {
            self.held.d.next = self.rings.val();
            self.indices.d.next = self.taken.val();
            self.second.d.next = self.taken.val().header + self.one.val();
        }
        self.reservation.next = self.result.q.val();
        self.header_after.next = self.indices.q.val().header_after;

        self.producer.next = self.indices.q.val().header;
        self.header_mask.next = !(self.ones.val() << self.held.q.val().header_bits);
        self.slot.next = self.producer.val() & self.header_mask.val();
        self.second_slot.next = self.second.q.val() & self.header_mask.val();
        self.slow_mask.next = !(self.ones.val() << self.held.q.val().slow_bits);
        self.slow_slot.next = bit_cast::<32, 16>(self.indices.q.val().slow) & self.slow_mask.val();

        if self.passed.q.val() {
            self.result.d.next.slot_address =
                self.held.q.val().header_base + (bit_cast::<64, 32>(self.slot.val()) << 7);
            self.result.d.next.second_address =
                self.held.q.val().header_base + (bit_cast::<64, 32>(self.second_slot.val()) << 7);
            self.result.d.next.slow_address =
                self.held.q.val().slow_base + (bit_cast::<64, 32>(self.slow_slot.val()) << 14);
            self.result.d.next.slow_index = self.slow_slot.val().get_bits::<16>(0);
            self.result.d.next.phase =
                !(self.producer.val() >> self.held.q.val().header_bits).get_bit(0);
            self.result.d.next.header_producer = self.indices.q.val().header_after;
        }
    }
}

const _: () = assert!(abi::config::SLOT_BYTES == 1 << 7);
const _: () = assert!(abi::config::SLOW_BUFFER_BYTES == 1 << 14);
