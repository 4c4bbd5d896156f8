//! Decides what can be decided of a descriptor without its list: right flow, and how much lies
//! below the send floor.
//!
//! ```text
//!  fields, flow ──► combinational ──► range
//! ```
//! Differences are modulo 2^32, read as signed. In this order: not read completely, `read_failed`;
//! refused by the descriptor check, `send_malformed`; raw, sent as it is; flow not installed or
//! another generation or owner, `send_bad_flow`; payload, all of it below the floor, `stale_send`.

use crate::plan::{SendFields, SendRange, SendVerdict};
use abi::reason::SendError;
use stream::prelude::*;

// The literals of the kernel.
const _: () = {
    assert!(SendError::StaleSend as u8 == 0 && SendError::SendBadFlow as u8 == 3);
    assert!(SendError::SendMalformed as u8 == 4 && SendError::ReadFailed as u8 == 5);
};

/// The check. See the module's head.
#[derive(LogicBlock, Default)]
pub struct FloorCheck {
    /// The descriptor.
    pub fields: Signal<In, SendFields>,
    /// Its flow, if it needs one.
    pub flow: Signal<In, SendFlowReply>,
    /// It needs none.
    pub no_flow: Signal<Out, Bit>,
    /// What is decided.
    pub range: Signal<Out, SendRange>,

    verdict: Signal<Local, SendVerdict>,
    payload_wide: Signal<Local, Bits<32>>,
    end_ahead: Signal<Local, Bits<32>>,
    start_ahead: Signal<Local, Bits<32>>,
    start_behind: Signal<Local, Bits<32>>,
    trimmed: Signal<Local, Bit>,
    stale: Signal<Local, Bit>,
    flow_bad: Signal<Local, Bit>,
    unfit: Signal<Local, Bit>,
}

impl Logic for FloorCheck {
    #[hdl_gen]
    fn update(&mut self) {
        self.unfit.next = self.fields.val().unread | self.fields.val().malformed;
        self.no_flow.next = self.unfit.val() | self.fields.val().raw;
        self.payload_wide.next = bit_cast::<32, 18>(self.fields.val().payload_bytes);
        self.start_ahead.next = self.fields.val().position - self.flow.val().floor;
        self.start_behind.next = self.flow.val().floor - self.fields.val().position;
        self.end_ahead.next = self.start_ahead.val() + self.payload_wide.val();
        self.flow_bad.next = !self.flow.val().hit
            | (self.flow.val().generation != self.fields.val().generation)
            | (self.flow.val().owner != self.fields.val().owner);
        self.stale.next = self.payload_wide.val().any()
            & (self.end_ahead.val().get_bit(31) | !self.end_ahead.val().any());
        self.trimmed.next = self.payload_wide.val().any() & self.start_ahead.val().get_bit(31);

        self.verdict.next.fields = self.fields.val();
        self.verdict.next.payload_bytes = self.fields.val().payload_bytes;
        self.verdict.next.trim_bytes = 0.into();
        self.range.next.position = self.fields.val().position;
        self.range.next.domain = self.flow.val().domain;
        if self.unfit.val() | self.fields.val().raw {
            self.verdict.next.payload_bytes = 0.into();
        } else if self.trimmed.val() {
            self.range.next.position = self.flow.val().floor;
            self.verdict.next.payload_bytes = bit_cast::<18, 32>(self.end_ahead.val());
            self.verdict.next.trim_bytes = bit_cast::<18, 32>(self.start_behind.val());
        }

        self.verdict.next.refused = self.flow_bad.val() | self.stale.val();
        self.verdict.next.error = 4.into();
        if self.unfit.val() | self.fields.val().raw {
            self.verdict.next.refused = self.unfit.val();
            if self.fields.val().unread {
                self.verdict.next.error = 5.into();
            }
        } else if self.flow_bad.val() {
            self.verdict.next.error = 3.into();
        } else if self.stale.val() {
            self.verdict.next.error = 0.into();
        }
        self.range.next.verdict = self.verdict.val();
        self.range.next.wanted =
            !self.verdict.val().refused & self.verdict.val().payload_bytes.any();
    }
}
