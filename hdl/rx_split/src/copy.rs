//! The copy engine: reads the packet store, realigns and writes, job by job.
//!
//! ```text
//!  jobs ──► hold ──► announce ──► feed ──► align ──┬─► join ──► write_data
//!            │ │         │         └──► release    └─► back to hold
//!            │ └─────────┼─────────────────────────────► join
//!            │           └─► join ──► write_job
//!            └─► flush reads, confirmations
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | jobs | in | what to do, in order |
//! | read_address, read_data | out, in | the packet store, one cycle latency |
//! | write_job, write_data | out | to `dma.write` |
//! | memory, flush_address | out, in | flush address of a memory, in the same cycle |
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
//! 2. Confirmations wait until the last beat of every earlier job was taken, or is held; for what
//!    is held, see [`crate::hold`].
//! 3. `reset` forgets the jobs inside.

use crate::align::{Align, AlignBeat};
use crate::announce::Announce;
use crate::feed::Feed;
use crate::hold::Hold;
use crate::messages::{CopyJob, Release};
use crate::write_join::WriteJoin;
use stream::prelude::*;

/// The engine: 2^A beats of packet store, 2^B owners; N must be 2^B. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Copy<const A: usize, const B: usize, const N: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Jobs.
    pub jobs: MessageSink<CopyJob>,
    /// Memory to flush.
    pub memory: Signal<Out, Bits<2>>,
    /// Where it is flushed.
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

    hold: Hold<B, N>,
    announce: Announce,
    feed: Feed<A>,
    align: Align,
    writes: WriteJoin,

    insists: DFF<Bit>,

    job: Signal<Local, CopyJob>,
    direct: Signal<Local, Bit>,
    released: Signal<Local, Bit>,
    offered: Signal<Local, Bit>,
    drained: Signal<Local, Bit>,
    is_confirmation: Signal<Local, Bit>,
}

impl<const A: usize, const B: usize, const N: usize> Logic for Copy<A, B, N> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, insists);
        self.hold.clock.next = self.clock.val();
        self.hold.reset.next = self.reset.val();
        self.announce.clock.next = self.clock.val();
        self.announce.reset.next = self.reset.val();
        self.feed.clock.next = self.clock.val();
        self.feed.reset.next = self.reset.val();
        self.align.clock.next = self.clock.val();
        self.align.reset.next = self.reset.val();
        self.writes.clock.next = self.clock.val();
        self.writes.reset.next = self.reset.val();
        MessageSink::<CopyJob>::link(&mut self.jobs, &mut self.hold.jobs);
        MessageSource::<CopyJob>::join(&mut self.hold.routed, &mut self.announce.jobs);
        MessageSource::<WriteJob>::join(&mut self.announce.write_job, &mut self.writes.direct_job);
        MessageSource::<WriteJob>::join(&mut self.hold.write_job, &mut self.writes.released_job);
        PacketSource::join(&mut self.align.source, &mut self.writes.direct_data);
        PacketSource::join(&mut self.hold.write_data, &mut self.writes.released_data);
        MessageSource::<WriteJob>::link(&mut self.write_job, &mut self.writes.write_job);
        PacketSource::link(&mut self.write_data, &mut self.writes.write_data);
        MessageSource::<AlignBeat>::join(&mut self.feed.source, &mut self.align.sink);
        PulseSource::<Release>::link(&mut self.release, &mut self.feed.release);
        self.read_address.next = self.feed.read_address.val();
        self.feed.read_data.next = self.read_data.val();
        self.hold.hold.next = self.align.hold.val();
        self.hold.hold_beat.next = self.align.hold_beat.val();
        self.hold.hold_data.next = self.align.held.val();
        self.memory.next = self.hold.memory.val();
        self.hold.flush_address.next = self.flush_address.val();
        MessageSource::<ReadJob>::link(&mut self.flush_job, &mut self.hold.flush_job);
        PacketSink::link(&mut self.flush_data, &mut self.hold.flush_data);

        // Writes and releases go to the feed; a confirmation waits until it has run dry.
        self.job.next = self.announce.announced.payload.val();
        self.is_confirmation.next = self.job.val().kind == 2;
        self.offered.next = self.announce.announced.valid.val();
        self.feed.jobs.payload.next = self.job.val();
        self.feed.jobs.valid.next = self.offered.val() & !self.is_confirmation.val();
        self.drained.next = self.offered.val() & self.feed.idle.val() & self.align.idle.val();
        self.announce.announced.ready.next = self.feed.jobs.ready.val();

        // What was held goes first, but for a direct one that was offered already.
        self.direct.next = self.drained.val() & self.is_confirmation.val();
        self.released.next = self.hold.confirmation.valid.val() & !self.insists.q.val();
        self.confirmation.valid.next = self.direct.val() | self.released.val();
        self.confirmation.payload.next.owner = self.job.val().owner;
        self.confirmation.payload.next.index = self.job.val().index;
        self.confirmation.payload.next.status = self.job.val().status;
        if self.released.val() {
            self.confirmation.payload.next = self.hold.confirmation.payload.val();
        }
        self.hold.confirmation.ready.next = self.released.val() & self.confirmation.ready.val();
        self.insists.d.next =
            self.direct.val() & !self.released.val() & !self.confirmation.ready.val();
        if self.is_confirmation.val() {
            self.announce.announced.ready.next =
                self.direct.val() & self.confirmation.ready.val() & !self.released.val();
        }
        if self.reset.val() {
            self.insists.d.next = false;
        }

        // One packet ends at a time.
        self.published.valid.next =
            self.align.published.valid.val() | self.hold.published.valid.val();
        self.published.payload.next = self.align.published.payload.val();
        if self.hold.published.valid.val() {
            self.published.payload.next = self.hold.published.payload.val();
        }
    }
}
