//! The copy job of a piece of payload, or of all of it into a slow buffer.
//!
//! Timing: combinational.
//!
//! Invariants:
//! 1. The metadata share the last beat of a payload if all hold: the payload lies in memory 0
//!    alone, its last job ends within the first half of a beat, the entry takes one slot, and it is
//!    of this packet's header. This saves the card one beat.
//!
//! Source: docs/specification.md, Delivery; `abi::header_entry`.

use crate::messages::{Piece, Plan, PlanItem, Reservation, RunPart};
use stream::messages::SHARED_TAIL_BYTES_MAX;
use stream::prelude::*;

/// Whether metadata share the last beat of a payload.
#[derive(LogicBlock, BlockDefault)]
pub struct SharedTail {
    /// Bytes of the job at hand.
    pub bytes: Signal<In, Bits<14>>,
    /// The job is the last of its payload, and lies in memory 0.
    pub is_tail: Signal<In, Bit>,
    /// Memories except 0 that earlier jobs of the payload were written to, one bit each.
    pub memories: Signal<In, Bits<4>>,
    /// The entry takes two slots, or is not of this packet's header.
    pub has_no_tail: Signal<In, Bit>,
    /// The metadata share the last beat of the job.
    pub shares: Signal<Out, Bit>,

    tail_bytes: Signal<Local, Bits<6>>,
    is_short: Signal<Local, Bit>,
    #[value(SHARED_TAIL_BYTES_MAX as u64)]
    tail_bytes_max: Constant<Bits<6>>,
}

impl Logic for SharedTail {
    #[hdl_gen]
    fn update(&mut self) {
        self.tail_bytes.next = self.bytes.val().get_bits::<6>(0);
        self.is_short.next =
            self.tail_bytes.val().any() & (self.tail_bytes.val() <= self.tail_bytes_max.val());
        self.shares.next = self.is_tail.val()
            & self.is_short.val()
            & !self.memories.val().any()
            & !self.has_no_tail.val();
    }
}

/// What a payload job has of its own.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PayloadRange {
    /// Pointer of the first beat to read in the packet buffer.
    pub start: Bits<16>,
    /// Bytes of the first beat to leave out.
    pub shift: Bits<6>,
    /// Bus address of the first byte to write.
    pub address: Bits<64>,
    /// Bytes to write.
    pub bytes: Bits<14>,
    /// The metadata share its last beat.
    pub shares: Bit,
}

/// The job. See the module's head.
#[derive(LogicBlock, Default)]
pub struct PayloadJob {
    /// The job at hand is a piece.
    pub is_piece: Signal<In, Bit>,
    /// The payload goes into a slow buffer.
    pub is_slow: Signal<In, Bit>,
    /// Plan at hand.
    pub plan: Signal<In, Plan>,
    /// Piece that is written next.
    pub piece: Signal<In, Piece>,
    /// Byte of the packet at which the piece begins.
    pub offset: Signal<In, Bits<16>>,
    /// The piece is the last one.
    pub last_piece: Signal<In, Bit>,
    /// Memories except 0 that the payload was written to, one bit each.
    pub memories: Signal<In, Bits<4>>,
    /// The job.
    pub job: Signal<Out, PayloadRange>,

    tail: SharedTail,

    packet: Signal<Local, PlanItem>,
    place: Signal<Local, Reservation>,
    run: Signal<Local, RunPart>,
    bytes: Signal<Local, Bits<14>>,
}

impl Logic for PayloadJob {
    #[hdl_gen]
    fn update(&mut self) {
        self.packet.next = self.plan.val().packet;
        self.place.next = self.plan.val().place;
        self.run.next = self.plan.val().run;
        self.job.next.start = self.packet.val().start + (self.offset.val() >> 6);
        self.job.next.shift = self.offset.val().get_bits::<6>(0);
        self.job.next.address = self.piece.val().address;
        self.bytes.next = self.piece.val().bytes;
        self.tail.is_tail.next =
            self.is_piece.val() & self.last_piece.val() & !self.piece.val().memory.any();
        if self.is_slow.val() {
            self.job.next.address = self.place.val().slow_address;
            self.bytes.next = self.packet.val().payload_bytes;
            self.tail.is_tail.next = true;
        }
        self.job.next.bytes = self.bytes.val();
        self.tail.bytes.next = self.bytes.val();
        self.tail.memories.next = self.memories.val();
        self.tail.has_no_tail.next =
            self.plan.val().two_slots | self.run.val().keeps | self.run.val().joins;
        self.job.next.shares = self.tail.shares.val();
    }
}
