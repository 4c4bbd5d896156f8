//! Compares a descriptor's range with its flow: right flow, and how much lies below the send floor.
//!
//! ```text
//!  fields, flow ──► combinational ──► refused + error, or position, payload_bytes, trim_bytes
//! ```
//! Differences are modulo 2^32, read as signed. In this order: flow not installed or another generation or
//! owner, `send_bad_flow`; payload, all of it below the floor, `stale_send`; a trim that the header's
//! layers do not allow, `send_malformed`.

use crate::plan::SendFields;
use abi::reason::SendError;
use stream::prelude::*;

// The literals of the kernel.
const _: () = {
    assert!(SendError::StaleSend as u8 == 0 && SendError::SendBadFlow as u8 == 3);
    assert!(SendError::SendMalformed as u8 == 4);
};

/// The check. See the module's head.
#[derive(LogicBlock, Default)]
pub struct FloorCheck {
    /// The descriptor.
    pub fields: Signal<In, SendFields>,
    /// Its flow.
    pub flow: Signal<In, SendFlowReply>,
    /// The descriptor is refused.
    pub refused: Signal<Out, Bit>,
    /// With `refused`: the SendError.
    pub error: Signal<Out, Bits<8>>,
    /// First stream position to send.
    pub position: Signal<Out, Bits<32>>,
    /// Bytes to send.
    pub payload_bytes: Signal<Out, Bits<18>>,
    /// Bytes cut off.
    pub trim_bytes: Signal<Out, Bits<18>>,

    payload_wide: Signal<Local, Bits<32>>,
    end_ahead: Signal<Local, Bits<32>>,
    start_ahead: Signal<Local, Bits<32>>,
    start_behind: Signal<Local, Bits<32>>,
    trimmed: Signal<Local, Bit>,
    stale: Signal<Local, Bit>,
    flow_bad: Signal<Local, Bit>,
}

impl Logic for FloorCheck {
    #[hdl_gen]
    fn update(&mut self) {
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

        self.position.next = self.fields.val().position;
        self.payload_bytes.next = self.fields.val().payload_bytes;
        self.trim_bytes.next = 0.into();
        if self.trimmed.val() {
            self.position.next = self.flow.val().floor;
            self.payload_bytes.next = bit_cast::<18, 32>(self.end_ahead.val());
            self.trim_bytes.next = bit_cast::<18, 32>(self.start_behind.val());
        }

        self.refused.next = self.flow_bad.val()
            | self.stale.val()
            | (self.trimmed.val() & !self.fields.val().layers_fit);
        self.error.next = 4.into();
        if self.stale.val() {
            self.error.next = 0.into();
        }
        if self.flow_bad.val() {
            self.error.next = 3.into();
        }
    }
}
