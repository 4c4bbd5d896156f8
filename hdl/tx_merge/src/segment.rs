//! Cuts a descriptor's payload into frames of at most `mss_bytes` and makes each frame's header.
//!
//! ```text
//!  plan ───┐   ┌───────────────┐──► cut
//!  header ─┴──►│ 4 beats, one  │──► header
//!              │ byte a cycle  │
//!              └───────────────┘
//! ```
//! | Port | Direction | Bits | Meaning and duty |
//! |---|---|---|---|
//! | `plan` | in | message | one for each descriptor |
//! | `template` | in | message | its 2 or 4 header beats |
//! | `cut` | out | message | one for each frame, and one for a refused descriptor |
//! | `header` | out | message | the frame's header beats; beyond `header_bytes` undefined |
//!
//! Timing: 2 or 4 cycles to load a template, 7 to read it when there is payload; then for each
//! frame 15 to rewrite or 4 to clear checksums, and its header beats. All of it while earlier
//! frames are sent.
//!
//! Invariants:
//! 1. The header beats of a frame follow each other as their cuts do.
//! 2. Frame n of a descriptor has the template's sequence number + trim + payload before it, its
//!    identification + n, its own lengths; FIN and PSH only in the last, CWR only in the first.
//! 3. A checksum field that is to be inserted is zero.

use crate::header_store::HeaderStore;
use crate::plan::{FrameCut, HeaderBeat, HeaderLayout, SendPlan};
use crate::segment_control::SegmentControl;
use stream::prelude::*;

/// The stage. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Segment {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,

    /// Plans.
    pub plan: MessageSink<SendPlan>,
    /// Templates.
    pub template: MessageSink<HeaderBeat>,
    /// Frames to put together.
    pub cut: MessageSource<FrameCut>,
    /// Their headers.
    pub header: MessageSource<HeaderBeat>,

    control: SegmentControl,
    store: HeaderStore,

    layout: Signal<Local, HeaderLayout>,
    last_byte: Signal<Local, Bits<8>>,
    last_beat: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    done: Signal<Local, Bit>,
}

impl Logic for Segment {
    #[hdl_gen]
    fn update(&mut self) {
        self.control.clock.next = self.clock.val();
        self.control.reset.next = self.reset.val();
        self.store.clock.next = self.clock.val();
        self.store.reset.next = self.reset.val();
        self.layout.next = self.plan.payload.val().layout;

        // What the states wait for.
        self.last_byte.next = self.layout.val().header_bytes - 1;
        self.last_beat.next = self.last_byte.val().get_bits::<2>(6) == self.control.beat.val();
        self.taken.next =
            self.cut.ready.val() & (self.header.ready.val() | self.control.refuse.val());
        self.ends.next = self.control.send.val() & self.last_beat.val();
        self.done.next = self.taken.val()
            & ((self.ends.val() & self.store.is_last.val()) | self.control.refuse.val());
        self.control.template_valid.next = self.plan.valid.val() & self.template.valid.val();
        self.control.template_last.next = self.template.payload.val().last;
        self.control.refused.next = self.plan.payload.val().refused;
        self.control.rewrite.next = self.plan.payload.val().rewrite;
        self.control.inserts.next = self.layout.val().ip_checksum | self.layout.val().l4_checksum;
        self.control.beat_last.next = self.last_beat.val();
        self.control.taken.next = self.taken.val();
        self.control.done.next = self.done.val();

        // What they do with the header.
        self.store.plan.next = self.plan.payload.val();
        self.store.load.next =
            self.control.load.val() & self.plan.valid.val() & self.template.valid.val();
        self.store.load_data.next = self.template.payload.val().data;
        self.store.beat.next = self.control.beat.val();
        self.store.step.next = self.control.step.val();
        self.store.capture.next = self.control.capture.val();
        self.store.patch.next = self.control.patch.val();
        self.store.advance.next = self.ends.val() & self.taken.val();

        // What they hand on: a cut together with the last header beat, or alone.
        self.header.valid.next = self.control.send.val() & self.cut.ready.val();
        self.header.payload.next.data = self.store.data.val();
        self.header.payload.next.last = self.last_beat.val();
        self.cut.valid.next =
            (self.ends.val() & self.header.ready.val()) | self.control.refuse.val();
        self.cut.payload.next.refused = self.plan.payload.val().refused;
        self.cut.payload.next.descriptor_end = self.store.is_last.val();
        self.cut.payload.next.payload_bytes = self.store.payload_bytes.val();
        self.cut.payload.next.layout = self.layout.val();
        self.template.ready.next = self.control.load.val() & self.plan.valid.val();
        self.plan.ready.next = self.done.val();
    }
}
