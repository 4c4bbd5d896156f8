//! A buffer of whole frames: what leaves it never pauses for want of input.
//!
//! ```text
//!   sink ──► write ──► 2^A beats ──► read ──► source
//!              │ commit at `last`, roll back when dropped
//! ```
//! Timing: a frame is offered two cycles after its last beat came in; one beat a cycle in and out.
//! The memory is addressed one cycle ahead, so that its output register is the head.
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

use crate::fifo_pointers::{SamePlace, StepMeets};
use crate::memory::BlockRam;
use crate::messages::PacketBeat;
use crate::packet::{PacketSink, PacketSource};
use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock};
use rust_hdl_widgets::dff::DFF;
use rust_hdl_widgets::dff_setup;

/// The buffer. See the module's head. P must be A + 1.
#[derive(LogicBlock)]
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
    /// Beats that it holds, frames that are not whole yet included, one cycle late.
    pub level: Signal<Out, Bits<P>>,

    memory: BlockRam<PacketBeat, A>,
    write_pointer: DFF<Bits<P>>,
    commit_pointer: DFF<Bits<P>>,
    read_pointer: DFF<Bits<P>>,
    offered: DFF<Bit>,
    dropping: DFF<Bit>,
    beats: DFF<Bits<P>>,
    is_full: DFF<Bit>,
    fills: StepMeets<P>,
    is_one_left: StepMeets<P>,
    all_read: SamePlace<P>,

    read_wrapped: Signal<Local, Bits<P>>,
    rolls_back: Signal<Local, Bit>,
    all_committed: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    store: Signal<Local, Bit>,
    write_next: Signal<Local, Bits<P>>,
    advance: Signal<Local, Bit>,
    read_next: Signal<Local, Bits<P>>,
    lossy: Constant<Bit>,
    discard_aborted: Constant<Bit>,
    wrap: Constant<Bits<P>>,
    one: Constant<Bits<P>>,
    zero: Constant<Bits<P>>,
}

impl<const A: usize, const P: usize> FrameFifo<A, P> {
    /// A buffer that drops what does not fit (`lossy`), or else holds its sink back.
    pub fn new(lossy: bool, discard_aborted: bool) -> Self {
        assert_eq!(P, A + 1, "pointer width must be address width + 1");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            sink: Default::default(),
            source: Default::default(),
            dropped: Default::default(),
            level: Default::default(),
            memory: Default::default(),
            write_pointer: Default::default(),
            commit_pointer: Default::default(),
            read_pointer: Default::default(),
            offered: Default::default(),
            dropping: Default::default(),
            beats: Default::default(),
            is_full: Default::default(),
            read_wrapped: Default::default(),
            fills: StepMeets::a_lap_later(),
            rolls_back: Default::default(),
            all_committed: Default::default(),
            take: Default::default(),
            store: Default::default(),
            write_next: Default::default(),
            advance: Default::default(),
            is_one_left: Default::default(),
            all_read: Default::default(),
            read_next: Default::default(),
            lossy: Constant::new(lossy),
            discard_aborted: Constant::new(discard_aborted),
            wrap: Constant::new((1u64 << A).to_bits()),
            one: Constant::new(1u64.to_bits()),
            zero: Constant::new(0u64.to_bits()),
        }
    }
}

impl<const A: usize, const P: usize> Logic for FrameFifo<A, P> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, write_pointer, commit_pointer, read_pointer);
        dff_setup!(self, clock, offered, dropping, beats, is_full);
        self.memory.clock.next = self.clock.val();
        // Write side: store beats beyond the commit pointer; the last one commits or rolls back.
        self.sink.ready.next = self.lossy.val() | !self.is_full.q.val();
        self.take.next = self.sink.valid.val() & (self.lossy.val() | !self.is_full.q.val());
        self.store.next = self.take.val() & !self.is_full.q.val() & !self.dropping.q.val();
        self.write_next.next = self.write_pointer.q.val() + self.one.val();
        self.rolls_back.next =
            self.sink.last.val() & self.sink.abort.val() & self.discard_aborted.val();
        self.advance.next = self.offered.q.val() & self.source.ready.val();
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
        self.read_wrapped.next = self.read_pointer.q.val() ^ self.wrap.val();
        self.fills.from.next = self.write_pointer.q.val();
        self.fills.to.next = self.read_pointer.q.val();
        self.all_committed.next = self.commit_pointer.q.val() == self.read_wrapped.val();
        self.is_full.d.next = !self.advance.val()
            & ((self.store.val() & self.fills.meets.val() & !self.rolls_back.val())
                | (!self.take.val() & self.is_full.q.val())
                | (self.take.val() & !self.store.val() & self.all_committed.val()));
        self.is_one_left.from.next = self.read_pointer.q.val();
        self.is_one_left.to.next = self.commit_pointer.q.val();
        self.read_next.next = self.read_pointer.q.val();
        self.all_read.one.next = self.read_pointer.q.val();
        self.all_read.other.next = self.commit_pointer.q.val();
        self.offered.d.next = !self.all_read.same.val();
        if self.advance.val() {
            self.read_next.next = self.read_pointer.q.val() + self.one.val();
            self.offered.d.next = !self.is_one_left.meets.val();
        }
        self.read_pointer.d.next = self.read_next.val();
        self.memory.read_enable.next = true;
        self.memory.read_address.next = bit_cast::<A, P>(self.read_next.val());
        self.source.valid.next = self.offered.q.val();
        self.source.data.next = self.memory.read_data.val().data;
        self.source.byte_count.next = self.memory.read_data.val().byte_count;
        self.source.last.next = self.memory.read_data.val().last;
        self.source.abort.next = self.memory.read_data.val().abort;
        self.beats.d.next = self.write_pointer.q.val() - self.read_pointer.q.val();
        self.level.next = self.beats.q.val();
        if self.reset.val() {
            self.write_pointer.d.next = self.zero.val();
            self.commit_pointer.d.next = self.zero.val();
            self.read_pointer.d.next = self.zero.val();
            self.offered.d.next = false;
            self.dropping.d.next = false;
            self.is_full.d.next = false;
        }
    }
}
