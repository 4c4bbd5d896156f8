//! Stores each frame, sums it on the way in and inserts its checksums on the way out.
//!
//! ```text
//!  frames_made ──┬─────────────► store of whole frames, 512 beats ──► insert ──► frames
//!  facts ────────┴► mask ─► sums ─► fold ─► patches, 64 ─────────────────┘
//! ```
//! | Port | Direction | Bits | Meaning and duty |
//! |---|---|---|---|
//! | `frames_made` | in | packet | frames; zeros in checksum fields and beyond the last byte |
//! | `facts` | in | message | one for each frame, before its first beat |
//! | `frames` | out | packet | good frames, at least 60 bytes |
//!
//! Timing: a frame leaves 9 cycles after its last beat came, or behind the one before; one beat a
//! cycle.
//!
//! Invariants:
//! 1. An aborted frame vanishes; no frame that leaves is aborted.
//! 2. `frames.valid` stays up from a frame's first beat to its last.
//! 3. Frames below 60 bytes are padded with zeros, which no checksum counts.

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
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,

    /// Frames without checksums.
    pub frames_made: PacketSink,
    /// What to insert.
    pub facts: MessageSink<HeaderLayout>,
    /// Frames to send.
    pub frames: PacketSource,

    #[value(FrameFifo::new(false, true))]
    store: FrameFifo<9, 10>,
    unit: ChecksumUnit,
    patches: Fifo<ChecksumPatch, 6, 7>,
    insert: ChecksumInsert,

    has_room: DFF<Bit>,
    beat: Signal<Local, PacketBeat>,
    ready: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
}

impl Logic for Checksum {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, has_room);
        clock!(self, clock, store, unit, patches, insert);
        self.store.reset.next = self.reset.val();
        self.unit.reset.next = self.reset.val();
        self.patches.reset.next = self.reset.val();
        self.insert.reset.next = self.reset.val();
        MessageSource::<ChecksumPatch>::join(&mut self.patches.source, &mut self.insert.patch);
        PacketSource::join(&mut self.store.source, &mut self.insert.frames_stored);
        PacketSource::link(&mut self.frames, &mut self.insert.frames);

        // A beat is taken when its frame is known and there is room for it and all patches on the
        // way: 16 at most.
        self.has_room.d.next = self.patches.level.val() < 47;
        self.ready.next =
            self.facts.valid.val() & self.store.sink.ready.val() & self.has_room.q.val();
        self.take.next = self.ready.val() & self.frames_made.valid.val();
        self.frames_made.ready.next = self.ready.val();
        self.facts.ready.next = self.take.val() & self.frames_made.last.val();
        self.beat.next.data = self.frames_made.data.val();
        self.beat.next.byte_count = self.frames_made.byte_count.val();
        self.beat.next.last = self.frames_made.last.val();
        self.beat.next.abort = self.frames_made.abort.val();

        self.store.sink.valid.next = self.take.val();
        self.store.sink.data.next = self.frames_made.data.val();
        self.store.sink.byte_count.next = self.frames_made.byte_count.val();
        if self.unit.is_first.val() & (self.frames_made.byte_count.val() < 60) {
            self.store.sink.byte_count.next = 60.into();
        }
        self.store.sink.last.next = self.frames_made.last.val();
        self.store.sink.abort.next = self.frames_made.abort.val();

        self.unit.valid.next = self.take.val();
        self.unit.beat.next = self.beat.val();
        self.unit.layout.next = self.facts.payload.val();
        self.patches.sink.valid.next = self.unit.patch.valid.val();
        self.patches.sink.payload.next = self.unit.patch.payload.val();
    }
}
