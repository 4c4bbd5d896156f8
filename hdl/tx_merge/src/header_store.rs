//! Holds a descriptor's header and makes each frame's out of it, byte by byte.
//!
//! ```text
//!  load ──► 4 beats ──► beat `beat`
//!            │  ▲ byte of step changed
//!     capture▼  │ patch
//!  template's values ──► frame counters ──► this frame's values
//! ```
//! Timing: reads are combinational; loads, patches and captures are there in the next cycle.
//!
//! Invariants:
//! 1. `load` and a read without `capture` or `patch` address beat `beat`; `capture` and `patch`
//!    the byte of `step` (see [`crate::header_field`]).
//! 2. Steps 2 to 8 captured in order are the template's identification, sequence number and flags.

use crate::byte_patch::BytePatch;
use crate::header_field::HeaderField;
use crate::plan::SendPlan;
use crate::segment_frame::SegmentFrame;
use stream::prelude::*;

/// The store. See the module's head.
#[derive(LogicBlock, Default)]
pub struct HeaderStore {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,
    /// The descriptor's plan.
    pub plan: Signal<In, SendPlan>,
    /// Store `load_data` as beat `beat`.
    pub load: Signal<In, Bit>,
    /// A beat of the template.
    pub load_data: Signal<In, Bits<512>>,
    /// Beat to load or to read.
    pub beat: Signal<In, Bits<2>>,
    /// Step of the header field table.
    pub step: Signal<In, Bits<4>>,
    /// Keep the template's byte of this step.
    pub capture: Signal<In, Bit>,
    /// Change the byte of this step, if it is to be changed.
    pub patch: Signal<In, Bit>,
    /// Go to the next frame.
    pub advance: Signal<In, Bit>,

    /// The beat.
    pub data: Signal<Out, Bits<512>>,
    /// Payload of this frame.
    pub payload_bytes: Signal<Out, Bits<14>>,
    /// It is the last frame of its descriptor.
    pub is_last: Signal<Out, Bit>,

    store: LutRam<Bits<512>, 2>,
    frame: SegmentFrame,
    field: HeaderField,
    replace: BytePatch,
    template: DFF<Bits<56>>,

    address: Signal<Local, Bits<8>>,
    word: Signal<Local, Bits<512>>,
    lane: Signal<Local, Bits<6>>,
    lane_shift: Signal<Local, Bits<9>>,
}

impl Logic for HeaderStore {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, template);
        self.store.clock.next = self.clock.val();
        self.frame.clock.next = self.clock.val();
        self.frame.reset.next = self.reset.val();
        self.frame.plan.next = self.plan.val();
        self.frame.template.next = self.template.q.val();
        self.frame.advance.next = self.advance.val();
        self.payload_bytes.next = self.frame.payload_bytes.val();
        self.is_last.next = self.frame.is_last.val();

        self.field.step.next = self.step.val();
        self.field.layout.next = self.plan.val().layout;
        self.field.rewrite.next = self.plan.val().rewrite;
        self.field.values.next = self.frame.values.val();
        self.field.frame_bytes.next = self.frame.frame_bytes.val();
        self.address.next = self.field.address.val();
        self.lane.next = self.address.val().get_bits::<6>(0);
        self.lane_shift.next = bit_cast::<9, 6>(self.lane.val()) << 3;

        self.store.read_address.next = self.beat.val();
        self.store.write_address.next = self.beat.val();
        if self.capture.val() | self.patch.val() {
            self.store.read_address.next = self.address.val().get_bits::<2>(6);
            self.store.write_address.next = self.address.val().get_bits::<2>(6);
        }
        self.word.next = self.store.read_data.val();
        self.data.next = self.word.val();
        if self.capture.val() {
            self.template.d.next = (self.template.q.val() << 8)
                | bit_cast::<56, 8>(self.word.val().get_bits::<8>(self.lane_shift.val().index()));
        }

        self.replace.beat_in.next = self.word.val();
        self.replace.lane.next = self.lane.val();
        self.replace.value.next = self.field.value.val();
        self.replace.enable.next = true;
        self.store.write_data.next = self.replace.beat_out.val();
        self.store.write_enable.next = self.patch.val() & self.field.enable.val();
        if self.load.val() {
            self.store.write_data.next = self.load_data.val();
            self.store.write_enable.next = true;
        }
    }
}
