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
//! | `header` | out | message | the frame's header beats; bytes beyond `header_bytes` are undefined |
//!
//! Timing: 2 or 4 cycles to load a template, 7 to read it when it is rewritten; then for each frame 15 to
//! rewrite or 4 to clear checksums, and its header beats. All of it while earlier frames are sent.
//!
//! Invariants:
//! 1. The header beats of a frame follow each other as their cuts do.
//! 2. Frame n of a descriptor has the template's sequence number + trim + payload before it, its
//!    identification + n, its own lengths; FIN and PSH only in the last, CWR only in the first.
//! 3. A checksum field that is to be inserted is zero.

use crate::header_store::HeaderStore;
use crate::plan::{FrameCut, HeaderBeat, HeaderLayout, SendPlan};
use stream::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum State {
    Load,
    Read,
    Patch,
    Send,
    Refuse,
}

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

    store: HeaderStore,
    state: DFF<State>,
    beat: DFF<Bits<2>>,
    step: DFF<Bits<4>>,

    layout: Signal<Local, HeaderLayout>,
    last_byte: Signal<Local, Bits<8>>,
    last_beat: Signal<Local, Bit>,
    frame_done: Signal<Local, Bit>,
}

impl Logic for Segment {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, beat, step);
        self.store.clock.next = self.clock.val();
        self.store.reset.next = self.reset.val();
        self.store.plan.next = self.plan.payload.val();
        self.store.load.next = false;
        self.store.load_data.next = self.template.payload.val().data;
        self.store.beat.next = self.beat.q.val();
        self.store.step.next = self.step.q.val();
        self.store.capture.next = self.state.q.val() == State::Read;
        self.store.patch.next = self.state.q.val() == State::Patch;

        self.layout.next = self.plan.payload.val().layout;
        self.last_byte.next = self.layout.val().header_bytes - 1;
        self.last_beat.next = self.last_byte.val().get_bits::<2>(6) == self.beat.q.val();
        self.header.valid.next = (self.state.q.val() == State::Send) & self.cut.ready.val();
        self.header.payload.next.data = self.store.data.val();
        self.header.payload.next.last = self.last_beat.val();
        self.frame_done.next = (self.state.q.val() == State::Send)
            & self.cut.ready.val()
            & self.header.ready.val()
            & self.last_beat.val();
        self.store.advance.next = self.frame_done.val();
        self.cut.valid.next = self.frame_done.val() | (self.state.q.val() == State::Refuse);
        self.cut.payload.next.refused = self.plan.payload.val().refused;
        self.cut.payload.next.descriptor_end = self.store.is_last.val();
        self.cut.payload.next.payload_bytes = self.store.payload_bytes.val();
        self.cut.payload.next.layout = self.layout.val();
        self.template.ready.next = (self.state.q.val() == State::Load) & self.plan.valid.val();
        self.plan.ready.next = (self.frame_done.val() & self.store.is_last.val())
            | ((self.state.q.val() == State::Refuse) & self.cut.ready.val());

        match self.state.q.val() {
            // Waits for a plan and loads its template.
            State::Load => {
                if self.plan.valid.val() & self.template.valid.val() {
                    self.store.load.next = true;
                    self.beat.d.next = self.beat.q.val() + 1;
                    if self.template.payload.val().last {
                        self.beat.d.next = 0.into();
                        self.step.d.next = 11.into();
                        self.state.d.next = State::Patch;
                        if self.plan.payload.val().refused {
                            self.state.d.next = State::Refuse;
                        } else if self.plan.payload.val().rewrite {
                            self.step.d.next = 2.into();
                            self.state.d.next = State::Read;
                        } else if !(self.layout.val().ip_checksum | self.layout.val().l4_checksum) {
                            self.state.d.next = State::Send;
                        }
                    }
                }
            }
            // Reads the template's identification, sequence number and flags.
            State::Read => {
                self.step.d.next = self.step.q.val() + 1;
                if self.step.q.val() == 8 {
                    self.step.d.next = 0.into();
                    self.state.d.next = State::Patch;
                }
            }
            // Makes this frame's header.
            State::Patch => {
                self.step.d.next = self.step.q.val() + 1;
                if self.step.q.val() == 14 {
                    self.step.d.next = 0.into();
                    self.state.d.next = State::Send;
                }
            }
            // Hands it on, its last beat together with the cut.
            State::Send => {
                if self.header.ready.val() & self.cut.ready.val() {
                    self.beat.d.next = self.beat.q.val() + 1;
                }
                if self.frame_done.val() {
                    self.beat.d.next = 0.into();
                    self.state.d.next = State::Patch;
                    if self.store.is_last.val() {
                        self.state.d.next = State::Load;
                    }
                }
            }
            // Hands the end of a refused descriptor on.
            State::Refuse => {
                if self.cut.ready.val() {
                    self.state.d.next = State::Load;
                }
            }
        }
        if self.reset.val() {
            self.beat.d.next = 0.into();
            self.state.d.next = State::Load;
        }
    }
}
