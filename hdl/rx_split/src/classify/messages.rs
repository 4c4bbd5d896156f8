//! Messages between the parts of `classify`.

use crate::messages::RxItem;
use stream::prelude::*;

/// A packet that waits for the reply of the flow table, or a confirmation among them.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RuleInput {
    /// The packet as far as it is known, or a confirmation.
    pub packet: RxItem,
    /// A look-up of the packet's flow was requested.
    pub requested: Bit,
    /// The packet is TCP.
    pub tcp: Bit,
    /// TCP flags, FIN in bit 0 to CWR in bit 7.
    pub flags: Bits<8>,
    /// TCP acknowledgement number.
    pub ack: Bits<32>,
    /// TCP options, first byte in bits 7:0.
    pub options: Bits<320>,
    /// Bytes of TCP options.
    pub option_bytes: Bits<6>,
    /// The options begin with NOP, NOP, timestamp.
    pub usual: Bit,
}

/// A packet with the state of its flow.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RuleCase {
    /// The packet as far as it is known, or a confirmation.
    pub packet: RxItem,
    /// A look-up of the packet's flow was requested.
    pub requested: Bit,
    /// Reply of the flow table.
    pub flow: FlowReply,
    /// The packet is TCP.
    pub tcp: Bit,
    /// TCP flags, FIN in bit 0 to CWR in bit 7.
    pub flags: Bits<8>,
    /// TCP acknowledgement number.
    pub ack: Bits<32>,
    /// The packet has a timestamp option.
    pub timestamp_found: Bit,
    /// TSval of the timestamp option.
    pub timestamp: Bits<32>,
}
