//! Asks for each descriptor's flow and compares it with the send floor.
//!
//! ```text
//!  fields ──► register ──► flow_request ··· flow_reply ──┐
//!                  └──► waiting (8) ─────────────────────┴─► floor check ──► range
//! ```
//! | Port | Direction | Bits | Meaning and duty |
//! |---|---|---|---|
//! | `fields` | in | message | descriptors in ring order |
//! | `flow_request`, `flow_reply` | out, in | message | flow state by id |
//! | `range` | out | message | one for each descriptor, with what was decided |
//! | `started` | out | 32 | descriptors whose look-ups began, modulo 2^32 |
//! | `dropped_bytes` | in | pulse | payload of a descriptor that will not be read |
//! | `asked_bytes` | in | pulse | payload whose read was asked for |
//!
//! Timing: one descriptor a cycle; up to 8 wait for their flow.
//!
//! Invariants:
//! 1. `started` counts a descriptor at the latest in the cycle in which its request is offered.
//! 2. An empty range is never stale: a header without payload is sent whatever the floor.
//! 3. No look-up begins while 32 KiB of payload or more wait to be read, so that a confirmation
//!    waits for no more than that, one descriptor and the payload buffer.

pub mod floor_check;
pub mod look_ahead;

use crate::flow::floor_check::FloorCheck;
use crate::flow::look_ahead::LookAhead;
use crate::messages::{SendFields, SendRange};
use stream::prelude::*;

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
    /// Payload of a descriptor that will not be read.
    pub dropped_bytes: PulseSink<Bits<18>>,
    /// Payload whose read was asked for.
    pub asked_bytes: PulseSink<Bits<10>>,

    asked: DFF<SendFields>,
    asked_valid: DFF<Bit>,
    waiting: Fifo<SendFields, 3, 4>,
    floor: FloorCheck,
    begun: DFF<Bits<32>>,
    ahead: LookAhead,

    asks: Signal<Local, Bit>,
    pass: Signal<Local, Bit>,
    free: Signal<Local, Bit>,
    starts: Signal<Local, Bit>,
    needs_flow: Signal<Local, Bit>,
    answered: Signal<Local, Bit>,
    fields_now: Signal<Local, SendFields>,
}

impl Logic for Flow {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, asked, asked_valid, begun);
        clock!(self, clock, waiting, floor, ahead);
        self.waiting.reset.next = self.reset.val();
        self.floor.reset.next = self.reset.val();
        MessageSource::<SendRange>::link(&mut self.range, &mut self.floor.range);
        self.started.next = self.begun.q.val();

        // Ask, unless the descriptor is raw or unfit.
        self.asks.next =
            !(self.asked.q.val().unread | self.asked.q.val().malformed | self.asked.q.val().raw);
        self.flow_request.payload.next = self.asked.q.val().flow;
        self.flow_request.valid.next =
            self.asked_valid.q.val() & self.asks.val() & self.waiting.sink.ready.val();
        self.pass.next = self.asked_valid.q.val()
            & self.waiting.sink.ready.val()
            & (!self.asks.val() | self.flow_request.ready.val());
        self.waiting.sink.valid.next = self.pass.val();
        self.waiting.sink.payload.next = self.asked.q.val();

        // Begin the next one while there is less than 32 KiB to read.
        self.ahead.reset.next = self.reset.val();
        PulseSink::<Bits<18>>::link(&mut self.dropped_bytes, &mut self.ahead.dropped_bytes);
        PulseSink::<Bits<10>>::link(&mut self.asked_bytes, &mut self.ahead.asked_bytes);
        self.free.next = (!self.asked_valid.q.val() | self.pass.val()) & self.ahead.open.val();
        self.fields.ready.next = self.free.val();
        self.starts.next = self.fields.valid.val() & self.free.val();
        self.fields_now.next = self.fields.payload.val();
        self.ahead.begun_bytes.valid.next = self.starts.val();
        self.ahead.begun_bytes.payload.next = self.fields_now.val().payload_bytes;
        if self.pass.val() {
            self.asked_valid.d.next = false;
        }
        if self.starts.val() {
            self.asked.d.next = self.fields.payload.val();
            self.asked_valid.d.next = true;
            self.begun.d.next = self.begun.q.val() + 1;
        }

        // Go on with the answer.
        self.needs_flow.next = !(self.waiting.source.payload.val().unread
            | self.waiting.source.payload.val().malformed
            | self.waiting.source.payload.val().raw);
        self.answered.next = self.waiting.source.valid.val()
            & (self.flow_reply.valid.val() | !self.needs_flow.val());
        self.floor.valid.next = self.answered.val();
        self.floor.fields.next = self.waiting.source.payload.val();
        self.floor.no_flow.next = !self.needs_flow.val();
        self.floor.flow.next = self.flow_reply.payload.val();
        self.waiting.source.ready.next = self.answered.val() & self.floor.ready.val();
        self.flow_reply.ready.next =
            self.waiting.source.valid.val() & self.needs_flow.val() & self.floor.ready.val();
        if self.reset.val() {
            self.begun.d.next = 0.into();
            self.asked_valid.d.next = false;
        }
    }
}
