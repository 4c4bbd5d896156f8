//! Requests each descriptor's flow and compares the descriptor with the send floor.
//!
//! ```text
//!  fields ──► register ──► flow_request ··· flow_reply ──┐
//!                  └──► waiting (8) ─────────────────────┴──► floor check ──► range
//! ```
//! Timing: one descriptor per cycle; up to 8 wait for their flow. `fields.ready` follows
//! `flow_request.ready`, `flow_reply.ready` follows `range.ready`, in the same cycle.
//!
//! Invariants:
//! 1. `started` counts a descriptor at the latest in the cycle in which its request is offered.
//! 2. An empty range is never stale: a header without payload is sent whatever the floor.
//! 3. No look-up begins while 32 KiB of payload or more wait to be read. So a confirmation waits
//!    for no more than that, one descriptor and the payload buffer.
//!
//! On error: `range` carries the refusal and its reason.
//!
//! Source: docs/specification.md, Descriptor checks; Fence.

pub mod floor_check;
pub mod look_ahead;

use crate::flow::floor_check::FloorCheck;
use crate::flow::look_ahead::LookAhead;
use crate::messages::{SendFields, SendRange};
use stream::prelude::*;

/// The stage. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Flow {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops all descriptors and sets `started` to 0.
    pub reset: Signal<In, Bit>,

    /// Descriptors in ring order.
    pub fields: MessageSink<SendFields>,
    /// Id of a flow to look up; not for a raw, unread or malformed descriptor.
    pub flow_request: MessageSource<Bits<16>>,
    /// State of the flow, in request order.
    pub flow_reply: MessageSink<SendFlowReply>,
    /// The range to send, one message for each descriptor, with what was decided.
    pub range: MessageSource<SendRange>,
    /// Descriptors whose look-ups began, modulo 2^32.
    pub started: Signal<Out, Bits<32>>,
    /// Payload of a descriptor that will not be read.
    pub dropped_bytes: PulseSink<Bits<18>>,
    /// Payload whose read was issued.
    pub requested_bytes: PulseSink<Bits<10>>,

    requested: DFF<SendFields>,
    requested_valid: DFF<Bit>,
    waiting: Fifo<SendFields, 3, 4>,
    floor: FloorCheck,
    begun: DFF<Bits<32>>,
    ahead: LookAhead,

    requests_flow: Signal<Local, Bit>,
    pass: Signal<Local, Bit>,
    free: Signal<Local, Bit>,
    starts: Signal<Local, Bit>,
    needs_flow: Signal<Local, Bit>,
    replied: Signal<Local, Bit>,
}

impl Logic for Flow {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, requested, requested_valid, begun);
        clock!(self, clock, waiting, floor, ahead);
        self.waiting.reset.next = self.reset.val();
        self.floor.reset.next = self.reset.val();
        MessageSource::<SendRange>::link(&mut self.range, &mut self.floor.range);
        self.started.next = self.begun.q.val();

        // Request the flow, unless the descriptor is raw, unread or malformed.
        self.requests_flow.next = !(self.requested.q.val().unread
            | self.requested.q.val().malformed
            | self.requested.q.val().raw);
        self.flow_request.payload.next = self.requested.q.val().flow;
        self.flow_request.valid.next =
            self.requested_valid.q.val() & self.requests_flow.val() & self.waiting.sink.ready.val();
        self.pass.next = self.requested_valid.q.val()
            & self.waiting.sink.ready.val()
            & (!self.requests_flow.val() | self.flow_request.ready.val());
        self.waiting.sink.valid.next = self.pass.val();
        self.waiting.sink.payload.next = self.requested.q.val();

        // Begin the next one while there is less than 32 KiB to read.
        self.ahead.reset.next = self.reset.val();
        PulseSink::<Bits<18>>::link(&mut self.dropped_bytes, &mut self.ahead.dropped_bytes);
        PulseSink::<Bits<10>>::link(&mut self.requested_bytes, &mut self.ahead.requested_bytes);
        self.free.next = (!self.requested_valid.q.val() | self.pass.val()) & self.ahead.open.val();
        self.fields.ready.next = self.free.val();
        self.starts.next = self.fields.valid.val() & self.free.val();
        self.ahead.begun_bytes.valid.next = self.starts.val();
        self.ahead.begun_bytes.payload.next = self.fields.payload.val().payload_bytes;
        if self.pass.val() {
            self.requested_valid.d.next = false;
        }
        if self.starts.val() {
            self.requested.d.next = self.fields.payload.val();
            self.requested_valid.d.next = true;
            self.begun.d.next = self.begun.q.val() + 1;
        }

        // Go on with the reply.
        self.needs_flow.next = !(self.waiting.source.payload.val().unread
            | self.waiting.source.payload.val().malformed
            | self.waiting.source.payload.val().raw);
        self.replied.next = self.waiting.source.valid.val()
            & (self.flow_reply.valid.val() | !self.needs_flow.val());
        self.floor.valid.next = self.replied.val();
        self.floor.fields.next = self.waiting.source.payload.val();
        self.floor.no_flow.next = !self.needs_flow.val();
        self.floor.flow.next = self.flow_reply.payload.val();
        self.waiting.source.ready.next = self.replied.val() & self.floor.ready.val();
        self.flow_reply.ready.next =
            self.waiting.source.valid.val() & self.needs_flow.val() & self.floor.ready.val();
        if self.reset.val() {
            self.begun.d.next = 0.into();
            self.requested_valid.d.next = false;
        }
    }
}
