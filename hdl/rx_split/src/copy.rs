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
//! 2. Confirmations and flush reads wait until the last beat of every earlier job was taken; what
//!    follows a flush
//!    read waits for its answer. An answer that failed is an answer.
//! 3. `reset` forgets the job at hand.

use crate::align::{Align, AlignBeat};
use crate::feed::Feed;
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

    feed: Feed<A>,
    align: Align,
    state: DFF<CopyState>,

    job: Signal<Local, CopyJob>,
    idle: Signal<Local, Bit>,
    drained: Signal<Local, Bit>,
    is_write: Signal<Local, Bit>,
    is_release: Signal<Local, Bit>,
    is_confirmation: Signal<Local, Bit>,
    is_flush: Signal<Local, Bit>,
    flushed: Signal<Local, Bit>,
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
            feed: Default::default(),
            align: Default::default(),
            state: Default::default(),
            job: Default::default(),
            idle: Default::default(),
            drained: Default::default(),
            is_write: Default::default(),
            is_release: Default::default(),
            is_confirmation: Default::default(),
            flushed: Default::default(),
            is_flush: Default::default(),
            flush_bytes: Constant::new(FLUSH_BYTES.to_bits()),
        }
    }
}

impl<const A: usize> Logic for Copy<A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state);
        self.feed.clock.next = self.clock.val();
        self.align.clock.next = self.clock.val();
        self.align.reset.next = self.reset.val();
        PacketSource::link(&mut self.write_data, &mut self.align.source);
        PulseSource::<RingFetch>::link(&mut self.published, &mut self.align.published);
        MessageSource::<AlignBeat>::join(&mut self.feed.source, &mut self.align.sink);

        self.job.next = self.jobs.payload.val();
        self.memory.next = self.job.val().memory;
        self.idle.next = (self.state.q.val() == CopyState::Idle) & self.jobs.valid.val();
        self.is_write.next = self.job.val().kind == 0;
        self.is_release.next = self.job.val().kind == 1;
        self.is_confirmation.next = self.job.val().kind == 2;
        self.is_flush.next = self.job.val().kind == 3;
        self.drained.next = self.idle.val() & self.align.idle.val();
        self.feed.job.next = self.job.val();
        self.feed.load.next = self.state.q.val() == CopyState::Idle;
        self.feed.run.next = self.state.q.val() == CopyState::Read;
        self.feed.read_data.next = self.read_data.val();
        self.read_address.next = self.feed.read_address.val();

        self.write_job.valid.next = self.idle.val() & self.is_write.val();
        self.write_job.payload.next.address = self.job.val().address;
        self.write_job.payload.next.bytes = bit_cast::<16, 14>(self.job.val().bytes);
        self.write_job.payload.next.relaxed = self.job.val().relaxed;
        self.flush_job.valid.next = self.drained.val() & self.is_flush.val();
        self.flush_job.payload.next.address = self.flush_address.val();
        self.flush_job.payload.next.bytes = self.flush_bytes.val();
        self.flush_data.ready.next = self.state.q.val() == CopyState::Flush;
        self.flushed.next = (self.state.q.val() == CopyState::Flush)
            & self.flush_data.valid.val()
            & self.flush_data.last.val();
        self.confirmation.valid.next = self.drained.val() & self.is_confirmation.val();
        self.confirmation.payload.next.owner = self.job.val().owner;
        self.confirmation.payload.next.index = self.job.val().index;
        self.confirmation.payload.next.status = self.job.val().status;
        self.release.valid.next = (self.idle.val() & self.is_release.val())
            | (self.feed.finished.val() & self.job.val().release);
        self.release.payload.next = self.job.val().release_pointer;
        self.jobs.ready.next = (self.idle.val() & self.is_release.val())
            | (self.drained.val() & self.is_confirmation.val() & self.confirmation.ready.val())
            | self.feed.finished.val()
            | self.flushed.val();

        match self.state.q.val() {
            // Waits for a job and for the one who takes it.
            CopyState::Idle => {
                if self.idle.val() & self.is_write.val() & self.write_job.ready.val() {
                    self.state.d.next = CopyState::Read;
                }
                if self.drained.val() & self.is_flush.val() & self.flush_job.ready.val() {
                    self.state.d.next = CopyState::Flush;
                }
            }
            // Waits for the realigner to take the job's beats, or for the flush read to return.
            _ => {
                if self.feed.finished.val() | self.flushed.val() {
                    self.state.d.next = CopyState::Idle;
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = CopyState::Idle;
        }
    }
}
