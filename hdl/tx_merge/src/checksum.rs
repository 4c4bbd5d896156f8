//! Stores each frame, sums it on the way in and inserts its checksums on the way out.
//!
//! ```text
//!  frames_made ──┬─────────────► buffer of whole frames, 512 beats ──► insert ──► frames
//!  facts ────────┴──► mask ──► sums ──► fold ──► patches, 64 ────────────┘
//! ```
//! Timing: a frame leaves 9 cycles after its last beat came, or right after the frame before it;
//! one beat per cycle. `frames_made.ready` and `facts.ready` follow `facts.valid` and
//! `frames_made.valid` in the same cycle.
//!
//! Invariants:
//! 1. An aborted frame vanishes; no frame that leaves is aborted.
//! 2. `frames.valid` stays high from a frame's first beat to its last.
//! 3. Frames below 60 bytes are padded with zeros, which no checksum counts.
//!
//! Source: docs/specification.md, Segmentation; RFC 1071.

pub mod checksum_fold;
pub mod checksum_insert;
pub mod checksum_mask;
pub mod checksum_sum;
pub mod checksum_unit;
pub mod checksum_words;

use crate::checksum::checksum_insert::ChecksumInsert;
use crate::checksum::checksum_unit::ChecksumUnit;
use crate::messages::{ChecksumPatch, HeaderLayout};
use stream::prelude::*;

/// The stage. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Checksum {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Flushes all frames, whole or not, and their checksums.
    pub reset: Signal<In, Bit>,

    /// Frames with zeros in the checksum fields that are to be inserted and beyond the last byte.
    pub frames_made: PacketSink,
    /// Layers and insertions of each frame, before its first beat.
    pub facts: MessageSink<HeaderLayout>,
    /// Good frames of at least 60 bytes, with their checksums.
    pub frames: PacketSource,

    #[value(FrameFifo::new(false, true))]
    buffer: FrameFifo<9, 10>,
    unit: ChecksumUnit,
    patches: Fifo<ChecksumPatch, 6, 7>,
    insert: ChecksumInsert,

    has_space: DFF<Bit>,
    beat: Signal<Local, PacketBeat>,
    ready: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
}

impl Logic for Checksum {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, has_space);
        clock!(self, clock, buffer, unit, patches, insert);
        self.buffer.reset.next = self.reset.val();
        self.unit.reset.next = self.reset.val();
        self.patches.reset.next = self.reset.val();
        self.insert.reset.next = self.reset.val();
        MessageSource::<ChecksumPatch>::join(&mut self.patches.source, &mut self.insert.patch);
        PacketSource::join(&mut self.buffer.source, &mut self.insert.frames_stored);
        PacketSource::link(&mut self.frames, &mut self.insert.frames);

        // A beat is taken when its layers are known and there is space for it and for all patches
        // on their way: 16 at most.
        self.has_space.d.next = self.patches.level.val() < 47;
        self.ready.next =
            self.facts.valid.val() & self.buffer.sink.ready.val() & self.has_space.q.val();
        self.take.next = self.ready.val() & self.frames_made.valid.val();
        self.frames_made.ready.next = self.ready.val();
        self.facts.ready.next = self.take.val() & self.frames_made.last.val();
        self.beat.next.data = self.frames_made.data.val();
        self.beat.next.byte_count = self.frames_made.byte_count.val();
        self.beat.next.last = self.frames_made.last.val();
        self.beat.next.abort = self.frames_made.abort.val();

        self.buffer.sink.valid.next = self.take.val();
        self.buffer.sink.data.next = self.frames_made.data.val();
        self.buffer.sink.byte_count.next = self.frames_made.byte_count.val();
        if self.unit.is_first.val() & (self.frames_made.byte_count.val() < 60) {
            self.buffer.sink.byte_count.next = 60.into();
        }
        self.buffer.sink.last.next = self.frames_made.last.val();
        self.buffer.sink.abort.next = self.frames_made.abort.val();

        self.unit.valid.next = self.take.val();
        self.unit.beat.next = self.beat.val();
        self.unit.layout.next = self.facts.payload.val();
        self.patches.sink.valid.next = self.unit.patch.valid.val();
        self.patches.sink.payload.next = self.unit.patch.payload.val();
    }
}
