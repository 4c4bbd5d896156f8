//! A queue of pieces that shows a range's pieces all at once or never.
//!
//! ```text
//!  sink ──►┌ tentative ┐ commit ┌ visible ┐──► source
//!          └───────────┘◄discard└─────────┘
//! ```
//! Timing: latency three cycles after `commit`, one piece per cycle in and out. `sink.ready` and
//! `full` are registers: the free space that a read makes shows two cycles later, `full` one cycle
//! after the piece that fills the queue.
//!
//! Invariants:
//! 1. A piece appears at `source` only after the `commit` that comes with it or follows it.
//! 2. `discard` drops the pieces since the last commit. It comes in a cycle without a piece.
//! 3. `full` is high when the tentative pieces alone fill the queue: no wait would make space.

use crate::messages::SendPiece;
use abi::config::SEND_PIECES_MAX;
use stream::prelude::*;

// The literals of the kernel.
const _: () = assert!(SEND_PIECES_MAX == 128);

/// The queue. See the module's head.
#[derive(LogicBlock, Default)]
pub struct PieceQueue {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Empties the queue.
    pub reset: Signal<In, Bit>,

    /// Pieces in; tentative until `commit`.
    pub sink: MessageSink<SendPiece>,
    /// Pieces out, in order.
    pub source: MessageSource<SendPiece>,
    /// Show the pieces since the last commit, that of this cycle included.
    pub commit: Signal<In, Bit>,
    /// Drop the pieces since the last commit.
    pub discard: Signal<In, Bit>,
    /// There is no free space, and none will come.
    pub full: Signal<Out, Bit>,

    memory: BlockRam<SendPiece, 7>,
    write_pointer: DFF<Bits<8>>,
    commit_pointer: DFF<Bits<8>>,
    has_space: DFF<Bit>,
    is_full: DFF<Bit>,
    reader: ReadAhead<8>,

    held: Signal<Local, Bits<8>>,
    tentative: Signal<Local, Bits<8>>,
    held_after: Signal<Local, Bits<8>>,
    write_next: Signal<Local, Bits<8>>,
    write_after: Signal<Local, Bits<8>>,
    write: Signal<Local, Bit>,
}

impl Logic for PieceQueue {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, write_pointer, commit_pointer, has_space, is_full);
        clock!(self, clock, memory, reader);
        // Pointers that are 128 apart differ in their highest bit alone.
        self.held.next = self.write_pointer.q.val() ^ self.reader.pointer.val();
        self.tentative.next = self.write_pointer.q.val() ^ self.commit_pointer.q.val();
        self.write_next.next = self.write_pointer.q.val() + 1;
        self.held_after.next = self.write_next.val() ^ self.reader.pointer.val();
        self.write.next = self.sink.valid.val() & self.has_space.q.val();
        self.has_space.d.next =
            (self.held.val() != 128) & ((self.held_after.val() != 128) | !self.write.val());
        self.is_full.d.next =
            (self.tentative.val() == 128) & !self.commit.val() & !self.discard.val();
        self.full.next = self.is_full.q.val();
        self.sink.ready.next = self.has_space.q.val();
        self.memory.write_address.next = bit_cast::<7, 8>(self.write_pointer.q.val());
        self.memory.write_data.next = self.sink.payload.val();
        self.memory.write_enable.next = self.write.val();

        self.write_after.next = self.write_pointer.q.val();
        if self.write.val() {
            self.write_after.next = self.write_next.val();
        }
        self.write_pointer.d.next = self.write_after.val();
        if self.commit.val() {
            self.commit_pointer.d.next = self.write_after.val();
        }
        if self.discard.val() {
            self.write_pointer.d.next = self.commit_pointer.q.val();
        }

        self.reader.reset.next = self.reset.val();
        self.reader.stop.next = self.commit_pointer.q.val();
        self.reader.ready.next = self.source.ready.val();
        self.memory.read_enable.next = true;
        self.memory.read_address.next = bit_cast::<7, 8>(self.reader.address.val());
        self.memory.register_enable.next = self.reader.moves.val();
        self.source.valid.next = self.reader.offered.val();
        self.source.payload.next = self.memory.read_data.val();
        if self.reset.val() {
            self.write_pointer.d.next = 0.into();
            self.commit_pointer.d.next = 0.into();
            self.is_full.d.next = false;
        }
    }
}
