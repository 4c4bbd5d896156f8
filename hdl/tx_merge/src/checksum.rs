//! Stores each frame, sums it on the way in and inserts its checksums on the way out.
//!
//! ```text
//!  frames_made ──┬─────────────► store of whole frames, 512 beats ──► insert ──► frames
//!  facts ────────┴► mask ─► sums ─► fold ─► patches, 64 ─────────────────┘
//! ```
//! | Port | Direction | Bits | Meaning and duty |
//! |---|---|---|---|
//! | `frames_made` | in | packet | frames with zeros in the checksum fields; zeros beyond their last byte |
//! | `facts` | in | message | one for each frame, before its first beat |
//! | `frames` | out | packet | good frames, at least 60 bytes |
//!
//! Timing: a frame leaves 7 cycles after its last beat came, or behind the one before; one beat a cycle.
//!
//! Invariants:
//! 1. An aborted frame vanishes; no frame that leaves is aborted.
//! 2. `frames.valid` stays up from a frame's first beat to its last.
//! 3. Frames below 60 bytes are padded with zeros, which no checksum counts.

use crate::checksum_fold::{ChecksumFold, FrameEnd};
use crate::checksum_insert::ChecksumInsert;
use crate::checksum_mask::ChecksumMask;
use crate::checksum_sum::ChecksumSum;
use crate::plan::{ChecksumPatch, HeaderLayout};
use stream::prelude::*;

/// The stage. See the module's head.
#[derive(LogicBlock)]
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

    store: FrameFifo<9, 10>,
    ends: Fifo<FrameEnd, 3, 4>,
    patches: Fifo<ChecksumPatch, 6, 7>,
    words: ChecksumWords,
    ip_sum: ChecksumSum,
    l4_sum: ChecksumSum,
    fold: ChecksumFold,
    insert: ChecksumInsert,
    beat: DFF<Bits<3>>,
    bytes_before: DFF<Bits<16>>,

    take: Signal<Local, Bit>,
    ready: Signal<Local, Bit>,
}

impl Default for Checksum {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            frames_made: Default::default(),
            facts: Default::default(),
            frames: Default::default(),
            store: FrameFifo::new(false, true),
            ends: Default::default(),
            patches: Default::default(),
            words: Default::default(),
            ip_sum: Default::default(),
            l4_sum: Default::default(),
            fold: Default::default(),
            insert: Default::default(),
            beat: Default::default(),
            bytes_before: Default::default(),
            take: Default::default(),
            ready: Default::default(),
        }
    }
}

impl Logic for Checksum {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, beat, bytes_before);
        self.store.clock.next = self.clock.val();
        self.store.reset.next = self.reset.val();
        self.ends.clock.next = self.clock.val();
        self.ends.reset.next = self.reset.val();
        self.patches.clock.next = self.clock.val();
        self.patches.reset.next = self.reset.val();
        self.ip_sum.clock.next = self.clock.val();
        self.ip_sum.reset.next = self.reset.val();
        self.l4_sum.clock.next = self.clock.val();
        self.l4_sum.reset.next = self.reset.val();
        self.fold.clock.next = self.clock.val();
        self.fold.reset.next = self.reset.val();
        self.insert.clock.next = self.clock.val();
        self.insert.reset.next = self.reset.val();
        MessageSource::<ChecksumPatch>::join(&mut self.patches.source, &mut self.insert.patch);
        PacketSource::join(&mut self.store.source, &mut self.insert.frames_stored);
        PacketSource::link(&mut self.frames, &mut self.insert.frames);

        // A beat is taken when its frame is known and both the store and the patches have room.
        self.ready.next = self.facts.valid.val()
            & self.store.sink.ready.val()
            & (self.patches.level.val() < 48)
            & self.ends.sink.ready.val();
        self.take.next = self.ready.val() & self.frames_made.valid.val();
        self.frames_made.ready.next = self.ready.val();
        self.facts.ready.next = self.take.val() & self.frames_made.last.val();
        self.store.sink.valid.next = self.take.val();
        self.store.sink.data.next = self.frames_made.data.val();
        self.store.sink.byte_count.next = self.frames_made.byte_count.val();
        if !self.beat.q.val().any() & (self.frames_made.byte_count.val() < 60) {
            self.store.sink.byte_count.next = 60.into();
        }
        self.store.sink.last.next = self.frames_made.last.val();
        self.store.sink.abort.next = self.frames_made.abort.val();

        // Sum its words.
        self.words.beat.next = self.beat.q.val();
        self.words.layout.next = self.facts.payload.val();
        self.words.data.next = self.frames_made.data.val();
        self.ip_sum.valid.next = self.take.val();
        self.ip_sum.data.next = self.words.ip_data.val();
        self.ip_sum.last.next = self.frames_made.last.val();
        self.l4_sum.valid.next = self.take.val();
        self.l4_sum.data.next = self.words.l4_data.val();
        self.l4_sum.last.next = self.frames_made.last.val();
        self.ends.sink.valid.next = self.take.val() & self.frames_made.last.val();
        self.ends.sink.payload.next.layout = self.facts.payload.val();
        self.ends.sink.payload.next.frame_bytes =
            self.bytes_before.q.val() + bit_cast::<16, 7>(self.frames_made.byte_count.val());
        self.ends.sink.payload.next.abort = self.frames_made.abort.val();
        if self.take.val() {
            self.bytes_before.d.next = self.bytes_before.q.val() + 64;
            if self.beat.q.val() < 4 {
                self.beat.d.next = self.beat.q.val() + 1;
            }
        }
        if self.reset.val() | (self.take.val() & self.frames_made.last.val()) {
            self.bytes_before.d.next = 0.into();
            self.beat.d.next = 0.into();
        }

        // Make its patch.
        self.fold.valid.next = self.ip_sum.sum_valid.val();
        self.fold.ip_sum.next = self.ip_sum.sum.val();
        self.fold.l4_sum.next = self.l4_sum.sum.val();
        self.fold.frame_end.next = self.ends.source.payload.val();
        self.ends.source.ready.next = self.ip_sum.sum_valid.val();
        self.patches.sink.valid.next = self.fold.patch_valid.val();
        self.patches.sink.payload.next = self.fold.patch.val();
    }
}

/// The words of a beat that count for each of the two sums.
#[derive(LogicBlock, Default)]
pub struct ChecksumWords {
    /// Number of the beat; 4 stands for all behind the third.
    pub beat: Signal<In, Bits<3>>,
    /// Where the layers lie.
    pub layout: Signal<In, HeaderLayout>,
    /// The beat.
    pub data: Signal<In, Bits<512>>,
    /// The IP header's bytes of it.
    pub ip_data: Signal<Out, Bits<512>>,
    /// The addresses' bytes of it, and all from the L4 header on.
    pub l4_data: Signal<Out, Bits<512>>,

    from_l3: ChecksumMask,
    from_l4: ChecksumMask,
    from_addresses: ChecksumMask,
    from_addresses_end: ChecksumMask,
    ip_mask: Signal<Local, Bits<512>>,
    l4_mask: Signal<Local, Bits<512>>,
}

impl Logic for ChecksumWords {
    #[hdl_gen]
    fn update(&mut self) {
        self.from_l3.beat.next = self.beat.val();
        self.from_l4.beat.next = self.beat.val();
        self.from_addresses.beat.next = self.beat.val();
        self.from_addresses_end.beat.next = self.beat.val();
        self.from_l3.offset.next = self.layout.val().l3_offset;
        self.from_l4.offset.next = self.layout.val().l4_offset;
        self.from_addresses.offset.next = self.layout.val().l3_offset + 12;
        self.from_addresses_end.offset.next = self.layout.val().l3_offset + 20;
        if self.layout.val().ipv6 {
            self.from_addresses.offset.next = self.layout.val().l3_offset + 8;
            self.from_addresses_end.offset.next = self.layout.val().l3_offset + 40;
        }
        self.ip_mask.next = self.from_l3.mask.val() & !self.from_l4.mask.val();
        self.l4_mask.next = (self.from_addresses.mask.val() & !self.from_addresses_end.mask.val())
            | self.from_l4.mask.val();
        self.ip_data.next = self.data.val() & self.ip_mask.val();
        self.l4_data.next = self.data.val() & self.l4_mask.val();
    }
}
