//! The command processor: carries commands out in ring order, and confirms each.
//!
//! ```text
//!  command_fetch ─┐                       ┌─► key_update, change   (flow table)
//!  commands ──────┴─► batch ──► command ──┼─► rx_list, tx_list     (segment lists)
//!                       query ◄──► flow ──┼─► region, page         (region table)
//!                                         └─► confirmations (8) ──► confirmation
//! ```
//!
//! | Port | Direction | Meaning and duty |
//! |---|---|---|
//! | `commands`, `command_fetch` | in | see [`crate::command::command_batch`] |
//! | `confirmation` | out | exactly one for each command taken, in order |
//! | `command_done` | out | pulse: a confirmation was handed out |
//! | `command_read_failed` | out | pulse: a packet was given up, nothing of it is confirmed |
//! | `query`, `queried` | out, in | the flow that the command names |
//! | `rx_list`, `tx_list` | both | changes of lists; see [`crate::segment_list::list_control`] |
//! | `hold` | in | no command is taken from the next cycle on: the tables are being scrubbed or the
//! | | | hashes rewritten |
//! | `fence_passed` | in | pulse: a confirmation has left the last fence |
//! | others | out | updates |
//!
//! Timing: a command takes 8 cycles, a refused one 7; `region_remove` about 5 more,
//! `segment_truncate` about 10 more, `list_move` as long as its list's updater. A floor that lifts
//! the cursor waits for a cycle without a cursor move. Confirmations wait for their taker in a
//! FIFO: their taker does not hold up the next commands until 7 wait, nor do the fences until
//! `CONFIRMATIONS_MAX` are under way.
//!
//! Invariants:
//! 1. A refused command changes nothing.
//! 2. `confirmation` is offered after the last memory was written: a lookup requested later sees
//!    the change.
//! 3. `floor_set` moves head and floor, `flow_install` empties both lists and makes the flow valid,
//!    in one cycle; a packet whose flow was looked up before and its list searched after is
//!    deferred at worst.
//! 4. `reset` forgets the command in work and the confirmations that wait.
//! 5. At most `CONFIRMATIONS_MAX` commands were taken whose confirmation has not left the last
//!    fence: so commands wait for descriptors that are long under way, and packets do not.

pub mod command_batch;
pub mod command_check;
pub mod command_decode;
pub mod command_judge;
pub mod command_kind;
pub mod command_sequence;
pub mod command_work;

use crate::command::command_batch::CommandBatch;
use crate::command::command_sequence::CommandSequence;
use crate::command::command_work::CommandWork;
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
    /// Receive lists.
    pub rx_list: ListControlSource,
    /// Send lists.
    pub tx_list: ListControlSource,
    /// Region to write.
    pub region: PulseSource<RegionUpdate>,
    /// Page entry to write.
    pub page: PulseSource<PageUpdate>,
    /// A region's removal is under way.
    pub region_busy: Signal<In, Bit>,
    /// Take no command.
    pub hold: Signal<In, Bit>,
    /// A confirmation has left the last fence.
    pub fence_passed: Signal<In, Bit>,

    batch: CommandBatch,
    work: CommandWork<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS>,

    steps: CommandSequence,

    beat: DFF<CommandBeat>,
    flow: DFF<FlowControl>,
    ended: DFF<Confirmation>,
    ended_valid: DFF<Bit>,
    done: DFF<Bit>,

    confirmations: Fifo<Confirmation, 3, 4>,

    has_room: DFF<Bit>,

    asked: Signal<Local, Bits<512>>,
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
            has_room: Default::default(),
            asked: Default::default(),
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
    > Logic
    for CommandProcessor<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, beat, flow, ended, ended_valid, done, has_room);
        clock!(self, clock, batch, work, steps, confirmations);
        self.batch.reset.next = self.reset.val();
        self.work.epoch.next = self.epoch.val();
        self.steps.reset.next = self.reset.val();
        self.confirmations.reset.next = self.reset.val();
        PacketSink::link(&mut self.commands, &mut self.batch.commands);
        MessageSink::<RingFetch>::link(&mut self.command_fetch, &mut self.batch.command_fetch);
        self.command_read_failed.next = self.batch.command_read_failed.val();

        // A command is taken when its confirmation will have a place, beside one on its way there.
        self.has_room.d.next = (self.confirmations.level.val() < self.enough.val())
            & self.steps.has_places.val()
            & !self.hold.val();
        self.steps.fence_passed.next = self.fence_passed.val();
        self.steps.command_valid.next = self.batch.command.valid.val();
        self.steps.has_room.next = self.has_room.q.val();
        self.batch.command.ready.next = self.steps.take.val();
        self.asked.next = self.batch.command.payload.val().data;
        self.query.valid.next = self.steps.take.val();
        self.query.payload.next = self.asked.val().get_bits::<16>(16);

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
        self.ended.d.next.owner = self.beat.q.val().owner;
        self.ended.d.next.index = self.beat.q.val().index;
        self.ended.d.next.status = self.steps.status.val();
        self.confirmations.sink.valid.next = self.ended_valid.q.val();
        self.confirmations.sink.payload.next = self.ended.q.val();
        MessageSource::<Confirmation>::link(&mut self.confirmation, &mut self.confirmations.source);
        self.done.d.next = self.confirmations.source.valid.val() & self.confirmation.ready.val();
        self.command_done.next = self.done.q.val();
    }
}
