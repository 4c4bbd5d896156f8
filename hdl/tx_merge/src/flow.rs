//! Asks for each descriptor's flow and compares it with the send floor.
//!
//! ```text
//!  fields ──► flow_request ··· flow_reply ──► floor check ──► range
//!     └─ raw or unfit ─────────────────────────────────────────┘
//! ```
//! | Port | Direction | Bits | Meaning and duty |
//! |---|---|---|---|
//! | `fields` | in | message | descriptors in ring order |
//! | `flow_request`, `flow_reply` | out, in | message | flow state by id |
//! | `range` | out | message | one for each descriptor, with what was decided |
//! | `started` | out | 32 | descriptors whose look-ups began, modulo 2^32 |
//!
//! Timing: 2 cycles when nothing is looked up, else 3 and the answer.
//!
//! Invariants:
//! 1. `started` counts a descriptor at the latest in the cycle in which its request is offered.
//! 2. An empty range is never stale: a header without payload is sent whatever the floor.

use crate::floor_check::FloorCheck;
use crate::plan::{SendFields, SendRange};
use stream::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum State {
    Take,
    Ask,
    Reply,
    Offer,
}

/// The stage. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Flow {
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
    /// The range to send.
    pub range: MessageSource<SendRange>,
    /// Descriptors begun.
    pub started: Signal<Out, Bits<32>>,

    floor: FloorCheck,
    state: DFF<State>,
    begun: DFF<Bits<32>>,
    flow: DFF<SendFlowReply>,

    offer: Signal<Local, Bit>,
}

impl Logic for Flow {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, begun, flow);
        self.floor.fields.next = self.fields.payload.val();
        self.floor.flow.next = self.flow.q.val();
        self.started.next = self.begun.q.val();
        self.flow_request.payload.next = self.fields.payload.val().flow;
        self.flow_request.valid.next = self.state.q.val() == State::Ask;
        self.flow_reply.ready.next = self.state.q.val() == State::Reply;
        self.offer.next = self.state.q.val() == State::Offer;
        self.range.payload.next = self.floor.range.val();
        self.range.valid.next = self.offer.val();
        self.fields.ready.next = self.offer.val() & self.range.ready.val();

        match self.state.q.val() {
            // Waits for a descriptor, then asks for its flow, unless it is raw or unfit.
            State::Take => {
                if self.fields.valid.val() {
                    self.begun.d.next = self.begun.q.val() + 1;
                    self.state.d.next = State::Ask;
                    if self.floor.no_flow.val() {
                        self.state.d.next = State::Offer;
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
                    self.state.d.next = State::Offer;
                }
            }
            // Waits until the range is taken.
            State::Offer => {
                if self.range.ready.val() {
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
