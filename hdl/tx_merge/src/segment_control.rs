//! The states of segmentation: load a template, read it, then patch and send for each frame.
//!
//! ```text
//!   Load ─► Read ─► Patch ─► Send ─► Load
//!    │ └──────────────▲───────▲│ next frame
//!    └─► Refuse ─► Load
//! ```
//! Timing: outputs follow the state in the same cycle; see [`crate::segment`] for the counts.

use stream::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum State {
    Load,
    Read,
    Patch,
    Send,
    Refuse,
}

/// The states. See the module's head.
#[derive(LogicBlock, Default)]
pub struct SegmentControl {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Back to the first state.
    pub reset: Signal<In, Bit>,

    /// A plan and a template beat are there.
    pub template_valid: Signal<In, Bit>,
    /// The template's last.
    pub template_last: Signal<In, Bit>,
    /// The plan is to send nothing.
    pub refused: Signal<In, Bit>,
    /// The plan asks for new numbers and lengths.
    pub rewrite: Signal<In, Bit>,
    /// The plan asks for checksums.
    pub inserts: Signal<In, Bit>,
    /// `beat` is the header's last.
    pub beat_last: Signal<In, Bit>,
    /// The header beat is taken.
    pub taken: Signal<In, Bit>,
    /// The descriptor's last cut is taken.
    pub done: Signal<In, Bit>,

    /// Store a template beat.
    pub load: Signal<Out, Bit>,
    /// Header beat.
    pub beat: Signal<Out, Bits<2>>,
    /// Step of the header field table.
    pub step: Signal<Out, Bits<4>>,
    /// Read the template at this step.
    pub capture: Signal<Out, Bit>,
    /// Patch the header at this step.
    pub patch: Signal<Out, Bit>,
    /// Send the header beat.
    pub send: Signal<Out, Bit>,
    /// Hand the end of a refused descriptor on.
    pub refuse: Signal<Out, Bit>,

    state: DFF<State>,
    beat_number: DFF<Bits<2>>,
    step_number: DFF<Bits<4>>,
}

impl Logic for SegmentControl {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, beat_number, step_number);
        self.load.next = self.state.q.val() == State::Load;
        self.beat.next = self.beat_number.q.val();
        self.step.next = self.step_number.q.val();
        self.capture.next = self.state.q.val() == State::Read;
        self.patch.next = self.state.q.val() == State::Patch;
        self.send.next = self.state.q.val() == State::Send;
        self.refuse.next = self.state.q.val() == State::Refuse;

        match self.state.q.val() {
            // Waits for a plan and loads its template.
            State::Load => {
                self.step_number.d.next = 11.into();
                if self.template_valid.val() {
                    self.beat_number.d.next = self.beat_number.q.val() + 1;
                }
                if self.template_valid.val() & self.template_last.val() {
                    self.beat_number.d.next = 0.into();
                    self.state.d.next = State::Send;
                    if self.refused.val() {
                        self.state.d.next = State::Refuse;
                    } else if self.rewrite.val() {
                        self.step_number.d.next = 2.into();
                        self.state.d.next = State::Read;
                    } else if self.inserts.val() {
                        self.state.d.next = State::Patch;
                    }
                }
            }
            // Reads the template's identification, sequence number and flags.
            State::Read => {
                self.step_number.d.next = self.step_number.q.val() + 1;
                if self.step_number.q.val() == 8 {
                    self.step_number.d.next = 0.into();
                    self.state.d.next = State::Patch;
                }
            }
            // Makes this frame's header.
            State::Patch => {
                self.step_number.d.next = self.step_number.q.val() + 1;
                if self.step_number.q.val() == 14 {
                    self.state.d.next = State::Send;
                }
            }
            // Hands it on, its last beat together with the cut.
            State::Send => {
                self.step_number.d.next = 0.into();
                if self.taken.val() {
                    self.beat_number.d.next = self.beat_number.q.val() + 1;
                    if self.beat_last.val() {
                        self.beat_number.d.next = 0.into();
                        self.state.d.next = State::Patch;
                    }
                }
            }
            // Hands the end of a refused descriptor on.
            State::Refuse => {}
        }
        if self.done.val() {
            self.state.d.next = State::Load;
        }
        if self.reset.val() {
            self.beat_number.d.next = 0.into();
            self.state.d.next = State::Load;
        }
    }
}
