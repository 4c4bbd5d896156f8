//! Inserts the checksums into the stored frames on their way out.
//!
//! ```text
//!  frames_stored ──► two windows of 2 bytes ──► register ──► frames
//!  patch ──────────────┘
//! ```
//! Timing: latency one cycle, one beat per cycle. A frame waits for its patch, which comes after
//! its last beat was stored, and then flows without a pause. `ready` of both inputs follows
//! `frames.ready` in the same cycle.
//!
//! Invariants:
//! 1. The bytes of a checksum field that is inserted are zero in the stored frame.

use crate::messages::ChecksumPatch;
use crate::segment::window_put::WindowPut;
use stream::prelude::*;

/// The insertion. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ChecksumInsert {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops the beat in the register; the next beat is a frame's first.
    pub reset: Signal<In, Bit>,

    /// Whole frames, none of them aborted.
    pub frames_stored: PacketSink,
    /// One patch for each stored frame, in order.
    pub patch: MessageSink<ChecksumPatch>,
    /// Frames with their checksums.
    pub frames: PacketSource,

    ip: WindowPut,
    l4: WindowPut,
    beat_number: DFF<Bits<3>>,
    beat: DFF<PacketBeat>,
    beat_valid: DFF<Bit>,

    step: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
}

impl Logic for ChecksumInsert {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, beat_number, beat, beat_valid);
        self.step.next = !self.beat_valid.q.val() | self.frames.ready.val();
        self.take.next = self.step.val() & self.frames_stored.valid.val() & self.patch.valid.val();
        self.frames_stored.ready.next = self.step.val() & self.patch.valid.val();
        self.patch.ready.next = self.take.val() & self.frames_stored.last.val();

        self.ip.beat.next = self.beat_number.q.val();
        self.ip.start.next = self.patch.payload.val().ip_offset;
        self.ip.window.next = bit_cast::<128, 16>(self.patch.payload.val().ip_value);
        self.ip.mask.next = 0.into();
        if self.patch.payload.val().ip_enable {
            self.ip.mask.next = 0x3.into();
        }
        self.l4.beat.next = self.beat_number.q.val();
        self.l4.start.next = self.patch.payload.val().l4_offset;
        self.l4.window.next = bit_cast::<128, 16>(self.patch.payload.val().l4_value);
        self.l4.mask.next = 0.into();
        if self.patch.payload.val().l4_enable {
            self.l4.mask.next = 0x3.into();
        }
        if self.step.val() {
            self.beat_valid.d.next = self.take.val();
            // The checksums are zero so far.
            self.beat.d.next.data = self.frames_stored.data.val()
                | (self.ip.placed.val() & self.ip.lanes.val())
                | (self.l4.placed.val() & self.l4.lanes.val());
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
