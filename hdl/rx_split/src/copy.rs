//! The copy engine: reads the packet store, realigns and writes, job by job.
//!
//! ```text
//!  jobs ──► announce ──► feed ──► align ──► write_data
//!               │         └──► or: release, confirmation, flush read
//!               └─► write_job
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
//! Timing: a payload of n beats takes n + 1 cycles, a header slot two, when nothing stalls; there
//! is no pause between jobs. Latency from job to the first beat: five cycles.
//!
//! Invariants:
//! 1. A job's data are offered only after its `write_job` was taken.
//! 2. Confirmations and flush reads wait until the last beat of every earlier job was taken; what
//!    follows a flush read waits for its answer. An answer that failed is an answer.
//! 3. `reset` forgets the jobs inside.

use crate::align::{Align, AlignBeat};
use crate::announce::Announce;
use crate::feed::Feed;
use crate::messages::{CopyJob, Release};
use stream::prelude::*;

/// Bytes of a flush read.
pub const FLUSH_BYTES: u64 = 4;

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
    /// What the packet store may forget.
    pub release: PulseSource<Release>,

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

    announce: Announce,
    feed: Feed<A>,
    align: Align,
    flushing: DFF<Bit>,

    job: Signal<Local, CopyJob>,
    offered: Signal<Local, Bit>,
    drained: Signal<Local, Bit>,
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
            announce: Default::default(),
            feed: Default::default(),
            align: Default::default(),
            flushing: Default::default(),
            job: Default::default(),
            offered: Default::default(),
            drained: Default::default(),
            is_confirmation: Default::default(),
            is_flush: Default::default(),
            flushed: Default::default(),
            flush_bytes: Constant::new(FLUSH_BYTES.to_bits()),
        }
    }
}

impl<const A: usize> Logic for Copy<A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, flushing);
        self.announce.clock.next = self.clock.val();
        self.announce.reset.next = self.reset.val();
        self.feed.clock.next = self.clock.val();
        self.feed.reset.next = self.reset.val();
        self.align.clock.next = self.clock.val();
        self.align.reset.next = self.reset.val();
        MessageSink::<CopyJob>::link(&mut self.jobs, &mut self.announce.jobs);
        MessageSource::<WriteJob>::link(&mut self.write_job, &mut self.announce.write_job);
        PacketSource::link(&mut self.write_data, &mut self.align.source);
        PulseSource::<RingFetch>::link(&mut self.published, &mut self.align.published);
        MessageSource::<AlignBeat>::join(&mut self.feed.source, &mut self.align.sink);
        PulseSource::<Release>::link(&mut self.release, &mut self.feed.release);
        self.read_address.next = self.feed.read_address.val();
        self.feed.read_data.next = self.read_data.val();

        // Writes and releases go to the feed; the others wait until it has run dry.
        self.job.next = self.announce.announced.payload.val();
        self.memory.next = self.job.val().memory;
        self.is_confirmation.next = self.job.val().kind == 2;
        self.is_flush.next = self.job.val().kind == 3;
        self.offered.next = self.announce.announced.valid.val();
        self.feed.jobs.payload.next = self.job.val();
        self.feed.jobs.valid.next =
            self.offered.val() & !self.is_confirmation.val() & !self.is_flush.val();
        self.drained.next = self.offered.val() & self.feed.idle.val() & self.align.idle.val();

        self.confirmation.valid.next = self.drained.val() & self.is_confirmation.val();
        self.confirmation.payload.next.owner = self.job.val().owner;
        self.confirmation.payload.next.index = self.job.val().index;
        self.confirmation.payload.next.status = self.job.val().status;
        self.flush_job.valid.next =
            self.drained.val() & self.is_flush.val() & !self.flushing.q.val();
        self.flush_job.payload.next.address = self.flush_address.val();
        self.flush_job.payload.next.bytes = self.flush_bytes.val();
        self.flush_data.ready.next = self.flushing.q.val();
        self.flushed.next =
            self.flushing.q.val() & self.flush_data.valid.val() & self.flush_data.last.val();
        if self.drained.val()
            & self.is_flush.val()
            & !self.flushing.q.val()
            & self.flush_job.ready.val()
        {
            self.flushing.d.next = true;
        }
        if self.flushed.val() | self.reset.val() {
            self.flushing.d.next = false;
        }
        self.announce.announced.ready.next = self.feed.jobs.ready.val();
        if self.is_confirmation.val() {
            self.announce.announced.ready.next = self.drained.val() & self.confirmation.ready.val();
        }
        if self.is_flush.val() {
            self.announce.announced.ready.next = self.flushed.val();
        }
    }
}
