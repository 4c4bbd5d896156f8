//! A buffer of whole frames: once a frame leaves it, its beats never pause for want of input.
//!
//! ```text
//!   sink ──► write ──► 2^ADDRESS_BITS beats ──► read ──► source
//!              │ commit at `last`, roll back when dropped
//! ```
//! Timing: a frame is offered three cycles after its last beat came in; one beat per cycle in and
//! out. `source.valid` and `level` are registers, `dropped` follows `sink` in the same cycle.
//!
//! Invariants:
//! 1. A frame is offered only when it is stored to its end: once `source.valid` rises for its first
//!    beat, it stays high until its last.
//! 2. Lossy: `sink.ready` is always high; a frame that does not fit is dropped whole and pulses
//!    `dropped`. Lossless: `sink.ready` falls when the buffer is full. A frame must fit into
//!    2^ADDRESS_BITS beats.
//! 3. Frames keep their order.
//!
//! On error: with `discard_aborted`, an aborted frame is dropped whole, without a pulse; otherwise
//! it passes with its abort.
//!
//! POINTER_BITS must be ADDRESS_BITS + 1: the pointers carry one wrap bit.

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

/// The buffer. See the module's head. POINTER_BITS must be A + 1.
///
/// A buffer that drops what does not fit (`lossy`), or else holds its sink back.
#[derive(LogicBlock, BlockDefault)]
#[new(lossy: bool, discard_aborted: bool)]
#[require(POINTER_BITS == ADDRESS_BITS + 1, "pointer width must be address width + 1")]
pub struct FrameFifo<const ADDRESS_BITS: usize, const POINTER_BITS: usize> {
    /// Clock of both sides.
    pub clock: Signal<In, Clock>,
    /// Empties the buffer; nothing is offered in the next cycle.
    pub reset: Signal<In, Bit>,

    /// Frames in.
    pub sink: PacketSink,
    /// Whole frames out.
    pub source: PacketSource,
    /// A frame was dropped because it did not fit; high in the cycle of its last beat.
    pub dropped: Signal<Out, Bit>,
    /// Beats held, one cycle late: those of incomplete frames included, the beat at `source` not.
    pub level: Signal<Out, Bits<POINTER_BITS>>,

    memory: BlockRam<PacketBeat, ADDRESS_BITS>,
    write_pointer: DFF<Bits<POINTER_BITS>>,
    commit_pointer: DFF<Bits<POINTER_BITS>>,
    dropping: DFF<Bit>,
    beats: DFF<Bits<POINTER_BITS>>,
    is_full: DFF<Bit>,
    reader: ReadAhead<POINTER_BITS>,
    #[value(StepMeets::a_lap_later())]
    fills: StepMeets<POINTER_BITS>,

    read_wrapped: Signal<Local, Bits<POINTER_BITS>>,
    rolls_back: Signal<Local, Bit>,
    all_committed: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    store: Signal<Local, Bit>,
    write_next: Signal<Local, Bits<POINTER_BITS>>,
    #[value(lossy)]
    lossy: Constant<Bit>,
    #[value(discard_aborted)]
    discard_aborted: Constant<Bit>,
    #[value(1 << ADDRESS_BITS)]
    wrap: Constant<Bits<POINTER_BITS>>,
    #[value(1)]
    one: Constant<Bits<POINTER_BITS>>,
}

impl<const ADDRESS_BITS: usize, const POINTER_BITS: usize> Logic
    for FrameFifo<ADDRESS_BITS, POINTER_BITS>
{
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
        self.memory.write_address.next =
            bit_cast::<ADDRESS_BITS, POINTER_BITS>(self.write_pointer.q.val());
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
        self.memory.read_address.next =
            bit_cast::<ADDRESS_BITS, POINTER_BITS>(self.reader.address.val());
        self.memory.register_enable.next = self.reader.moves.val();
        self.source.valid.next = self.reader.offered.val();
        self.source.data.next = self.memory.read_data.val().data;
        self.source.byte_count.next = self.memory.read_data.val().byte_count;
        self.source.last.next = self.memory.read_data.val().last;
        self.source.abort.next = self.memory.read_data.val().abort;
        self.beats.d.next = self.write_pointer.q.val() - self.reader.pointer.val();
        self.level.next = self.beats.q.val();
        if self.reset.val() {
            self.write_pointer.d.next = 0.into();
            self.commit_pointer.d.next = 0.into();
            self.dropping.d.next = false;
            self.is_full.d.next = false;
        }
    }
}
