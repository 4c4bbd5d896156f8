//! A FIFO of pieces that takes a packet's pieces back when its walk fails.
//!
//! ```text
//!  sink ──► 2^5 pieces ──► source      commit: offer what came in;  discard: forget it
//! ```
//! Timing: a piece is offered one cycle after `commit`; one a cycle in and out.
//!
//! Invariants:
//! 1. Only committed pieces are offered, in order.
//! 2. `room` says that a whole packet's pieces fit. A sink that keeps to it is never lost.

use crate::messages::Piece;
use abi::config::PIECES_MAX;
use stream::prelude::*;

/// The FIFO. See the module's head.
#[derive(LogicBlock)]
pub struct Pieces {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Empties it.
    pub reset: Signal<In, Bit>,

    /// Pieces granted.
    pub sink: PulseSink<Piece>,
    /// Pieces of packets whose walk is complete.
    pub source: MessageSource<Piece>,

    /// The walk is complete.
    pub commit: Signal<In, Bit>,
    /// The walk failed.
    pub discard: Signal<In, Bit>,
    /// A whole packet's pieces fit.
    pub room: Signal<Out, Bit>,

    memory: LutRam<Piece, 5>,
    write_pointer: DFF<Bits<6>>,
    commit_pointer: DFF<Bits<6>>,
    read_pointer: DFF<Bits<6>>,

    held: Signal<Local, Bits<6>>,
    offered: Signal<Local, Bit>,
    held_max: Constant<Bits<6>>,
}

impl Default for Pieces {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            sink: Default::default(),
            source: Default::default(),
            commit: Default::default(),
            discard: Default::default(),
            room: Default::default(),
            memory: Default::default(),
            write_pointer: Default::default(),
            commit_pointer: Default::default(),
            read_pointer: Default::default(),
            held: Default::default(),
            offered: Default::default(),
            held_max: Constant::new((32 - PIECES_MAX as u64).to_bits()),
        }
    }
}

impl Logic for Pieces {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, write_pointer, commit_pointer, read_pointer);
        self.memory.clock.next = self.clock.val();
        self.held.next = self.write_pointer.q.val() - self.read_pointer.q.val();
        self.room.next = self.held.val() <= self.held_max.val();
        self.offered.next = self.commit_pointer.q.val() != self.read_pointer.q.val();
        self.source.valid.next = self.offered.val();
        self.source.payload.next = self.memory.read_data.val();
        self.memory.read_address.next = bit_cast::<5, 6>(self.read_pointer.q.val());
        self.memory.write_address.next = bit_cast::<5, 6>(self.write_pointer.q.val());
        self.memory.write_data.next = self.sink.payload.val();
        self.memory.write_enable.next = self.sink.valid.val();

        if self.sink.valid.val() {
            self.write_pointer.d.next = self.write_pointer.q.val() + 1;
        }
        if self.commit.val() {
            self.commit_pointer.d.next = self.write_pointer.q.val();
        }
        if self.discard.val() {
            self.write_pointer.d.next = self.commit_pointer.q.val();
        }
        if self.offered.val() & self.source.ready.val() {
            self.read_pointer.d.next = self.read_pointer.q.val() + 1;
        }
        if self.reset.val() {
            self.write_pointer.d.next = bits::<6>(0);
            self.commit_pointer.d.next = bits::<6>(0);
            self.read_pointer.d.next = bits::<6>(0);
        }
    }
}
