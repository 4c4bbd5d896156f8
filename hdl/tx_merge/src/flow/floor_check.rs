//! Decides what can be decided of a descriptor without its list: whether it has the right flow, and
//! how much of it lies below the send floor.
//!
//! ```text
//!  fields, flow ──► distances ──► register ──► end ──► register ──► choose ──► range
//! ```
//! Differences are modulo 2^32, read as signed. The first of these that holds decides:
//! 1. Not read completely: `read_failed`.
//! 2. Refused by the descriptor check: `send_malformed`.
//! 3. Raw: it is sent as it is.
//! 4. The flow is not installed, or has another generation or owner: `send_bad_flow`.
//! 5. There is payload, all of it below the floor: `stale_send`.
//! 6. Payload below the floor is cut off; the rest is wanted.
//!
//! Timing: latency two cycles, one descriptor per cycle. `ready` follows `range.ready` in the same
//! cycle.
//!
//! Source: docs/specification.md, Descriptor checks.

use crate::messages::{SendFields, SendRange, SendVerdict};
use abi::reason::SendError;
use stream::prelude::*;

// The literals of the kernel.
const _: () = {
    assert!(SendError::StaleSend as u8 == 0 && SendError::SendBadFlow as u8 == 3);
    assert!(SendError::SendMalformed as u8 == 4 && SendError::ReadFailed as u8 == 5);
};

/// A descriptor beside the floor of its flow.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FloorPlace {
    /// The descriptor.
    pub fields: SendFields,
    /// The descriptor needs no flow: it is raw, unread or malformed.
    pub no_flow: Bit,
    /// The flow is not installed, or has another generation or owner.
    pub flow_bad: Bit,
    /// Protection domain of the flow.
    pub domain: Bits<16>,
    /// Send floor of the flow.
    pub floor: Bits<32>,
    /// First byte wanted, less the floor.
    pub start_ahead: Bits<32>,
    /// The floor, less the first byte wanted.
    pub start_behind: Bits<32>,
}

/// The check. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct FloorCheck {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops the descriptors under way.
    pub reset: Signal<In, Bit>,
    /// A descriptor is offered.
    pub valid: Signal<In, Bit>,
    /// The descriptor is taken.
    pub ready: Signal<Out, Bit>,
    /// Fields of the descriptor.
    pub fields: Signal<In, SendFields>,
    /// The descriptor needs no flow; `flow` is undefined.
    pub no_flow: Signal<In, Bit>,
    /// State of the descriptor's flow.
    pub flow: Signal<In, SendFlowReply>,
    /// The range to send, with what is decided so far.
    pub range: MessageSource<SendRange>,

    placed_valid: DFF<Bit>,
    placed: DFF<FloorPlace>,
    ended_valid: DFF<Bit>,
    ended: DFF<FloorPlace>,
    end_ahead: DFF<Bits<32>>,

    step: Signal<Local, Bit>,
    verdict: Signal<Local, SendVerdict>,
    first: Signal<Local, SendFields>,
    ended_fields: Signal<Local, SendFields>,
    has_payload: Signal<Local, Bit>,
    stale: Signal<Local, Bit>,

    #[value(SendError::StaleSend as u64)]
    stale_send: Constant<SendErrorCode>,
    #[value(SendError::SendBadFlow as u64)]
    send_bad_flow: Constant<SendErrorCode>,
    #[value(SendError::SendMalformed as u64)]
    send_malformed: Constant<SendErrorCode>,
    #[value(SendError::LinkDown as u64)]
    link_down: Constant<SendErrorCode>,
    #[value(SendError::ReadFailed as u64)]
    read_failed: Constant<SendErrorCode>,
}

impl Logic for FloorCheck {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, placed_valid, placed, ended_valid, ended);
        dff_setup!(self, clock, end_ahead);
        self.step.next = !self.ended_valid.q.val() | self.range.ready.val();
        self.ready.next = self.step.val();
        self.first.next = self.placed.q.val().fields;
        if self.step.val() {
            self.placed_valid.d.next = self.valid.val();
            self.placed.d.next.fields = self.fields.val();
            self.placed.d.next.no_flow = self.no_flow.val();
            self.placed.d.next.flow_bad = !self.flow.val().hit
                | (self.flow.val().generation != self.fields.val().generation)
                | (self.flow.val().owner != self.fields.val().owner);
            self.placed.d.next.domain = self.flow.val().domain;
            self.placed.d.next.floor = self.flow.val().floor;
            self.placed.d.next.start_ahead = self.fields.val().position - self.flow.val().floor;
            self.placed.d.next.start_behind = self.flow.val().floor - self.fields.val().position;
            self.ended_valid.d.next = self.placed_valid.q.val();
            self.ended.d.next = self.placed.q.val();
            self.end_ahead.d.next = self.placed.q.val().start_ahead
                + bit_cast::<32, 18>(self.first.val().payload_bytes);
        }

        self.ended_fields.next = self.ended.q.val().fields;
        self.has_payload.next = self.ended_fields.val().payload_bytes.any();
        self.stale.next = self.has_payload.val()
            & (self.end_ahead.q.val().get_bit(31) | !self.end_ahead.q.val().any());
        self.verdict.next.fields = self.ended_fields.val();
        self.verdict.next.payload_bytes = self.ended_fields.val().payload_bytes;
        self.verdict.next.trim_bytes = 0.into();
        self.range.payload.next.position = self.ended_fields.val().position;
        self.range.payload.next.domain = self.ended.q.val().domain;
        if self.has_payload.val() & self.ended.q.val().start_ahead.get_bit(31) {
            self.range.payload.next.position = self.ended.q.val().floor;
            self.verdict.next.payload_bytes = bit_cast::<18, 32>(self.end_ahead.q.val());
            self.verdict.next.trim_bytes = bit_cast::<18, 32>(self.ended.q.val().start_behind);
        }

        self.verdict.next.refused = self.ended.q.val().flow_bad | self.stale.val();
        self.verdict.next.error = self.stale_send.val();
        if self.ended.q.val().no_flow {
            self.verdict.next.refused =
                self.ended_fields.val().unread | self.ended_fields.val().malformed;
            self.verdict.next.error = self.send_malformed.val();
            if self.ended_fields.val().link_down {
                self.verdict.next.error = self.link_down.val();
            }
            if self.ended_fields.val().unread {
                self.verdict.next.error = self.read_failed.val();
            }
        } else if self.ended.q.val().flow_bad {
            self.verdict.next.error = self.send_bad_flow.val();
        }
        self.range.payload.next.verdict = self.verdict.val();
        self.range.payload.next.wanted =
            self.has_payload.val() & !(self.ended.q.val().flow_bad | self.stale.val());
        self.range.valid.next = self.ended_valid.q.val();
        if self.reset.val() {
            self.placed_valid.d.next = false;
            self.ended_valid.d.next = false;
        }
    }
}
