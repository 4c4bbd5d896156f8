//! Keeps fetched ring entries until the whole fetch is known to be good.
//!
//! ```text
//!  sink ──►┌──────────────────────────┐──► source
//!          │ 512 beats; committed part│
//!          │ | part being received    │──► held
//!          └──────────────────────────┘
//! ```
//! Timing: a packet can leave four cycles after its last beat came. One beat per cycle in and out,
//! except that none is taken in the cycle after a packet. `source.valid` and `held` are functions
//! of registers.
//!
//! Invariants:
//! 1. A packet leaves whole and in order, or not at all: when it is aborted, or `keep` is low while
//!    `finished` is high.
//! 2. `held` counts the beats in the buffer, those of the unfinished packet included.
//! 3. `finished` is high in the cycle after the one in which a last beat is taken.

use stream::prelude::*;

/// One stored beat of whole entries: always 64 bytes.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
struct EntryBeat {
    data: Bits<512>,
    last: Bit,
}

/// The buffer. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct FetchBuffer {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Empties the buffer.
    pub reset: Signal<In, Bit>,

    /// Packets of fetched entries.
    pub sink: PacketSink,
    /// The packet that has just ended may be kept; sampled while `finished` is high.
    pub keep: Signal<In, Bit>,
    /// A packet has ended in the cycle before (a register).
    pub finished: Signal<Out, Bit>,
    /// The packet that has just ended is aborted (a register).
    pub aborted: Signal<Out, Bit>,

    /// Packets that were kept, never aborted, 64 bytes in each beat.
    pub source: PacketSource,
    /// Beats in the buffer.
    pub held: Signal<Out, Bits<10>>,

    memory: BlockRam<EntryBeat, 9>,
    write_pointer: DFF<Bits<10>>,
    commit_pointer: DFF<Bits<10>>,
    is_full: DFF<Bit>,
    settles: DFF<Bit>,
    was_aborted: DFF<Bit>,
    reader: ReadAhead<10>,
    fills: StepMeets<10>,

    write: Signal<Local, Bit>,
    rolls_back: Signal<Local, Bit>,
    #[value(512)]
    wrap: Constant<Bits<10>>,
    #[value(1)]
    one: Constant<Bits<10>>,
    #[value(abi::config::BEAT_BYTES as u64)]
    beat_bytes: Constant<Bits<7>>,
}

impl Logic for FetchBuffer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, write_pointer, commit_pointer);
        dff_setup!(self, clock, is_full, settles, was_aborted);
        clock!(self, clock, memory, reader);

        // What becomes of a packet is decided in the cycle after its last beat.
        self.held.next = self.write_pointer.q.val() - self.reader.pointer.val();
        self.sink.ready.next = !self.is_full.q.val() & !self.settles.q.val();
        self.write.next = self.sink.valid.val() & !self.is_full.q.val() & !self.settles.q.val();
        self.settles.d.next = self.write.val() & self.sink.last.val();
        self.was_aborted.d.next = self.sink.abort.val();
        self.finished.next = self.settles.q.val();
        self.aborted.next = self.was_aborted.q.val();
        self.rolls_back.next = self.settles.q.val() & (self.was_aborted.q.val() | !self.keep.val());
        self.memory.write_address.next = self.write_pointer.q.val().get_bits::<9>(0);
        self.memory.write_data.next.data = self.sink.data.val();
        self.memory.write_data.next.last = self.sink.last.val();
        self.memory.write_enable.next = self.write.val();
        if self.write.val() {
            self.write_pointer.d.next = self.write_pointer.q.val() + self.one.val();
        } else if self.rolls_back.val() {
            self.write_pointer.d.next = self.commit_pointer.q.val();
        } else if self.settles.q.val() {
            self.commit_pointer.d.next = self.write_pointer.q.val();
        }

        // As in `FrameFifo`.
        self.fills.from.next = self.write_pointer.q.val();
        self.fills.to.next = self.reader.pointer.val() ^ self.wrap.val();
        self.is_full.d.next = !self.reader.moves.val()
            & !self.rolls_back.val()
            & (self.is_full.q.val() | (self.write.val() & self.fills.meets.val()));

        self.reader.reset.next = self.reset.val();
        self.reader.stop.next = self.commit_pointer.q.val();
        self.reader.ready.next = self.source.ready.val();
        self.memory.read_enable.next = true;
        self.memory.read_address.next = self.reader.address.val().get_bits::<9>(0);
        self.memory.register_enable.next = self.reader.moves.val();
        self.source.valid.next = self.reader.offered.val();
        self.source.data.next = self.memory.read_data.val().data;
        self.source.last.next = self.memory.read_data.val().last;
        self.source.byte_count.next = self.beat_bytes.val();
        self.source.abort.next = false;
        if self.reset.val() {
            self.write_pointer.d.next = 0.into();
            self.commit_pointer.d.next = 0.into();
            self.is_full.d.next = false;
            self.settles.d.next = false;
        }
    }
}
