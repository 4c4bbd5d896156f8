//! The copy engine: reads the packet buffer, realigns and writes, job by job.
//!
//! ```text
//!  jobs ──► hold ──► queue (8) ──► announce ──► feed ──► align ──┬─► join ──► write_data
//!            │ │                     │         └──► release    └─► back to hold
//!            │ └─────────────────────┼─────────────────────────────► join
//!            │                       └─► join ──► write_job
//!            │                       └─► fences ─► confirmation
//!            └─► flush reads, confirmation
//! ```
//! Timing: a write of n beats takes n cycles when nothing stalls; there is no pause between jobs.
//! Latency from a job to its first beat: four cycles.
//!
//! Invariants:
//! 1. A job's data are offered only after its `write_job` was taken.
//! 2. Confirmations wait until the last beat of every earlier job was taken, or is held; what
//!    follows them does not wait. For what is held, see [`crate::hold`].
//! 3. `reset` forgets the jobs inside.
//!
//! Source: docs/specification.md, Delivery, Fence, Hold and Writes; decision 6.

pub mod announce;
pub mod feed;
pub mod feed_beat;
pub mod fences;
pub mod write_join;

use crate::align::{Align, AlignBeat, BeatPair};
use crate::copy::announce::Announce;
use crate::copy::feed::Feed;
use crate::copy::fences::Fences;
use crate::copy::write_join::WriteJoin;
use crate::hold::Hold;
use crate::messages::{CopyJob, CopyKind, Release};
use stream::prelude::*;
use stream::pulse_merge::PulseMerge;

/// The engine, for a packet buffer of 2^BUFFER_BITS beats and 2^OWNER_BITS owners; OWNERS must be
/// 2^OWNER_BITS. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Copy<const BUFFER_BITS: usize, const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: all jobs inside, held ones too, are forgotten.
    pub reset: Signal<In, Bit>,

    /// Jobs in order.
    pub jobs: MessageSink<CopyJob>,
    /// Owner of the job that is offered in the next cycle, if one is.
    pub next_owner: Signal<In, Bits<8>>,
    /// A slot that waits for no memory is taken if it is offered; from registers.
    pub slot_passes: Signal<Out, Bit>,
    /// Memory to flush.
    pub memory: Signal<Out, Bits<2>>,
    /// Address of the flush read of `memory`, in the same cycle.
    pub flush_address: Signal<In, Bits<64>>,
    /// Beat of the packet buffer to read.
    pub read_address: Signal<Out, Bits<BUFFER_BITS>>,
    /// Reads `read_address`; without it `read_data` must keep its value.
    pub read_enable: Signal<Out, Bit>,
    /// Beat that was read and the one after it, one cycle after `read_enable`.
    pub read_data: Signal<In, BeatPair>,
    /// Packets that were read for the last time: the beats before the pointer are free.
    pub release: PulseSource<Release>,

    /// Jobs to `dma.write`.
    pub write_job: MessageSource<WriteJob>,
    /// Bytes of the write jobs, one packet for each job, or one for two jobs that share a beat.
    pub write_data: PacketSource,
    /// Flush reads to `dma.read`.
    pub flush_job: MessageSource<ReadJob>,
    /// Read data of the flush reads, in order.
    pub flush_data: PacketSink,
    /// Confirmations, each after the last beat of every job before it.
    pub confirmation: MessageSource<Confirmation>,
    /// One pulse for each header entry that was handed over.
    pub published: PulseSource<RingFetch>,

    hold: Hold<OWNER_BITS, OWNERS>,
    queue: Fifo<CopyJob, 3, 4>,
    announce: Announce,
    feed: Feed<BUFFER_BITS>,
    align: Align,
    kept: BlockRam<Bits<512>, 6>,
    fences: Fences,
    writes: WriteJoin,
    ends: PulseMerge<RingFetch>,

    job: Signal<Local, CopyJob>,
    offered: Signal<Local, Bit>,
    is_confirmation: Signal<Local, Bit>,
}

impl<const BUFFER_BITS: usize, const OWNER_BITS: usize, const OWNERS: usize> Logic
    for Copy<BUFFER_BITS, OWNER_BITS, OWNERS>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, hold, queue, announce, feed, align, fences);
        clock!(self, clock, writes, kept);
        self.hold.reset.next = self.reset.val();
        self.queue.reset.next = self.reset.val();
        self.announce.reset.next = self.reset.val();
        self.feed.reset.next = self.reset.val();
        self.align.reset.next = self.reset.val();
        self.fences.reset.next = self.reset.val();
        self.writes.reset.next = self.reset.val();
        MessageSink::<CopyJob>::link(&mut self.jobs, &mut self.hold.jobs);
        self.hold.next_owner.next = self.next_owner.val();
        self.slot_passes.next = !self.hold.owner_holds.val() & self.queue.sink.ready.val();
        self.hold.drained.next = !self.queue.source.valid.val();
        MessageSource::<CopyJob>::join(&mut self.hold.routed, &mut self.queue.sink);
        MessageSource::<CopyJob>::join(&mut self.queue.source, &mut self.announce.jobs);
        MessageSource::<WriteJob>::join(&mut self.announce.write_job, &mut self.writes.direct_job);
        MessageSource::<WriteJob>::join(&mut self.hold.write_job, &mut self.writes.released_job);
        PacketSource::join(&mut self.align.source, &mut self.writes.direct_data);
        self.writes.shared.next = self.align.shared.val();
        self.writes.metadata.next = self.align.metadata.val();
        PacketSource::join(&mut self.hold.write_data, &mut self.writes.released_data);
        MessageSource::<WriteJob>::link(&mut self.write_job, &mut self.writes.write_job);
        PacketSource::link(&mut self.write_data, &mut self.writes.write_data);
        MessageSource::<AlignBeat>::join(&mut self.feed.source, &mut self.align.sink);
        PulseSource::<Release>::link(&mut self.release, &mut self.feed.release);
        self.read_address.next = self.feed.read_address.val();
        self.read_enable.next = self.feed.read_enable.val();
        self.feed.read_data.next = self.read_data.val();
        self.hold.hold.next = self.align.hold.val();
        self.hold.hold_beat.next = self.align.hold_beat.val();
        self.hold.hold_data.next = self.align.held.val();
        self.hold.hold_memories.next = self.align.hold_memories.val();
        // Headers of open runs. What is read moves on with the beats of the feed.
        self.kept.write_enable.next = self.align.keep.val();
        self.kept.write_address.next = self.align.keep_beat.val();
        self.kept.write_data.next = self.align.keep_data.val();
        self.kept.read_address.next = self.feed.kept_beat.val();
        self.kept.read_enable.next = self.feed.moves.val();
        self.kept.register_enable.next = self.feed.moves.val();
        self.align.kept.next = self.kept.read_data.val();
        self.memory.next = self.hold.memory.val();
        self.hold.flush_address.next = self.flush_address.val();
        MessageSource::<ReadJob>::link(&mut self.flush_job, &mut self.hold.flush_job);
        PacketSink::link(&mut self.flush_data, &mut self.hold.flush_data);

        // Writes and releases go to the feed, confirmations to the fences.
        self.job.next = self.announce.announced.payload.val();
        self.is_confirmation.next = self.job.val().kind == CopyKind::Confirm;
        self.offered.next = self.announce.announced.valid.val();
        self.feed.jobs.payload.next = self.job.val();
        self.feed.jobs.valid.next = self.offered.val() & !self.is_confirmation.val();
        self.announce.announced.ready.next = self.feed.jobs.ready.val();
        self.announce.fence_has_space.next = self.fences.has_space.val();
        self.fences.job.next = self.job.val();
        self.fences.passes.next = self.offered.val() & self.is_confirmation.val();
        // Two jobs that share a beat make one packet.
        self.fences.fed.next = self.feed.jobs.valid.val()
            & self.feed.jobs.ready.val()
            & self.job.val().writes
            & !self.job.val().shares;
        self.fences.landed.next = self.align.source.valid.val()
            & self.align.source.last.val()
            & self.writes.direct_data.ready.val();

        MessageSource::<Confirmation>::join(&mut self.hold.confirmation, &mut self.fences.released);
        MessageSource::<Confirmation>::link(&mut self.confirmation, &mut self.fences.confirmation);

        // One packet ends at a time.
        PulseSource::<RingFetch>::join(&mut self.hold.published, &mut self.ends.first);
        PulseSource::<RingFetch>::join(&mut self.align.published, &mut self.ends.second);
        PulseSource::<RingFetch>::link(&mut self.published, &mut self.ends.source);
    }
}
