//! Looks up the flows of packets and applies the rules that need no cursor.
//!
//! ```text
//!  packets, confirmation ─► flow request ─► waiting ─┬─► rules (timestamp beside it) ─► items
//!                              └► flow_lookup ··· flow_reply ┘
//! ```
//! Timing: one packet per cycle; latency four cycles and that of the flow table. A packet whose
//! flow demands a timestamp that is not where it usually is waits up to 42 cycles.
//!
//! Invariants:
//! 1. A confirmation is placed after every packet whose look-up was requested before it came.
//! 2. `reset` forgets all packets inside.
//!
//! Source: docs/specification.md, Placement (rules 1 to 9), Order and Fence.

pub mod differences;
pub mod flow_request;
pub mod messages;
pub mod options;
pub mod rules;
pub mod timestamp;

use crate::classify::flow_request::FlowRequest;
use crate::classify::messages::RuleInput;
use crate::classify::rules::Rules;
use crate::classify::timestamp::Timestamp;
use crate::messages::{RxItem, StoredPacket};
use stream::prelude::*;

/// The stage. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Classify {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: packets and confirmations inside are forgotten.
    pub reset: Signal<In, Bit>,

    /// Verified packets.
    pub packets: MessageSink<StoredPacket>,
    /// Confirmations from the tables; they go along with the packets.
    pub confirmation: MessageSink<CommandEnd>,
    /// Look-ups to the flow table.
    pub flow_lookup: MessageSource<FlowLookup>,
    /// Replies of the flow table, in the order of the look-ups.
    pub flow_reply: MessageSink<FlowReply>,
    /// Packets and confirmations in order: each packet with its disposition, or with the range to
    /// place.
    pub items: MessageSource<RxItem>,
    /// A packet is taken in this cycle.
    pub taken: Signal<Out, Bit>,

    flow_request: FlowRequest,
    waiting: BlockFifo<RuleInput, 5, 6>,
    timestamp: Timestamp,
    rules: Rules,
    ruled: ThroughFifo<RxItem, 4, 5>,
    has_space: DFF<Bit>,

    oldest: Signal<Local, RuleInput>,
    flow: Signal<Local, FlowReply>,
    replied: Signal<Local, Bit>,
    go: Signal<Local, Bit>,
    /// Three more may be inside the rules, and one before it shows here.
    #[value(11)]
    ruled_max: Constant<Bits<5>>,
    #[value(FlowReply::default())]
    none: Constant<FlowReply>,
}

impl Logic for Classify {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, has_space);
        clock!(self, clock, flow_request, waiting, timestamp, rules, ruled);
        self.has_space.d.next = self.ruled.level.val() <= self.ruled_max.val();
        self.flow_request.reset.next = self.reset.val();
        self.waiting.reset.next = self.reset.val();
        self.timestamp.reset.next = self.reset.val();
        self.rules.reset.next = self.reset.val();
        self.ruled.reset.next = self.reset.val();
        MessageSink::<StoredPacket>::link(&mut self.packets, &mut self.flow_request.packets);
        MessageSink::<CommandEnd>::link(
            &mut self.confirmation,
            &mut self.flow_request.confirmation,
        );
        MessageSource::<FlowLookup>::link(
            &mut self.flow_lookup,
            &mut self.flow_request.flow_lookup,
        );
        MessageSource::<RuleInput>::join(&mut self.flow_request.waiting, &mut self.waiting.sink);
        MessageSource::<RxItem>::link(&mut self.items, &mut self.ruled.source);
        self.taken.next = self.flow_request.taken.val();

        // The oldest leaves when its flow is known, and its timestamp where it matters.
        self.oldest.next = self.waiting.source.payload.val();
        self.flow.next = self.none.val();
        if self.oldest.val().requested {
            self.flow.next = self.flow_reply.payload.val();
        }
        self.replied.next = self.waiting.source.valid.val()
            & (!self.oldest.val().requested | self.flow_reply.valid.val());
        self.timestamp.packet.next = self.oldest.val();
        self.timestamp.demanded.next = self.replied.val()
            & self.oldest.val().tcp
            & self.flow.val().hit
            & self.flow.val().timestamp_check;
        self.go.next = self.replied.val()
            & self.timestamp.ready.val()
            & self.has_space.q.val()
            & !self.reset.val();
        self.timestamp.leaves.next = self.go.val();
        self.waiting.source.ready.next = self.go.val();
        self.flow_reply.ready.next = self.go.val() & self.oldest.val().requested;

        self.rules.sink.valid.next = self.go.val();
        self.rules.sink.payload.next.packet = self.oldest.val().packet;
        self.rules.sink.payload.next.requested = self.oldest.val().requested;
        self.rules.sink.payload.next.flow = self.flow.val();
        self.rules.sink.payload.next.tcp = self.oldest.val().tcp;
        self.rules.sink.payload.next.flags = self.oldest.val().flags;
        self.rules.sink.payload.next.ack = self.oldest.val().ack;
        self.rules.sink.payload.next.timestamp_found = self.timestamp.found.val();
        self.rules.sink.payload.next.timestamp = self.timestamp.value.val();
        self.ruled.sink.valid.next = self.rules.source.valid.val();
        self.ruled.sink.payload.next = self.rules.source.payload.val();
    }
}
