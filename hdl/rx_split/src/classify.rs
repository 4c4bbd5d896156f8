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
//! 1. No lookup is requested before the packet in front is settled: its reply shows the cursor of all
//!    packets before it.
//! 2. `looking_up` is low for a cycle between two packets.
//! 3. A `reset` forgets the lookup in flight; the packet is classified again.

use crate::draft::Draft;
use crate::messages::{PacketInfo, Placement, StoredPacket};
use crate::options::Options;
use crate::rules::Rules;
use stream::prelude::*;

/// What `classify` waits for.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ClassifyState {
    /// A packet.
    Idle,
    /// The table takes the lookup.
    Lookup,
    /// The table answers.
    Reply,
    /// Step 1 of the rules, and the timestamp.
    Differences,
    /// Step 2 of the rules.
    Trim,
    /// Step 3 of the rules.
    Reach,
    /// The rules' result.
    Decide,
    /// `place` takes the packet.
    Hand,
    /// The packet is settled.
    Settle,
}

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

    options: Options,
    rules: Rules,
    draft: Draft,
    state: DFF<ClassifyState>,
    flow: DFF<FlowReply>,
    placement: DFF<Placement>,

    info: Signal<Local, PacketInfo>,
}

impl Logic for Classify {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, flow, placement);
        self.options.clock.next = self.clock.val();
        self.rules.clock.next = self.clock.val();

        self.info.next = self.packets.payload.val().info;
        self.options.start.next = false;
        self.options.options.next = self.info.val().options;
        self.options.option_bytes.next = self.info.val().option_bytes;
        self.rules.packet.next = self.info.val();
        self.rules.flow.next = self.flow.q.val();
        self.rules.timestamp_found.next = self.options.found.val();
        self.rules.timestamp.next = self.options.value.val();
        self.draft.packet.next = self.packets.payload.val();
        self.draft.flow.next = self.flow.q.val();
        self.draft.result.next = self.rules.result.val();
        self.draft.ruled.next = self.state.q.val() == ClassifyState::Decide;

        self.packets.ready.next = self.settled.val();
        self.flow_lookup.valid.next = false;
        self.flow_lookup.payload.next.key = self.info.val().key;
        self.flow_reply.ready.next = false;
        self.placements.valid.next = false;
        self.placements.payload.next = self.placement.q.val();
        self.looking_up.next = true;

        match self.state.q.val() {
            // Waits for a packet, then starts its lookup, if it may have a flow.
            ClassifyState::Idle => {
                self.looking_up.next = false;
                self.placement.d.next = self.draft.placement.val();
                if self.packets.valid.val() {
                    self.options.start.next = true;
                    self.state.d.next = ClassifyState::Hand;
                    if self.info.val().transport & !self.info.val().unverified {
                        self.state.d.next = ClassifyState::Lookup;
                    }
                }
            }
            // Waits for the table to take the lookup.
            ClassifyState::Lookup => {
                self.flow_lookup.valid.next = true;
                if self.flow_lookup.ready.val() {
                    self.state.d.next = ClassifyState::Reply;
                }
            }
            // Waits for the table's answer, then lets the rules work on it.
            ClassifyState::Reply => {
                self.flow_reply.ready.next = true;
                self.flow.d.next = self.flow_reply.payload.val();
                if self.flow_reply.valid.val() {
                    self.state.d.next = ClassifyState::Differences;
                }
            }
            // Waits for the timestamp; the first step of the rules settles meanwhile.
            ClassifyState::Differences => {
                if !self.options.busy.val() {
                    self.state.d.next = ClassifyState::Trim;
                }
            }
            ClassifyState::Trim => {
                self.state.d.next = ClassifyState::Reach;
            }
            ClassifyState::Reach => {
                self.state.d.next = ClassifyState::Decide;
            }
            // Notes the result, then hands it on.
            ClassifyState::Decide => {
                self.placement.d.next = self.draft.placement.val();
                self.state.d.next = ClassifyState::Hand;
            }
            // Waits for `place` to take the packet.
            ClassifyState::Hand => {
                self.placements.valid.next = true;
                if self.placements.ready.val() {
                    self.state.d.next = ClassifyState::Settle;
                }
            }
            // Waits until the packet is settled.
            ClassifyState::Settle => {
                if self.settled.val() {
                    self.state.d.next = ClassifyState::Idle;
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = ClassifyState::Idle;
        }
    }
}
