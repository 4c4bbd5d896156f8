//! Looks packets' flows up and applies the rules that need no cursor.
//!
//! ```text
//!  packets, confirmation ─► ask ─► waiting ─┬─► rules (timestamp beside it) ─► placements
//!                            └► flow_lookup ··· flow_reply ┘
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | packets | in | verified packets |
//! | confirmation | in | from the tables: they go along with the packets |
//! | flow_lookup, flow_reply | out, in | the flow table |
//! | placements | out | all of them in order: disposition, or the range to walk |
//! | taken | out | a packet was taken |
//!
//! Timing: one packet a cycle; four cycles and the table's latency. A packet whose flow demands a
//! timestamp that does not lie where it usually does waits up to 42 cycles.
//!
//! Invariants:
//! 1. A confirmation stands behind every packet whose lookup was requested before it came.
//! 2. `reset` forgets all packets inside.

pub mod ask;
pub mod differences;
pub mod options;
pub mod rules;
pub mod timestamp;

use crate::classify::ask::Ask;
use crate::classify::rules::Rules;
use crate::classify::timestamp::Timestamp;
use crate::messages::{Placement, RuleInput, StoredPacket};
use stream::prelude::*;

/// The stage. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Classify {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Verified packets.
    pub packets: MessageSink<StoredPacket>,
    /// Confirmations.
    pub confirmation: MessageSink<Confirmation>,
    /// To the flow table.
    pub flow_lookup: MessageSource<FlowLookup>,
    /// From the flow table.
    pub flow_reply: MessageSink<FlowReply>,
    /// To the share check.
    pub placements: MessageSource<Placement>,
    /// A packet was taken.
    pub taken: Signal<Out, Bit>,

    ask: Ask,
    waiting: BlockFifo<RuleInput, 5, 6>,
    timestamp: Timestamp,
    rules: Rules,
    ruled: ThroughFifo<Placement, 4, 5>,
    has_room: DFF<Bit>,

    oldest: Signal<Local, RuleInput>,
    flow: Signal<Local, FlowReply>,
    answered: Signal<Local, Bit>,
    demanded: Signal<Local, Bit>,
    go: Signal<Local, Bit>,
    /// Three more may be inside the rules, and one before it shows here.
    #[value(11)]
    ruled_max: Constant<Bits<5>>,
    #[value(FlowReply::default())]
    unasked: Constant<FlowReply>,
}

impl Logic for Classify {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, has_room);
        clock!(self, clock, ask, waiting, timestamp, rules, ruled);
        self.has_room.d.next = self.ruled.level.val() <= self.ruled_max.val();
        self.ask.reset.next = self.reset.val();
        self.waiting.reset.next = self.reset.val();
        self.timestamp.reset.next = self.reset.val();
        self.rules.reset.next = self.reset.val();
        self.ruled.reset.next = self.reset.val();
        MessageSink::<StoredPacket>::link(&mut self.packets, &mut self.ask.packets);
        MessageSink::<Confirmation>::link(&mut self.confirmation, &mut self.ask.confirmation);
        MessageSource::<FlowLookup>::link(&mut self.flow_lookup, &mut self.ask.flow_lookup);
        MessageSource::<RuleInput>::join(&mut self.ask.waiting, &mut self.waiting.sink);
        MessageSource::<Placement>::link(&mut self.placements, &mut self.ruled.source);
        self.taken.next = self.ask.taken.val();

        // The oldest goes on when its flow is known, and its timestamp where it matters.
        self.oldest.next = self.waiting.source.payload.val();
        self.flow.next = self.unasked.val();
        if self.oldest.val().asked {
            self.flow.next = self.flow_reply.payload.val();
        }
        self.answered.next = self.waiting.source.valid.val()
            & (!self.oldest.val().asked | self.flow_reply.valid.val());
        self.demanded.next = self.answered.val()
            & self.oldest.val().tcp
            & self.flow.val().hit
            & self.flow.val().timestamp_check;
        self.timestamp.packet.next = self.oldest.val();
        self.timestamp.demanded.next = self.demanded.val();
        self.go.next = self.answered.val()
            & self.timestamp.ready.val()
            & self.has_room.q.val()
            & !self.reset.val();
        self.timestamp.leaves.next = self.go.val();
        self.waiting.source.ready.next = self.go.val();
        self.flow_reply.ready.next = self.go.val() & self.oldest.val().asked;

        self.rules.sink.valid.next = self.go.val();
        self.rules.sink.payload.next.packet = self.oldest.val().packet;
        self.rules.sink.payload.next.asked = self.oldest.val().asked;
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
