//! A buffer of whole frames: what leaves it never pauses for want of input.
//!
//! ```text
//!   sink ──► write ──► 2^A beats ──► read ──► source
//!              │ commit at `last`, roll back when dropped
//! ```
//! Timing: a frame is offered three cycles after its last beat came in; one beat a cycle in and
//! out.
//!
//! Invariants:
//! 1. A frame is offered only when it is stored to its end: once `source.valid` rises for its first
//!    beat, it stays up until its last.
//! 2. Lossy: `sink.ready` is always high; a frame that does not fit is dropped whole and pulses
//!    `dropped`. Lossless: `sink.ready` falls when the buffer is full. A frame must fit into 2^A
//!    beats.
//! 3. With `discard_aborted`, an aborted frame is dropped whole, without a pulse; else it passes
//!    with its abort.
//! 4. Frames keep their order.
//! 5. `reset` empties the buffer; nothing is offered in the next cycle.

use crate::block_ram::BlockRam;
use crate::fifo_pointers::StepMeets;
use crate::messages::PacketBeat;
use crate::packet::{PacketSink, PacketSource};
use crate::read_ahead::ReadAhead;
use block_default::BlockDefault;
use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock};
use rust_hdl_widgets::dff::DFF;
use rust_hdl_widgets::dff_setup;

/// The buffer. See the module's head. P must be A + 1.
///
/// A buffer that drops what does not fit (`lossy`), or else holds its sink back.
#[derive(LogicBlock, BlockDefault)]
#[new(lossy: bool, discard_aborted: bool)]
#[require(P == A + 1, "pointer width must be address width + 1")]
pub struct FrameFifo<const A: usize, const P: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Empties the buffer.
    pub reset: Signal<In, Bit>,

    /// Frames in.
    pub sink: PacketSink,
    /// Whole frames out.
    pub source: PacketSource,
    /// A frame was dropped for want of room.
    pub dropped: Signal<Out, Bit>,
    /// Beats that it holds, frames that are not whole yet included but not the beat at `source`,
    /// one cycle late.
    pub level: Signal<Out, Bits<P>>,

    memory: BlockRam<PacketBeat, A>,
    write_pointer: DFF<Bits<P>>,
    commit_pointer: DFF<Bits<P>>,
    dropping: DFF<Bit>,
    beats: DFF<Bits<P>>,
    is_full: DFF<Bit>,
    reader: ReadAhead<P>,
    #[value(StepMeets::a_lap_later())]
    fills: StepMeets<P>,

    read_wrapped: Signal<Local, Bits<P>>,
    rolls_back: Signal<Local, Bit>,
    all_committed: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    store: Signal<Local, Bit>,
    write_next: Signal<Local, Bits<P>>,
    #[value(lossy)]
    lossy: Constant<Bit>,
    #[value(discard_aborted)]
    discard_aborted: Constant<Bit>,
    #[value(1 << A)]
    wrap: Constant<Bits<P>>,
    #[value(1)]
    one: Constant<Bits<P>>,
    #[value(0)]
    zero: Constant<Bits<P>>,
}

impl<const A: usize, const P: usize> Logic for FrameFifo<A, P> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, write_pointer, commit_pointer);
        dff_setup!(self, clock, dropping, beats, is_full);
        clock!(self, clock, memory, reader);
        // Write side: store beats beyond the commit pointer; the last one commits or rolls back.
        self.sink.ready.next = self.lossy.val() | !self.is_full.q.val();
        self.take.next = self.sink.valid.val() & (self.lossy.val() | !self.is_full.q.val());
        self.store.next = self.take.val() & !self.is_full.q.val() & !self.dropping.q.val();
        self.write_next.next = self.write_pointer.q.val() + self.one.val();
        self.rolls_back.next =
            self.sink.last.val() & self.sink.abort.val() & self.discard_aborted.val();
        self.memory.write_address.next = bit_cast::<A, P>(self.write_pointer.q.val());
        self.memory.write_data.next.data = self.sink.data.val();
        self.memory.write_data.next.byte_count = self.sink.byte_count.val();
        self.memory.write_data.next.last = self.sink.last.val();
        self.memory.write_data.next.abort = self.sink.abort.val();
        self.memory.write_enable.next = self.store.val();
        self.dropped.next = false;
        if self.store.val() {
            self.write_pointer.d.next = self.write_next.val();
            if self.rolls_back.val() {
                self.write_pointer.d.next = self.commit_pointer.q.val();
            } else if self.sink.last.val() {
                self.commit_pointer.d.next = self.write_next.val();
            }
        } else if self.take.val() {
            self.write_pointer.d.next = self.commit_pointer.q.val();
            self.dropping.d.next = !self.sink.last.val();
            self.dropped.next = self.sink.last.val();
        }

        // Full: the last place is taken, or what is committed takes all.
        self.read_wrapped.next = self.reader.pointer.val() ^ self.wrap.val();
        self.fills.from.next = self.write_pointer.q.val();
        self.fills.to.next = self.reader.pointer.val();
        self.all_committed.next = self.commit_pointer.q.val() == self.read_wrapped.val();
        self.is_full.d.next = !self.reader.moves.val()
            & ((self.store.val() & self.fills.meets.val() & !self.rolls_back.val())
                | (!self.take.val() & self.is_full.q.val())
                | (self.take.val() & !self.store.val() & self.all_committed.val()));

        self.reader.reset.next = self.reset.val();
        self.reader.stop.next = self.commit_pointer.q.val();
        self.reader.ready.next = self.source.ready.val();
        self.memory.read_enable.next = true;
        self.memory.read_address.next = bit_cast::<A, P>(self.reader.address.val());
        self.memory.register_enable.next = self.reader.moves.val();
        self.source.valid.next = self.reader.offered.val();
        self.source.data.next = self.memory.read_data.val().data;
        self.source.byte_count.next = self.memory.read_data.val().byte_count;
        self.source.last.next = self.memory.read_data.val().last;
        self.source.abort.next = self.memory.read_data.val().abort;
        self.beats.d.next = self.write_pointer.q.val() - self.reader.pointer.val();
        self.level.next = self.beats.q.val();
        if self.reset.val() {
            self.write_pointer.d.next = self.zero.val();
            self.commit_pointer.d.next = self.zero.val();
            self.dropping.d.next = false;
            self.is_full.d.next = false;
        }
    }
}
