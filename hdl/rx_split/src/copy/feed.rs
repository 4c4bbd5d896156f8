//! Reads the beats of copy jobs from the packet buffer, without a pause between jobs, each with
//! what the realigner needs.
//!
//! ```text
//!  jobs ──► beats of the job ──► [buffer read] ──┬─► [register] ──► source
//!                                               └─► [register] ──► release
//! ```
//! Timing: one beat per cycle, latency two cycles. A write of n beats takes n cycles, a release
//! one. `jobs.ready` is high at once for a confirmation, which passes elsewhere.
//!
//! Invariants:
//! 1. Releases are in the order of the jobs.
//! 2. Of the last two beats the second may lie past the packet: none of its bytes is used.

use crate::align::{AlignBeat, BeatPair};
use crate::copy::feed_beat::{FeedBeat, FeedPlace};
use crate::messages::{CopyJob, CopyKind, Release};
use stream::prelude::*;

/// A step of a job on its way through the packet buffer's read port.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FeedStep {
    /// A beat for the realigner; its data are still missing.
    pub beat: AlignBeat,
    /// The step has a beat.
    pub has_beat: Bit,
    /// The last step of a packet's last job.
    pub releases: Bit,
    /// The part of the packet buffer that this step gives back.
    pub release: Release,
}

/// Whether a kept beat has to wait: one that is still being kept cannot be read. Combinational, and
/// a block of its own, so that no logic for area puts it behind `source.ready`.
#[derive(LogicBlock, Default)]
pub struct KeptWait {
    /// The job reads a kept beat next.
    pub reads: Signal<In, Bit>,
    /// The beat that is being read from the packet buffer will be kept.
    pub read_keeps: Signal<In, Bit>,
    /// The beat at `source` will be kept.
    pub held_keeps: Signal<In, Bit>,
    /// The job waits.
    pub waits: Signal<Out, Bit>,
}

impl Logic for KeptWait {
    #[hdl_gen]
    fn update(&mut self) {
        self.waits.next = self.reads.val() & (self.read_keeps.val() | self.held_keeps.val());
    }
}

/// The reader. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Feed<const BUFFER_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: the job at hand is forgotten.
    pub reset: Signal<In, Bit>,

    /// Writes and releases, in order.
    pub jobs: MessageSink<CopyJob>,
    /// Beat of the packet buffer to read, with the one after it.
    pub read_address: Signal<Out, Bits<BUFFER_BITS>>,
    /// The beats are read; without it the last read data stay.
    pub read_enable: Signal<Out, Bit>,
    /// Read data: both beats, one cycle later.
    pub read_data: Signal<In, BeatPair>,
    /// Kept beat to read: its run's place, and bit 0 for the last one of its slot.
    pub kept_beat: Signal<Out, Bits<6>>,
    /// Beats move on: the kept beat that was read before goes with `source`.
    pub moves: Signal<Out, Bit>,
    /// Beats for the realigner.
    pub source: MessageSource<AlignBeat>,
    /// A packet whose last beat was read: the packet buffer may forget it.
    pub release: PulseSource<Release>,

    next_beat: FeedBeat,
    kept_wait: KeptWait,
    begun: DFF<Bit>,
    place: DFF<FeedPlace>,
    read_valid: DFF<Bit>,
    read: DFF<FeedStep>,
    held_valid: DFF<Bit>,
    held: DFF<AlignBeat>,
    freed_valid: DFF<Bit>,
    freed: DFF<Release>,

    job: Signal<Local, CopyJob>,
    advance: Signal<Local, Bit>,
    read_beat: Signal<Local, AlignBeat>,
    takes: Signal<Local, Bit>,
    frees: Signal<Local, Release>,
}

impl<const BUFFER_BITS: usize> Logic for Feed<BUFFER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, begun, place, read_valid, read, held_valid, held);
        dff_setup!(self, clock, freed_valid, freed);
        self.advance.next = !self.held_valid.q.val() | self.source.ready.val();
        self.job.next = self.jobs.payload.val();
        self.read_beat.next = self.read.q.val().beat;
        self.kept_wait.reads.next = self.job.val().kept & self.job.val().head;
        self.kept_wait.read_keeps.next = self.read_valid.q.val() & self.read_beat.val().keeps;
        self.kept_wait.held_keeps.next = self.held_valid.q.val() & self.held.q.val().keeps;
        self.takes.next = self.jobs.valid.val() & self.advance.val() & !self.kept_wait.waits.val();
        self.kept_beat.next = (bit_cast::<6, 5>(self.job.val().place) << 1)
            | bit_cast::<6, 1>(self.next_beat.last.val().into());
        self.moves.next = self.advance.val();
        // A confirmation, which the caller takes elsewhere, waits for nothing.
        self.jobs.ready.next =
            (self.advance.val() & self.next_beat.last.val() & !self.kept_wait.waits.val())
                | (self.job.val().kind == CopyKind::Confirm);
        self.next_beat.job.next = self.job.val();
        self.next_beat.begun.next = self.begun.q.val();
        self.next_beat.place.next = self.place.q.val();
        if self.takes.val() {
            self.begun.d.next = !self.next_beat.last.val();
            self.place.d.next = self.next_beat.next_place.val();
        }
        self.frees.next.pointer = self.job.val().release_pointer;
        self.frees.next.owner = self.job.val().owner;
        self.frees.next.charge = self.job.val().charge;

        // While nothing moves, the beat read last stays.
        self.read_address.next = bit_cast::<BUFFER_BITS, 16>(self.next_beat.pointer.val());
        self.read_enable.next = self.advance.val();
        if self.advance.val() {
            self.read_valid.d.next = self.takes.val();
            self.read.d.next.beat = self.next_beat.beat.val();
            self.read.d.next.has_beat = self.job.val().kind == CopyKind::Write;
            self.read.d.next.releases = self.next_beat.last.val() & self.job.val().release;
            self.read.d.next.release = self.frees.val();
            self.held_valid.d.next = self.read_valid.q.val() & self.read.q.val().has_beat;
            self.held.d.next = self.read.q.val().beat;
            self.held.d.next.pair = self.read_data.val();
        }
        self.freed_valid.d.next =
            self.advance.val() & self.read_valid.q.val() & self.read.q.val().releases;
        self.freed.d.next = self.read.q.val().release;
        self.release.valid.next = self.freed_valid.q.val();
        self.release.payload.next = self.freed.q.val();
        self.source.valid.next = self.held_valid.q.val();
        self.source.payload.next = self.held.q.val();
        if self.reset.val() {
            self.begun.d.next = false;
            self.read_valid.d.next = false;
            self.held_valid.d.next = false;
            self.freed_valid.d.next = false;
        }
    }
}
