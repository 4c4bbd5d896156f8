//! Reads a job's beats from the packet store and tells the realigner what to do with each.
//!
//! ```text
//!  job ──► [metadata] ─► beat 0 ─► beat 1 ─► ... ──► source
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | job | in | held from `load` on until `finished` |
//! | load | in | the job begins in the next cycle |
//! | run | in | beats are offered |
//! | read_address, read_data | out, in | the packet store, one cycle latency |
//! | source | out | beats; the first fills the realigner |
//! | finished | out | the job's last beat is taken in this cycle |
//!
//! Timing: one beat a cycle; a job of n beats gives n + 1.
//!
//! Invariants:
//! 1. The last beat may lie behind the packet: none of its bytes is kept.

use crate::align::AlignBeat;
use crate::messages::CopyJob;
use abi::config::BEAT_BYTES;
use stream::prelude::*;

/// The reader. See the module's head.
#[derive(LogicBlock)]
pub struct Feed<const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// The job.
    pub job: Signal<In, CopyJob>,
    /// It begins in the next cycle.
    pub load: Signal<In, Bit>,
    /// It runs.
    pub run: Signal<In, Bit>,
    /// Beat to read.
    pub read_address: Signal<Out, Bits<A>>,
    /// That beat, one cycle later.
    pub read_data: Signal<In, Bits<512>>,
    /// To the realigner.
    pub source: MessageSource<AlignBeat>,
    /// The last beat is taken.
    pub finished: Signal<Out, Bit>,

    pointer: DFF<Bits<16>>,
    first: DFF<Bit>,
    left: DFF<Bits<14>>,
    keep_left: DFF<Bits<14>>,
    beat: Signal<Local, AlignBeat>,
    pointer_next: Signal<Local, Bits<16>>,
    is_last: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    beat_bytes: Constant<Bits<14>>,
}

impl<const A: usize> Default for Feed<A> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            job: Default::default(),
            load: Default::default(),
            run: Default::default(),
            read_address: Default::default(),
            read_data: Default::default(),
            source: Default::default(),
            finished: Default::default(),
            pointer: Default::default(),
            first: Default::default(),
            left: Default::default(),
            keep_left: Default::default(),
            beat: Default::default(),
            pointer_next: Default::default(),
            is_last: Default::default(),
            taken: Default::default(),
            beat_bytes: Constant::new((BEAT_BYTES as u64).to_bits()),
        }
    }
}

impl<const A: usize> Logic for Feed<A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, pointer, first, left, keep_left);
        self.is_last.next = self.left.q.val() <= self.beat_bytes.val();
        self.beat.next.data = self.read_data.val();
        if self.first.q.val() & self.job.val().head {
            self.beat.next.data = bit_cast::<512, 256>(self.job.val().metadata) << 256;
        }
        self.beat.next.first = self.first.q.val();
        self.beat.next.shift = self.job.val().shift;
        self.beat.next.byte_count = bits::<7>(64);
        self.beat.next.keep = bits::<7>(64);
        if self.is_last.val() {
            self.beat.next.byte_count = bit_cast::<7, 14>(self.left.q.val());
        }
        if self.keep_left.q.val() < self.beat_bytes.val() {
            self.beat.next.keep = bit_cast::<7, 14>(self.keep_left.q.val());
        }
        self.beat.next.last = self.is_last.val();
        self.beat.next.publish = self.job.val().publish;
        self.beat.next.owner = self.job.val().owner;
        self.beat.next.index = self.job.val().index;
        self.source.valid.next = self.run.val();
        self.source.payload.next = self.beat.val();
        self.taken.next = self.run.val() & self.source.ready.val();
        self.finished.next = self.taken.val() & !self.first.q.val() & self.is_last.val();

        // The packet store is addressed one cycle ahead.
        self.pointer_next.next = self.pointer.q.val();
        if self.taken.val() & !(self.first.q.val() & self.job.val().head) {
            self.pointer_next.next = self.pointer.q.val() + 1;
        }
        if self.load.val() {
            self.pointer_next.next = self.job.val().start;
        }
        self.pointer.d.next = self.pointer_next.val();
        self.read_address.next = bit_cast::<A, 16>(self.pointer_next.val());

        if self.taken.val() {
            self.first.d.next = false;
        }
        if self.taken.val() & !self.first.q.val() {
            self.left.d.next = self.left.q.val() - self.beat_bytes.val();
            self.keep_left.d.next = self.keep_left.q.val() - self.beat_bytes.val();
            if self.keep_left.q.val() < self.beat_bytes.val() {
                self.keep_left.d.next = bits::<14>(0);
            }
        }
        if self.load.val() {
            self.first.d.next = true;
            self.left.d.next = self.job.val().bytes;
            self.keep_left.d.next = self.job.val().keep;
        }
    }
}
