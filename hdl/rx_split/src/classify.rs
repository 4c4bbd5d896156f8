//! Looks a packet's flow up and applies the rules.
//!
//! ```text
//!  packets ──► flow_lookup ··· flow_reply ──► rules (options beside it) ──► placements
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | packets | in | verified packets; one is taken when it is settled |
//! | flow_lookup, flow_reply | out, in | the flow table |
//! | placements | out | the packet with its disposition, or the range to walk |
//! | settled | in | pulse: the packet's cursor is written and it is counted |
//! | looking_up | out | a packet is between its lookup and `settled` |
//!
//! Timing: one packet at a time; six cycles and the table's latency.
//!
//! Invariants:
//! 1. No lookup is requested before the packet in front is settled: its reply shows the cursor of
//!    all
//!    packets before it.
//! 2. `looking_up` is low for a cycle between two packets.
//! 3. A `reset` forgets the lookup in flight; the packet is classified again.

use crate::classify_control::{ClassifyControl, ClassifyState};
use crate::draft::Draft;
use crate::messages::{PacketInfo, Placement, StoredPacket};
use crate::options::Options;
use crate::rules::Rules;
use stream::prelude::*;

/// The stage. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Classify {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Verified packets.
    pub packets: MessageSink<StoredPacket>,
    /// To the flow table.
    pub flow_lookup: MessageSource<FlowLookup>,
    /// From the flow table.
    pub flow_reply: MessageSink<FlowReply>,
    /// To `place`.
    pub placements: MessageSource<Placement>,

    /// The packet is settled.
    pub settled: Signal<In, Bit>,
    /// A packet is between its lookup and `settled`.
    pub looking_up: Signal<Out, Bit>,

    control: ClassifyControl,
    options: Options,
    rules: Rules,
    draft: Draft,
    flow: DFF<FlowReply>,
    placement: DFF<Placement>,

    state: Signal<Local, ClassifyState>,
    info: Signal<Local, PacketInfo>,
}

impl Logic for Classify {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, flow, placement);
        self.control.clock.next = self.clock.val();
        self.control.reset.next = self.reset.val();
        self.options.clock.next = self.clock.val();
        self.rules.clock.next = self.clock.val();
        self.state.next = self.control.step.val();
        self.info.next = self.packets.payload.val().info;

        self.control.packet.next = self.packets.valid.val();
        self.control.may_have_flow.next = self.info.val().transport & !self.info.val().unverified;
        self.control.asked.next = self.flow_lookup.ready.val();
        self.control.answered.next = self.flow_reply.valid.val();
        self.control.searching.next = self.options.busy.val();
        self.control.handed.next = self.placements.ready.val();
        self.control.settled.next = self.settled.val();

        self.options.start.next =
            (self.state.val() == ClassifyState::Idle) & self.packets.valid.val();
        self.options.options.next = self.info.val().options;
        self.options.option_bytes.next = self.info.val().option_bytes;
        self.rules.packet.next = self.info.val();
        self.rules.flow.next = self.flow.q.val();
        self.rules.timestamp_found.next = self.options.found.val();
        self.rules.timestamp.next = self.options.value.val();
        self.draft.packet.next = self.packets.payload.val();
        self.draft.flow.next = self.flow.q.val();
        self.draft.result.next = self.rules.result.val();
        self.draft.ruled.next = self.state.val() == ClassifyState::Decide;

        self.packets.ready.next = self.settled.val();
        self.flow_lookup.valid.next = self.state.val() == ClassifyState::Lookup;
        self.flow_lookup.payload.next.key = self.info.val().key;
        self.flow_reply.ready.next = self.state.val() == ClassifyState::Reply;
        self.placements.valid.next = self.state.val() == ClassifyState::Hand;
        self.placements.payload.next = self.placement.q.val();
        self.looking_up.next = self.state.val() != ClassifyState::Idle;
        if self.state.val() == ClassifyState::Reply {
            self.flow.d.next = self.flow_reply.payload.val();
        }
        if (self.state.val() == ClassifyState::Idle) | (self.state.val() == ClassifyState::Decide) {
            self.placement.d.next = self.draft.placement.val();
        }
    }
}
