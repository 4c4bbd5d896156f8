//! The copy engine: reads the packet store, realigns and writes, job by job.
//!
//! ```text
//!  jobs ──► write_job ──► beats of the packet ──► align ──► write_data
//!      └──► or: release, confirmation, flush read
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | jobs | in | what to do, in order |
//! | read_address, read_data | out, in | the packet store, one cycle latency |
//! | write_job, write_data | out | to `dma.write` |
//! | flush_job, flush_data | out, in | to `dma.read` |
//! | confirmation | out | confirmations, behind the last beat of every job before them |
//! | release | out | the packet was read for the last time |
//! | published | out | a header entry was handed over |
//!
//! Timing: a write of n beats takes n + 2 cycles when nothing stalls.
//!
//! Invariants:
//! 1. A job's data are offered only after its `write_job` was taken.
//! 2. Confirmations and flush reads wait until the last beat of every earlier job was taken; what follows a flush
//!    read waits for its answer. An answer that failed is an answer.
//! 3. `reset` forgets the job at hand.

use crate::align::{Align, AlignBeat};
use crate::messages::CopyJob;
use stream::prelude::*;

/// Bytes of a flush read.
pub const FLUSH_BYTES: u64 = 4;

/// What the engine waits for.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum CopyState {
    /// A job, and the one who takes its first message.
    Idle,
    /// The realigner takes beats.
    Read,
    /// The flush read returns.
    Flush,
}

/// The engine. See the module's head.
#[derive(LogicBlock)]
pub struct Copy<const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Jobs.
    pub jobs: MessageSink<CopyJob>,
    /// Memory that the job flushes.
    pub memory: Signal<Out, Bits<2>>,
    /// Flush read address of that memory.
    pub flush_address: Signal<In, Bits<64>>,
    /// Beat to read.
    pub read_address: Signal<Out, Bits<A>>,
    /// That beat, one cycle later.
    pub read_data: Signal<In, Bits<512>>,
    /// The packet store may forget what lies before.
    pub release: PulseSource<Bits<16>>,

    /// Write jobs.
    pub write_job: MessageSource<WriteJob>,
    /// Their bytes.
    pub write_data: PacketSource,
    /// Flush reads.
    pub flush_job: MessageSource<ReadJob>,
    /// Their answers.
    pub flush_data: PacketSink,
    /// Confirmations.
    pub confirmation: MessageSource<Confirmation>,
    /// A header entry was handed over.
    pub published: PulseSource<RingFetch>,

    align: Align,
    state: DFF<CopyState>,
    pointer: DFF<Bits<16>>,
    first: DFF<Bit>,
    left: DFF<Bits<14>>,
    keep_left: DFF<Bits<14>>,

    job: Signal<Local, CopyJob>,
    beat: Signal<Local, AlignBeat>,
    pointer_next: Signal<Local, Bits<16>>,
    is_last: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    beat_bytes: Constant<Bits<14>>,
    flush_bytes: Constant<Bits<16>>,
}

impl<const A: usize> Default for Copy<A> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            jobs: Default::default(),
            memory: Default::default(),
            flush_address: Default::default(),
            read_address: Default::default(),
            read_data: Default::default(),
            release: Default::default(),
            write_job: Default::default(),
            write_data: Default::default(),
            flush_job: Default::default(),
            flush_data: Default::default(),
            confirmation: Default::default(),
            published: Default::default(),
            align: Default::default(),
            state: Default::default(),
            pointer: Default::default(),
            first: Default::default(),
            left: Default::default(),
            keep_left: Default::default(),
            job: Default::default(),
            beat: Default::default(),
            pointer_next: Default::default(),
            is_last: Default::default(),
            taken: Default::default(),
            beat_bytes: Constant::new(64u64.to_bits()),
            flush_bytes: Constant::new(FLUSH_BYTES.to_bits()),
        }
    }
}

impl<const A: usize> Logic for Copy<A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, pointer, first, left, keep_left);
        self.align.clock.next = self.clock.val();
        self.align.reset.next = self.reset.val();
        PacketSource::link(&mut self.write_data, &mut self.align.source);
        PulseSource::<RingFetch>::link(&mut self.published, &mut self.align.published);

        self.job.next = self.jobs.payload.val();
        self.memory.next = self.job.val().memory;
        self.jobs.ready.next = false;
        self.write_job.valid.next = false;
        self.write_job.payload.next.address = self.job.val().address;
        self.write_job.payload.next.bytes = bit_cast::<16, 14>(self.job.val().bytes);
        self.write_job.payload.next.relaxed = self.job.val().relaxed;
        self.flush_job.valid.next = false;
        self.flush_job.payload.next.address = self.flush_address.val();
        self.flush_job.payload.next.bytes = self.flush_bytes.val();
        self.flush_data.ready.next = self.state.q.val() == CopyState::Flush;
        self.confirmation.valid.next = false;
        self.confirmation.payload.next.owner = self.job.val().owner;
        self.confirmation.payload.next.index = self.job.val().index;
        self.confirmation.payload.next.status = self.job.val().status;
        self.release.valid.next = false;
        self.release.payload.next = self.job.val().release_pointer;

        // The beat for the realigner.
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
        self.align.sink.valid.next = self.state.q.val() == CopyState::Read;
        self.align.sink.payload.next = self.beat.val();
        self.taken.next = (self.state.q.val() == CopyState::Read) & self.align.sink.ready.val();

        // The packet store is addressed one cycle ahead.
        self.pointer_next.next = self.pointer.q.val();
        if self.taken.val() & !(self.first.q.val() & self.job.val().head) {
            self.pointer_next.next = self.pointer.q.val() + 1;
        }
        if self.state.q.val() == CopyState::Idle {
            self.pointer_next.next = self.job.val().start;
        }
        self.pointer.d.next = self.pointer_next.val();
        self.read_address.next = bit_cast::<A, 16>(self.pointer_next.val());

        match self.state.q.val() {
            // Waits for a job and for the one who takes it.
            CopyState::Idle => {
                self.first.d.next = true;
                self.left.d.next = self.job.val().bytes;
                self.keep_left.d.next = self.job.val().keep;
                if self.jobs.valid.val() {
                    if self.job.val().kind == 0 {
                        self.write_job.valid.next = true;
                        if self.write_job.ready.val() {
                            self.state.d.next = CopyState::Read;
                        }
                    }
                    if self.job.val().kind == 1 {
                        self.jobs.ready.next = true;
                        self.release.valid.next = true;
                    }
                    if self.job.val().kind == 2 {
                        self.confirmation.valid.next = self.align.idle.val();
                        self.jobs.ready.next =
                            self.align.idle.val() & self.confirmation.ready.val();
                    }
                    if (self.job.val().kind == 3) & self.align.idle.val() {
                        self.flush_job.valid.next = true;
                        if self.flush_job.ready.val() {
                            self.state.d.next = CopyState::Flush;
                        }
                    }
                }
            }
            // Waits for the realigner to take the job's beats.
            CopyState::Read => {
                if self.taken.val() {
                    self.first.d.next = false;
                    if !self.first.q.val() {
                        self.left.d.next = self.left.q.val() - self.beat_bytes.val();
                        self.keep_left.d.next = self.keep_left.q.val() - self.beat_bytes.val();
                        if self.keep_left.q.val() < self.beat_bytes.val() {
                            self.keep_left.d.next = bits::<14>(0);
                        }
                        if self.is_last.val() {
                            self.jobs.ready.next = true;
                            self.release.valid.next = self.job.val().release;
                            self.state.d.next = CopyState::Idle;
                        }
                    }
                }
            }
            // Waits for the answer of the flush read.
            CopyState::Flush => {
                if self.flush_data.valid.val() & self.flush_data.last.val() {
                    self.jobs.ready.next = true;
                    self.state.d.next = CopyState::Idle;
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = CopyState::Idle;
        }
    }
}
