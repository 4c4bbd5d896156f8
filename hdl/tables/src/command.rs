//! The command processor: carries commands out one by one, in ring order, and confirms each.
//!
//! ```text
//!  command_fetch ─┐                       ┌─► key_update, change   (flow table)
//!  commands ──────┴─► batch ──► command ──┼─► rx_list, tx_list     (segment lists)
//!                       query ◄──► flow ──┼─► region, page (region table)
//!                                         └─► confirmation
//! ```
//!
//! | Port | Direction | Meaning and duty |
//! |---|---|---|
//! | `commands`, `command_fetch` | in | see [`crate::command_batch`] |
//! | `confirmation` | out | exactly one for each command taken, in order |
//! | `command_done` | out | pulse: a confirmation was handed out |
//! | `command_read_failed` | out | pulse: a packet was given up, nothing of it is confirmed |
//! | `query`, `queried` | out, in | the flow that the command names |
//! | `rx_list`, `rx_result` | out, in | changes of lists; each is answered by a pulse |
//! | `tx_list`, `tx_result` | out, in | the same |
//! | others | out | updates |
//!
//! Timing: a command that changes no list takes 9 cycles, one that does 7 more, `flow_install` 14
//! more, `list_move` about 8 more for each entry. Outputs but `confirmation` are functions of
//! registers through the decoders.
//!
//! Invariants:
//! 1. A refused command changes nothing.
//! 2. `confirmation` is offered after the last memory was written: a lookup requested later sees
//!    the change.
//! 3. `floor_set` moves the head first, then the floor; `flow_install` empties both lists, then
//!    makes the flow valid: no packet between them is placed by a mixture that neither state would
//!    allow.
//! 4. `reset` forgets the command in work; it is not confirmed.

use crate::command_batch::CommandBatch;
use crate::command_sequence::{CommandSequence, CommandState};
use crate::command_work::CommandWork;
use crate::updates::{
    CommandBeat, FlowControl, FlowUpdate, KeyUpdate, ListUpdate, PageUpdate, RegionUpdate,
};
use stream::prelude::*;

/// The processor. See the module's head.
#[derive(LogicBlock)]
pub struct CommandProcessor<
    const FLOW_BITS: usize,
    const BUCKET_BITS: usize,
    const SEGMENT_BITS: usize,
    const REGION_BITS: usize,
    const PAGE_BITS: usize,
    const OWNER_BITS: usize,
> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,
    /// Current epoch.
    pub epoch: Signal<In, Bits<16>>,

    /// Pieces of command rings.
    pub commands: PacketSink,
    /// Whose they are.
    pub command_fetch: MessageSink<RingFetch>,
    /// The end of each command.
    pub confirmation: MessageSource<Confirmation>,
    /// A confirmation was handed out.
    pub command_done: Signal<Out, Bit>,
    /// A piece was given up.
    pub command_read_failed: Signal<Out, Bit>,

    /// Flow that the command names.
    pub query: PulseSource<Bits<16>>,
    /// Its state.
    pub queried: PulseSink<FlowControl>,
    /// Key slot to write.
    pub key_update: PulseSource<KeyUpdate>,
    /// Flow state to write.
    pub change: MessageSource<FlowUpdate>,
    /// Change of a receive list.
    pub rx_list: MessageSource<ListUpdate>,
    /// Its CommandStatus.
    pub rx_result: PulseSink<Bits<8>>,
    /// Change of a send list.
    pub tx_list: MessageSource<ListUpdate>,
    /// Its CommandStatus.
    pub tx_result: PulseSink<Bits<8>>,
    /// Region to write.
    pub region: PulseSource<RegionUpdate>,
    /// Page entry to write.
    pub page: PulseSource<PageUpdate>,
    /// A region's removal is under way.
    pub region_busy: Signal<In, Bit>,

    batch: CommandBatch,
    work: CommandWork<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS>,

    steps: CommandSequence,

    beat: DFF<CommandBeat>,
    flow: DFF<FlowControl>,
    done: DFF<Bit>,

    data: Signal<Local, Bits<512>>,
    at: Signal<Local, CommandState>,
    writing: Signal<Local, Bit>,
}

impl<
        const FLOW_BITS: usize,
        const BUCKET_BITS: usize,
        const SEGMENT_BITS: usize,
        const REGION_BITS: usize,
        const PAGE_BITS: usize,
        const OWNER_BITS: usize,
    > Default
    for CommandProcessor<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS>
{
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            epoch: Default::default(),
            commands: Default::default(),
            command_fetch: Default::default(),
            confirmation: Default::default(),
            command_done: Default::default(),
            command_read_failed: Default::default(),
            query: Default::default(),
            queried: Default::default(),
            key_update: Default::default(),
            change: Default::default(),
            rx_list: Default::default(),
            rx_result: Default::default(),
            tx_list: Default::default(),
            tx_result: Default::default(),
            region: Default::default(),
            page: Default::default(),
            region_busy: Default::default(),
            batch: Default::default(),
            work: Default::default(),
            steps: Default::default(),
            beat: Default::default(),
            flow: Default::default(),
            done: Default::default(),
            data: Default::default(),
            at: Default::default(),
            writing: Default::default(),
        }
    }
}

impl<
        const FLOW_BITS: usize,
        const BUCKET_BITS: usize,
        const SEGMENT_BITS: usize,
        const REGION_BITS: usize,
        const PAGE_BITS: usize,
        const OWNER_BITS: usize,
    > Logic
    for CommandProcessor<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, beat, flow, done);
        self.batch.clock.next = self.clock.val();
        self.batch.reset.next = self.reset.val();
        self.work.clock.next = self.clock.val();
        self.work.epoch.next = self.epoch.val();
        self.steps.clock.next = self.clock.val();
        self.steps.reset.next = self.reset.val();
        PacketSink::link(&mut self.commands, &mut self.batch.commands);
        MessageSink::<RingFetch>::link(&mut self.command_fetch, &mut self.batch.command_fetch);
        self.command_read_failed.next = self.batch.command_read_failed.val();

        // The command and its flow are kept while the sequence works on them.
        self.at.next = self.steps.at.val();
        self.batch.command.ready.next = self.at.val() == CommandState::Idle;
        if self.at.val() == CommandState::Idle {
            self.beat.d.next = self.batch.command.payload.val();
        }
        if self.queried.valid.val() {
            self.flow.d.next = self.queried.payload.val();
        }
        self.work.beat.next = self.beat.q.val();
        self.work.flow.next = self.flow.q.val();
        self.work.install_tx.next = self.steps.install_tx.val();

        self.steps.command_valid.next = self.batch.command.valid.val();
        self.steps.flow_valid.next = self.queried.valid.val();
        self.steps.kind.next = self.work.kind.val();
        self.steps.judged.next = self.work.status.val();
        self.steps.list_ready.next = self.rx_list.ready.val();
        self.steps.list_done.next = self.rx_result.valid.val();
        self.steps.list_status.next = self.rx_result.payload.val();
        if self.work.list_tx.val() {
            self.steps.list_ready.next = self.tx_list.ready.val();
            self.steps.list_done.next = self.tx_result.valid.val();
            self.steps.list_status.next = self.tx_result.payload.val();
        }
        self.steps.change_ready.next = self.change.ready.val();
        self.steps.busy.next = self.region_busy.val();
        self.steps.confirm_ready.next = self.confirmation.ready.val();

        // Updates; none in a reset cycle, where the epoch may already be the next one.
        self.data.next = self.beat.q.val().data;
        self.query.valid.next = self.at.val() == CommandState::Query;
        self.query.payload.next = self.data.val().get_bits::<16>(16);
        self.rx_list.valid.next =
            (self.at.val() == CommandState::ListAsk) & !self.work.list_tx.val();
        self.rx_list.payload.next = self.work.list_update.val();
        self.tx_list.valid.next =
            (self.at.val() == CommandState::ListAsk) & self.work.list_tx.val();
        self.tx_list.payload.next = self.work.list_update.val();
        self.change.valid.next = (self.at.val() == CommandState::Change) & !self.reset.val();
        self.change.payload.next = self.work.flow_update.val();
        self.writing.next = (self.at.val() == CommandState::Write) & !self.reset.val();
        self.key_update.valid.next = self.writing.val() & self.work.writes_key.val();
        self.key_update.payload.next = self.work.key_update.val();
        self.region.valid.next = self.writing.val() & self.work.writes_region.val();
        self.region.payload.next = self.work.region_update.val();
        self.page.valid.next = self.writing.val() & self.work.writes_page.val();
        self.page.payload.next = self.work.page_update.val();

        self.confirmation.valid.next = self.at.val() == CommandState::Confirm;
        self.confirmation.payload.next.owner = self.beat.q.val().owner;
        self.confirmation.payload.next.index = self.beat.q.val().index;
        self.confirmation.payload.next.status = self.steps.status.val();
        self.done.d.next = (self.at.val() == CommandState::Confirm) & self.confirmation.ready.val();
        self.command_done.next = self.done.q.val();
    }
}
