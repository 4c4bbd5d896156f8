//! Decides on each descriptor: flow state, send floor, then the walk; refuses it or has it planned.
//!
//! ```text
//!  fields ──► flow ──► floor ──► walk ──┬──► verdict
//!               └─ refused ─────────────┘
//! ```
//! | Port | Direction | Bits | Meaning and duty |
//! |---|---|---|---|
//! | `fields` | in | message | descriptors in ring order |
//! | `flow_request`, `flow_reply` | out, in | message | flow state by id |
//! | `walk_request`, `walk_reply` | out, in | message | resolve and grant the range |
//! | `verdict` | out | message | one for every descriptor |
//! | `started` | out | 32 | descriptors whose look-ups began, modulo 2^32 |
//!
//! Timing: one descriptor at a time, 2 cycles when nothing is looked up, else 6 and the two answers.
//!
//! Invariants:
//! 1. `started` counts a descriptor at the latest in the cycle in which its first request is offered.
//! 2. An empty range is never stale: a header without payload is sent whatever the floor.

use crate::floor_check::FloorCheck;
use crate::plan::{SendFields, SendVerdict, WalkReply, WalkRequest};
use abi::reason::SendError;
use stream::prelude::*;

// The literals of the kernel.
const _: () = {
    assert!(SendError::SendMalformed as u8 == 4 && SendError::ReadFailed as u8 == 5);
};

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum State {
    Take,
    Ask,
    Reply,
    Judge,
    Walk,
    Walked,
    Finish,
}

/// The stage. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Gather {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,

    /// Descriptors.
    pub fields: MessageSink<SendFields>,
    /// Asks for a flow.
    pub flow_request: MessageSource<Bits<16>>,
    /// The flow.
    pub flow_reply: MessageSink<SendFlowReply>,
    /// Asks for a range.
    pub walk_request: MessageSource<WalkRequest>,
    /// The range is granted and its pieces are on their way, or not.
    pub walk_reply: MessageSink<WalkReply>,
    /// What is decided.
    pub verdict: MessageSource<SendVerdict>,
    /// Descriptors begun.
    pub started: Signal<Out, Bits<32>>,

    range: FloorCheck,
    state: DFF<State>,
    begun: DFF<Bits<32>>,
    flow: DFF<SendFlowReply>,
    error: DFF<Bits<8>>,
    refused: DFF<Bit>,

    unfit: Signal<Local, Bit>,
}

impl Logic for Gather {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, begun, flow, error, refused);
        self.range.fields.next = self.fields.payload.val();
        self.range.flow.next = self.flow.q.val();
        self.started.next = self.begun.q.val();
        self.flow_request.payload.next = self.fields.payload.val().flow;
        self.flow_request.valid.next = self.state.q.val() == State::Ask;
        self.flow_reply.ready.next = self.state.q.val() == State::Reply;
        self.walk_request.valid.next = self.state.q.val() == State::Walk;
        self.walk_request.payload.next.flow = self.fields.payload.val().flow;
        self.walk_request.payload.next.domain = self.flow.q.val().domain;
        self.walk_request.payload.next.segment_index = self.fields.payload.val().segment_index;
        self.walk_request.payload.next.position = self.range.position.val();
        self.walk_request.payload.next.bytes = self.range.payload_bytes.val();
        self.walk_reply.ready.next = self.state.q.val() == State::Walked;
        self.verdict.valid.next = self.state.q.val() == State::Finish;
        self.verdict.payload.next.fields = self.fields.payload.val();
        self.verdict.payload.next.refused = self.refused.q.val();
        self.verdict.payload.next.error = self.error.q.val();
        self.verdict.payload.next.payload_bytes = self.range.payload_bytes.val();
        self.verdict.payload.next.trim_bytes = self.range.trim_bytes.val();
        if self.fields.payload.val().raw {
            self.verdict.payload.next.payload_bytes = 0.into();
            self.verdict.payload.next.trim_bytes = 0.into();
        }
        self.fields.ready.next = (self.state.q.val() == State::Finish) & self.verdict.ready.val();
        self.unfit.next = self.fields.payload.val().unread | self.fields.payload.val().malformed;

        match self.state.q.val() {
            // Waits for a descriptor, then asks for its flow, unless it is raw or unfit.
            State::Take => {
                self.refused.d.next = self.unfit.val();
                self.error.d.next = 4.into();
                if self.fields.payload.val().unread {
                    self.error.d.next = 5.into();
                }
                if self.fields.valid.val() {
                    self.begun.d.next = self.begun.q.val() + 1;
                    self.state.d.next = State::Ask;
                    if self.unfit.val() | self.fields.payload.val().raw {
                        self.state.d.next = State::Finish;
                    }
                }
            }
            // Waits until the request is taken.
            State::Ask => {
                if self.flow_request.ready.val() {
                    self.state.d.next = State::Reply;
                }
            }
            // Waits for the flow.
            State::Reply => {
                self.flow.d.next = self.flow_reply.payload.val();
                if self.flow_reply.valid.val() {
                    self.state.d.next = State::Judge;
                }
            }
            // Has the range compared with the floor; goes on when there is payload to find.
            State::Judge => {
                self.refused.d.next = self.range.refused.val();
                self.error.d.next = self.range.error.val();
                self.state.d.next = State::Finish;
                if !self.range.refused.val() & self.range.payload_bytes.val().any() {
                    self.state.d.next = State::Walk;
                }
            }
            // Waits until the walk begins.
            State::Walk => {
                if self.walk_request.ready.val() {
                    self.state.d.next = State::Walked;
                }
            }
            // Waits for its end.
            State::Walked => {
                self.refused.d.next = self.walk_reply.payload.val().refused;
                self.error.d.next = self.walk_reply.payload.val().error;
                if self.walk_reply.valid.val() {
                    self.state.d.next = State::Finish;
                }
            }
            // Waits until the verdict is taken.
            State::Finish => {
                if self.verdict.ready.val() {
                    self.state.d.next = State::Take;
                }
            }
        }
        if self.reset.val() {
            self.begun.d.next = 0.into();
            self.state.d.next = State::Take;
        }
    }
}
