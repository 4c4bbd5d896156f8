//! How far the payload of a plan is handed out, and which memories it was written to.
//!
//! Timing: outputs are registers.

use crate::messages::{Piece, PlanItem};
use stream::prelude::*;

/// The progress. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Progress {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// A plan is loaded.
    pub start: Signal<In, Bit>,
    /// Packet of the plan that is loaded.
    pub packet: Signal<In, PlanItem>,
    /// The plan writes the entry of a run, whose payload lies in the same memory.
    pub ends_run: Signal<In, Bit>,
    /// The job of the piece at hand is taken.
    pub taken: Signal<In, Bit>,
    /// Piece at hand.
    pub piece: Signal<In, Piece>,

    /// Byte of the packet at which the next piece begins.
    pub at: Signal<Out, Bits<16>>,
    /// Number of the next piece.
    pub number: Signal<Out, Bits<4>>,
    /// One piece is left.
    pub last_piece: Signal<Out, Bit>,
    /// Memories except 0 that pieces were written to, one bit each.
    pub memories: Signal<Out, Bits<4>>,

    offset: DFF<Bits<16>>,
    pieces_left: DFF<Bits<5>>,
    next_number: DFF<Bits<4>>,
    written: DFF<Bits<4>>,
    piece_memory: Signal<Local, Bits<4>>,
    #[value(1)]
    unit: Constant<Bits<4>>,
    #[value(0xe)]
    not_host: Constant<Bits<4>>,
}

impl Logic for Progress {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, offset, pieces_left, next_number, written);
        self.at.next = self.offset.q.val();
        self.number.next = self.next_number.q.val();
        self.last_piece.next = self.pieces_left.q.val() == 1;
        self.memories.next = self.written.q.val();

        self.piece_memory.next = self.unit.val() << self.piece.val().memory;
        if self.taken.val() {
            self.pieces_left.d.next = self.pieces_left.q.val() - 1;
            self.next_number.d.next = self.next_number.q.val() + 1;
            self.offset.d.next = self.offset.q.val() + bit_cast::<16, 14>(self.piece.val().bytes);
            self.written.d.next =
                self.written.q.val() | (self.piece_memory.val() & self.not_host.val());
        }
        if self.start.val() {
            self.offset.d.next = bit_cast::<16, 8>(self.packet.val().header_bytes)
                + bit_cast::<16, 14>(self.packet.val().trimmed_bytes);
            self.written.d.next = 0.into();
            if self.ends_run.val() {
                self.written.d.next = self.packet.val().memories & self.not_host.val();
            }
            self.pieces_left.d.next = self.packet.val().pieces;
            self.next_number.d.next = 0.into();
        }
    }
}
