//! Counts through the frames of each descriptor and the header beats of each frame.
//!
//! ```text
//!  plan, numbers ──► registers: rest, sequence, identification, beat ──► one header beat per cycle
//! ```
//! Timing: one header beat per cycle while `go` is high; the next descriptor follows without a
//! pause. `valid`, `frees`, `plan.ready` and `numbers.ready` follow `go` in the same cycle.
//!
//! Invariants:
//! 1. A refused descriptor is one beat without a header; each other frame has the beats that its
//!    `header_bytes` need.

use crate::messages::{FrameCut, HeaderLayout, HeaderNumbers, SendPlan};
use stream::prelude::*;

/// A header beat to make.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct HeaderWork {
    /// Number of the beat in its frame.
    pub beat: Bits<2>,
    /// The beat is the last of its header: the frame's cut goes with it.
    pub last: Bit,
    /// The beat is of the first frame of its descriptor.
    pub first: Bit,
    /// Sequence number and lengths are set, since there is payload.
    pub rewrite: Bit,
    /// Header and payload of the frame, bytes.
    pub frame_bytes: Bits<16>,
    /// The frame that the header belongs to.
    pub cut: FrameCut,
    /// Sequence number, identification and flags of the frame, flags as in the template.
    pub numbers: HeaderNumbers,
}

/// The counters. See the module's head.
#[derive(LogicBlock, Default)]
pub struct SegmentFrame {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops the descriptor under way.
    pub reset: Signal<In, Bit>,
    /// Frames to make of each descriptor, in ring order.
    pub plan: MessageSink<SendPlan>,
    /// Numbers of the header template, one message for each plan.
    pub numbers: MessageSink<HeaderNumbers>,
    /// A header beat and a cut would be taken.
    pub go: Signal<In, Bit>,

    /// A header beat is to be made.
    pub valid: Signal<Out, Bit>,
    /// The header beat to make.
    pub work: Signal<Out, HeaderWork>,
    /// Number of the template's beat to read; it does not depend on `valid`.
    pub read_beat: Signal<Out, Bits<2>>,
    /// The template is not needed after this beat.
    pub frees: Signal<Out, Bit>,
    /// Beats of the template.
    pub template_beats: Signal<Out, Bits<3>>,

    active: DFF<Bit>,
    first: DFF<Bit>,
    held: DFF<SendPlan>,
    count: DFF<HeaderNumbers>,
    rest_bytes: DFF<Bits<18>>,
    beat: DFF<Bits<2>>,

    cut: Signal<Local, FrameCut>,
    layout: Signal<Local, HeaderLayout>,
    last_frame: Signal<Local, Bit>,
    last_beat: Signal<Local, Bit>,
    frame_done: Signal<Local, Bit>,
    done: Signal<Local, Bit>,
    load: Signal<Local, Bit>,
    frame_payload_bytes: Signal<Local, Bits<18>>,
}

impl Logic for SegmentFrame {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, active, first, held, count, rest_bytes, beat);
        self.layout.next = self.held.q.val().layout;
        self.last_beat.next = self.held.q.val().refused
            | ((self.layout.val().header_bytes - 1).get_bits::<2>(6) == self.beat.q.val());
        self.last_frame.next = self.held.q.val().refused
            | (self.rest_bytes.q.val() <= bit_cast::<18, 14>(self.held.q.val().mss_bytes));
        self.frame_payload_bytes.next = bit_cast::<18, 14>(self.held.q.val().mss_bytes);
        if self.last_frame.val() {
            self.frame_payload_bytes.next = self.rest_bytes.q.val();
        }

        self.valid.next = self.active.q.val() & self.go.val();
        self.frame_done.next = self.active.q.val() & self.go.val() & self.last_beat.val();
        self.done.next = self.frame_done.val() & self.last_frame.val();
        self.frees.next = self.done.val();
        self.template_beats.next = self.held.q.val().template_beats;
        if self.done.val() {
            self.active.d.next = false;
        }
        self.read_beat.next = self.beat.q.val();
        self.work.next.beat = self.beat.q.val();
        self.work.next.last = self.last_beat.val();
        self.work.next.rewrite = self.held.q.val().rewrite;
        self.work.next.frame_bytes = bit_cast::<16, 18>(self.frame_payload_bytes.val())
            + bit_cast::<16, 8>(self.layout.val().header_bytes);
        self.cut.next.refused = self.held.q.val().refused;
        self.cut.next.descriptor_end = self.last_frame.val();
        self.cut.next.payload_bytes = bit_cast::<14, 18>(self.frame_payload_bytes.val());
        self.cut.next.layout = self.layout.val();
        self.work.next.cut = self.cut.val();

        self.work.next.first = self.first.q.val();
        self.work.next.numbers = self.count.q.val();

        if self.active.q.val() & self.go.val() {
            self.beat.d.next = self.beat.q.val() + 1;
        }
        if self.frame_done.val() {
            self.beat.d.next = 0.into();
            self.first.d.next = false;
            self.rest_bytes.d.next =
                self.rest_bytes.q.val() - bit_cast::<18, 14>(self.held.q.val().mss_bytes);
            self.count.d.next.sequence =
                self.count.q.val().sequence + bit_cast::<32, 14>(self.held.q.val().mss_bytes);
            self.count.d.next.identification = self.count.q.val().identification + 1;
        }
        self.load.next = self.plan.valid.val()
            & self.numbers.valid.val()
            & (!self.active.q.val() | self.done.val());
        self.plan.ready.next = self.load.val();
        self.numbers.ready.next = self.load.val();
        if self.load.val() {
            self.active.d.next = true;
            self.first.d.next = true;
            self.held.d.next = self.plan.payload.val();
            self.count.d.next = self.numbers.payload.val();
            self.count.d.next.sequence = self.numbers.payload.val().sequence
                + bit_cast::<32, 18>(self.plan.payload.val().trim_bytes);
            self.rest_bytes.d.next = self.plan.payload.val().payload_bytes;
            self.beat.d.next = 0.into();
        }
        if self.reset.val() {
            self.active.d.next = false;
        }
    }
}
