//! Inserts the checksums into the stored frames on their way out.
//!
//! ```text
//!  frames_stored ──► 4 byte patches ──► register ──► frames
//!  patch ───────────────┘
//! ```
//! Timing: one beat a cycle, latency one cycle; a frame waits for its patch, which comes after its
//! last beat was stored, and then flows without a pause.

use crate::byte_patch::BytePatch;
use crate::plan::ChecksumPatch;
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ChecksumInsert {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,

    /// Whole frames.
    pub frames_stored: PacketSink,
    /// One patch for each.
    pub patch: MessageSink<ChecksumPatch>,
    /// The frames to send.
    pub frames: PacketSource,

    ip_first: PatchAt,
    ip_second: PatchAt,
    l4_first: PatchAt,
    l4_second: PatchAt,
    beat_number: DFF<Bits<3>>,
    beat: DFF<PacketBeat>,
    beat_valid: DFF<Bit>,

    step: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    ip_value: Signal<Local, Bits<16>>,
    l4_value: Signal<Local, Bits<16>>,
}

impl Logic for ChecksumInsert {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, beat_number, beat, beat_valid);
        self.step.next = !self.beat_valid.q.val() | self.frames.ready.val();
        self.take.next = self.step.val() & self.frames_stored.valid.val() & self.patch.valid.val();
        self.frames_stored.ready.next = self.step.val() & self.patch.valid.val();
        self.patch.ready.next = self.take.val() & self.frames_stored.last.val();

        self.ip_value.next = self.patch.payload.val().ip_value;
        self.ip_first.beat_in.next = self.frames_stored.data.val();
        self.ip_first.beat_number.next = self.beat_number.q.val();
        self.ip_first.offset.next = self.patch.payload.val().ip_offset;
        self.ip_first.value.next = self.ip_value.val().get_bits::<8>(0);
        self.ip_first.enable.next = self.patch.payload.val().ip_enable;
        self.ip_second.beat_in.next = self.ip_first.beat_out.val();
        self.ip_second.beat_number.next = self.beat_number.q.val();
        self.ip_second.offset.next = self.patch.payload.val().ip_offset + 1;
        self.ip_second.value.next = self.ip_value.val().get_bits::<8>(8);
        self.ip_second.enable.next = self.patch.payload.val().ip_enable;

        self.l4_value.next = self.patch.payload.val().l4_value;
        self.l4_first.beat_in.next = self.ip_second.beat_out.val();
        self.l4_first.beat_number.next = self.beat_number.q.val();
        self.l4_first.offset.next = self.patch.payload.val().l4_offset;
        self.l4_first.value.next = self.l4_value.val().get_bits::<8>(0);
        self.l4_first.enable.next = self.patch.payload.val().l4_enable;
        self.l4_second.beat_in.next = self.l4_first.beat_out.val();
        self.l4_second.beat_number.next = self.beat_number.q.val();
        self.l4_second.offset.next = self.patch.payload.val().l4_offset + 1;
        self.l4_second.value.next = self.l4_value.val().get_bits::<8>(8);
        self.l4_second.enable.next = self.patch.payload.val().l4_enable;

        if self.step.val() {
            self.beat_valid.d.next = self.take.val();
            self.beat.d.next.data = self.l4_second.beat_out.val();
            self.beat.d.next.byte_count = self.frames_stored.byte_count.val();
            self.beat.d.next.last = self.frames_stored.last.val();
            self.beat.d.next.abort = false;
        }
        if self.take.val() {
            if self.frames_stored.last.val() {
                self.beat_number.d.next = 0.into();
            } else if self.beat_number.q.val() < 4 {
                self.beat_number.d.next = self.beat_number.q.val() + 1;
            }
        }
        if self.reset.val() {
            self.beat_number.d.next = 0.into();
            self.beat_valid.d.next = false;
        }
        self.frames.valid.next = self.beat_valid.q.val();
        self.frames.data.next = self.beat.q.val().data;
        self.frames.byte_count.next = self.beat.q.val().byte_count;
        self.frames.last.next = self.beat.q.val().last;
        self.frames.abort.next = false;
    }
}

/// Replaces a byte of a frame in the beat that holds it.
#[derive(LogicBlock, Default)]
pub struct PatchAt {
    /// The beat.
    pub beat_in: Signal<In, Bits<512>>,
    /// Its number; 4 stands for all behind the third.
    pub beat_number: Signal<In, Bits<3>>,
    /// Byte offset in the frame.
    pub offset: Signal<In, Bits<8>>,
    /// The new value.
    pub value: Signal<In, Bits<8>>,
    /// Replace it.
    pub enable: Signal<In, Bit>,
    /// The beat afterwards.
    pub beat_out: Signal<Out, Bits<512>>,

    replace: BytePatch,
}

impl Logic for PatchAt {
    #[hdl_gen]
    fn update(&mut self) {
        self.replace.beat_in.next = self.beat_in.val();
        self.replace.lane.next = self.offset.val().get_bits::<6>(0);
        self.replace.value.next = self.value.val();
        self.replace.enable.next = self.enable.val()
            & (bit_cast::<3, 2>(self.offset.val().get_bits::<2>(6)) == self.beat_number.val());
        self.beat_out.next = self.replace.beat_out.val();
    }
}
