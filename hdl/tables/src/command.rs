//! The command processor: carries commands out in ring order, and confirms each.
//!
//! ```text
//!  command_fetch ─┐                       ┌─► key_update, change   (flow table)
//!  commands ──────┴─► batch ──► command ──┼─► rx_list, tx_list     (segment lists)
//!                       query ◄──► flow ──┼─► region, page         (region table)
//!                                         └─► confirmations (8) ──► confirmation
//! ```
//! Timing: a command takes 8 cycles, a refused one 7; `region_remove` about 5 more,
//! `segment_truncate` about 10 more, `list_move` as long as its list's updater. A floor that lifts
//! the cursor waits for a cycle without a cursor move. Confirmations wait in a FIFO: their consumer
//! does not hold up the next commands until 7 wait, nor do the fences until `CONFIRMATIONS_MAX` are
//! in flight.
//!
//! Invariants:
//! 1. A refused command changes nothing.
//! 2. `confirmation` is offered after the last memory was written: a look-up requested later sees
//!    the change.
//! 3. `floor_set` moves head and floor, and `flow_install` empties both lists and makes the flow
//!    valid, in one cycle. A packet whose flow was looked up before that cycle and whose list is
//!    searched after it is deferred at worst.
//! 4. `reset` forgets the command in work and the confirmations that wait.
//! 5. At most `CONFIRMATIONS_MAX` commands were taken whose confirmation has not left the last
//!    fence: so commands wait for descriptors that take long, and packets do not.
//! 6. A change is stable from four cycles before its `commit` on. This relies on two things: the
//!    state of a flow comes once, two cycles or more after its request; and a list is busy only
//!    during a truncate or a move, from the cycle after `commit` on.
//!
//! On error: a refused command is confirmed with its status. A packet of commands that was aborted
//! is dropped whole, without confirmations.
//!
//! Source: `docs/specification.md`, Commands and Fence; decision 11.

pub mod command_batch;
pub mod command_check;
pub mod command_decode;
pub mod command_judge;
pub mod command_kind;
pub mod command_sequence;
pub mod command_work;
pub mod run_ends;

use crate::command::command_batch::CommandBatch;
use crate::command::command_sequence::CommandSequence;
use crate::command::command_work::CommandWork;
use crate::command::run_ends::RunEnds;
use crate::messages::{CommandBeat, FlowControl, FlowUpdate, KeyUpdate, PageUpdate, RegionUpdate};
use crate::segment_list::list_control::ListControlSource;
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
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: forgets the command in work and the confirmations that wait.
    pub reset: Signal<In, Bit>,
    /// Epoch that is written into new entries.
    pub epoch: Signal<In, Bits<16>>,

    /// Commands of a fetch: packets of 1 to 16 beats, one command each.
    pub commands: PacketSink,
    /// Owner and first index of the next packet of `commands`, one message for each.
    pub command_fetch: MessageSink<RingFetch>,
    /// Confirmations, exactly one for each command taken, in order.
    pub confirmation: MessageSource<CommandEnd>,
    /// A confirmation was handed out (one cycle).
    pub command_done: Signal<Out, Bit>,
    /// A packet of commands was dropped: none of it is carried out or confirmed (one cycle).
    pub command_read_failed: Signal<Out, Bit>,

    /// Flow id that the command names.
    pub query: PulseSource<Bits<16>>,
    /// State of the flow of `query`.
    pub queried: PulseSink<FlowControl>,
    /// Key slots to write.
    pub key_update: PulseSource<KeyUpdate>,
    /// Flow state to write.
    pub change: MessageSource<FlowUpdate>,
    /// Changes of receive lists; see [`crate::segment_list::list_control`].
    pub rx_list: ListControlSource,
    /// Changes of send lists; see [`crate::segment_list::list_control`].
    pub tx_list: ListControlSource,
    /// Regions to write.
    pub region: PulseSource<RegionUpdate>,
    /// Page entries to write.
    pub page: PulseSource<PageUpdate>,
    /// The removal of a region is in progress.
    pub region_busy: Signal<In, Bit>,
    /// Take no command from the next cycle on: the tables are being scrubbed or the hashes
    /// rewritten.
    pub hold: Signal<In, Bit>,
    /// A confirmation has left the last fence (one cycle).
    pub fence_passed: Signal<In, Bit>,

    batch: CommandBatch,
    work: CommandWork<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS>,

    steps: CommandSequence,

    beat: DFF<CommandBeat>,
    flow: DFF<FlowControl>,
    ended: DFF<CommandEnd>,
    ended_valid: DFF<Bit>,
    done: DFF<Bit>,

    confirmations: Fifo<CommandEnd, 3, 4>,
    run_ends: RunEnds,

    has_space: DFF<Bit>,

    command_data: Signal<Local, Bits<512>>,
    act_ready: Signal<Local, Bit>,
    commit: Signal<Local, Bit>,
    acts: Signal<Local, Bit>,
    enough: Constant<Bits<4>>,
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
            tx_list: Default::default(),
            region: Default::default(),
            page: Default::default(),
            region_busy: Default::default(),
            hold: Default::default(),
            fence_passed: Default::default(),
            batch: Default::default(),
            work: Default::default(),
            steps: Default::default(),
            beat: Default::default(),
            flow: Default::default(),
            ended: Default::default(),
            ended_valid: Default::default(),
            done: Default::default(),
            confirmations: Default::default(),
            run_ends: Default::default(),
            has_space: Default::default(),
            command_data: Default::default(),
            act_ready: Default::default(),
            commit: Default::default(),
            acts: Default::default(),
            enough: Constant::new(7u64.to_bits()),
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
    > CommandProcessor<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS>
{
    /// For tables with a list in the neighbour die.
    pub fn far() -> Self {
        Self { steps: CommandSequence::far(), ..Self::default() }
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
        dff_setup!(self, clock, beat, flow, ended, ended_valid, done, has_space);
        clock!(self, clock, batch, work, steps, confirmations);
        self.batch.reset.next = self.reset.val();
        self.work.epoch.next = self.epoch.val();
        self.steps.reset.next = self.reset.val();
        self.confirmations.reset.next = self.reset.val();
        PacketSink::link(&mut self.commands, &mut self.batch.commands);
        MessageSink::<RingFetch>::link(&mut self.command_fetch, &mut self.batch.command_fetch);
        self.command_read_failed.next = self.batch.command_read_failed.val();

        // A command is taken when its confirmation will have a place, beside one that is still
        // in its register.
        self.has_space.d.next = (self.confirmations.level.val() < self.enough.val())
            & self.steps.has_places.val()
            & !self.hold.val();
        self.steps.fence_passed.next = self.fence_passed.val();
        self.steps.command_valid.next = self.batch.command.valid.val();
        self.steps.has_space.next = self.has_space.q.val();
        self.batch.command.ready.next = self.steps.take.val();
        self.command_data.next = self.batch.command.payload.val().data;
        self.query.valid.next = self.steps.take.val();
        self.query.payload.next = self.command_data.val().get_bits::<16>(16);

        // The command and its flow are kept while the sequence works on them.
        if self.steps.take.val() {
            self.beat.d.next = self.batch.command.payload.val();
        }
        if self.queried.valid.val() {
            self.flow.d.next = self.queried.payload.val();
        }
        self.work.beat.next = self.beat.q.val();
        self.work.flow.next = self.flow.q.val();
        ListControlSource::link(&mut self.rx_list, &mut self.work.rx_list);
        ListControlSource::link(&mut self.tx_list, &mut self.work.tx_list);
        self.steps.flow_valid.next = self.queried.valid.val();
        self.steps.judged.next = self.work.status.val();
        self.steps.judged_ok.next = self.work.is_ok.val();
        self.steps.works.next = self.work.works.val();
        self.steps.busy.next = self.region_busy.val() | self.work.list_busy.val();
        self.steps.refused.next = self.work.list_refused.val();

        // All updates of a command in one cycle; none in a reset cycle: the epoch may have changed.
        self.act_ready.next = self.change.ready.val() | !self.work.writes_flow.val();
        self.steps.act_ready.next = self.act_ready.val();
        self.acts.next = self.steps.acting.val() & !self.reset.val();
        self.commit.next = self.acts.val() & self.act_ready.val();
        self.work.commit.next = self.commit.val();
        self.change.valid.next = self.acts.val() & self.work.writes_flow.val();
        self.change.payload.next = self.work.flow_update.val();
        self.key_update.valid.next = self.acts.val() & self.work.writes_key.val();
        self.key_update.payload.next = self.work.key_update.val();
        self.region.valid.next = self.acts.val() & self.work.writes_region.val();
        self.region.payload.next = self.work.region_update.val();
        self.page.valid.next = self.acts.val() & self.work.writes_page.val();
        self.page.payload.next = self.work.page_update.val();

        // The memories are written when the confirmation has passed register and FIFO.
        self.ended_valid.d.next = self.steps.finish.val();
        self.run_ends.beat.next = self.beat.q.val();
        self.run_ends.kind.next = self.work.kind.val();
        self.run_ends.status.next = self.steps.status.val();
        self.ended.d.next = self.run_ends.ended.val();
        self.confirmations.sink.valid.next = self.ended_valid.q.val();
        self.confirmations.sink.payload.next = self.ended.q.val();
        MessageSource::<CommandEnd>::link(&mut self.confirmation, &mut self.confirmations.source);
        self.done.d.next = self.confirmations.source.valid.val() & self.confirmation.ready.val();
        self.command_done.next = self.done.q.val();
    }
}
