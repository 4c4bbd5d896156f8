//! One command taken apart: its kind, its status, and the updates that it requests.
//!
//! ```text
//!  beat ──► kind ──► check ─┐
//!  flow ─────────► reach ───┼─► register ──► judge ──► status
//!  rx_list, tx_list ◄──► ───┘
//!  beat ──► register (kind) ──► key, flow, region, page updates
//! ```
//! Timing: the updates come one cycle after `beat`. `status`, and whether the cursor is written,
//! are valid three cycles after `flow`, with the lists' verdicts and five cycles after `beat`.
//!
//! Invariants:
//! 1. The lists change only in a cycle with `commit`.

use crate::command::command_check::CommandCheck;
use crate::command::command_decode::{FlowDecode, ListDecode, RegionDecode};
use crate::command::command_judge::{CommandJudge, ReachCheck};
use crate::command::command_kind::{CommandKind, KindDecode, KindUses};
use crate::messages::{
    CommandBeat, FlowControl, FlowUpdate, KeyUpdate, ListUpdate, PageUpdate, RegionUpdate,
    SegmentEntry,
};
use crate::segment_list::list_control::{ListControlSource, ListVerdicts};
use stream::prelude::*;

/// The command. See the module's head.
#[derive(LogicBlock)]
pub struct CommandWork<
    const FLOW_BITS: usize,
    const BUCKET_BITS: usize,
    const SEGMENT_BITS: usize,
    const REGION_BITS: usize,
    const PAGE_BITS: usize,
    const OWNER_BITS: usize,
> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Epoch that is written into new entries.
    pub epoch: Signal<In, Bits<16>>,

    /// The command.
    pub beat: Signal<In, CommandBeat>,
    /// State of the flow that the command names.
    pub flow: Signal<In, FlowControl>,
    /// Changes of the receive list.
    pub rx_list: ListControlSource,
    /// Changes of the send list.
    pub tx_list: ListControlSource,
    /// The tables change in this cycle.
    pub commit: Signal<In, Bit>,

    /// Status of the command: a `CommandStatus`.
    pub status: Signal<Out, StatusCode>,
    /// The status is `ok`.
    pub is_ok: Signal<Out, Bit>,
    /// The change takes longer than a cycle.
    pub works: Signal<Out, Bit>,
    /// A list carries a change out.
    pub list_busy: Signal<Out, Bit>,
    /// A list has not carried the change out.
    pub list_refused: Signal<Out, Bit>,
    /// Kind of the command, a cycle after it.
    pub kind: Signal<Out, CommandKind>,
    /// The command writes the flow's state.
    pub writes_flow: Signal<Out, Bit>,
    /// Change of the flow's state.
    pub flow_update: Signal<Out, FlowUpdate>,
    /// The command writes a key slot.
    pub writes_key: Signal<Out, Bit>,
    /// Key slot to write.
    pub key_update: Signal<Out, KeyUpdate>,
    /// The command writes a region.
    pub writes_region: Signal<Out, Bit>,
    /// Region to write.
    pub region_update: Signal<Out, RegionUpdate>,
    /// The command writes a page entry.
    pub writes_page: Signal<Out, Bit>,
    /// Page entry to write.
    pub page_update: Signal<Out, PageUpdate>,

    kind_decode: KindDecode,
    uses: KindUses,
    verdicts: ListVerdicts,
    flow_decode: FlowDecode,
    list_decode: ListDecode,
    region_decode: RegionDecode,
    check: CommandCheck<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS>,
    reach: ReachCheck,
    judge: CommandJudge,

    index_bad: DFF<Bit>,
    range_bad: DFF<Bit>,
    reach_bad: DFF<Bit>,
    lifts_cursor: DFF<Bit>,
    rx_change: DFF<ListUpdate>,
    rx_changes: DFF<Bit>,
    tx_change: DFF<ListUpdate>,
    tx_changes: DFF<Bit>,
    kind_kept: DFF<CommandKind>,
    tx_kept: DFF<Bit>,

    list_update: Signal<Local, ListUpdate>,
    data: Signal<Local, Bits<512>>,
    entry: Signal<Local, SegmentEntry>,
}

impl<
        const FLOW_BITS: usize,
        const BUCKET_BITS: usize,
        const SEGMENT_BITS: usize,
        const REGION_BITS: usize,
        const PAGE_BITS: usize,
        const OWNER_BITS: usize,
    > Default
    for CommandWork<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS>
{
    fn default() -> Self {
        Self {
            clock: Default::default(),
            epoch: Default::default(),
            beat: Default::default(),
            flow: Default::default(),
            rx_list: Default::default(),
            tx_list: Default::default(),
            commit: Default::default(),
            status: Default::default(),
            is_ok: Default::default(),
            works: Default::default(),
            list_busy: Default::default(),
            list_refused: Default::default(),
            kind: Default::default(),
            writes_flow: Default::default(),
            flow_update: Default::default(),
            writes_key: Default::default(),
            key_update: Default::default(),
            writes_region: Default::default(),
            region_update: Default::default(),
            writes_page: Default::default(),
            page_update: Default::default(),
            kind_decode: Default::default(),
            uses: Default::default(),
            verdicts: Default::default(),
            flow_decode: Default::default(),
            list_decode: Default::default(),
            region_decode: Default::default(),
            check: Default::default(),
            reach: Default::default(),
            judge: Default::default(),
            index_bad: Default::default(),
            range_bad: Default::default(),
            reach_bad: Default::default(),
            lifts_cursor: Default::default(),
            rx_change: Default::default(),
            rx_changes: Default::default(),
            tx_change: Default::default(),
            tx_changes: Default::default(),
            kind_kept: Default::default(),
            tx_kept: Default::default(),
            list_update: Default::default(),
            data: Default::default(),
            entry: Default::default(),
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
    for CommandWork<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, index_bad, range_bad, reach_bad);
        dff_setup!(self, clock, lifts_cursor, kind_kept, tx_kept);
        dff_setup!(self, clock, rx_change, rx_changes, tx_change, tx_changes);
        clock!(self, clock, check, reach, judge, uses);
        self.data.next = self.beat.val().data;
        self.kind_decode.opcode.next = self.data.val().get_bits::<8>(0);
        self.kind_kept.d.next = self.kind_decode.kind.val();
        self.kind.next = self.kind_kept.q.val();
        self.tx_kept.d.next = self.list_decode.tx.val();
        self.flow_decode.data.next = self.data.val();
        self.flow_decode.kind.next = self.kind_kept.q.val();
        self.flow_decode.epoch.next = self.epoch.val();
        self.list_decode.data.next = self.data.val();
        self.list_decode.kind.next = self.kind_decode.kind.val();
        self.region_decode.data.next = self.data.val();
        self.region_decode.kind.next = self.kind_kept.q.val();
        self.region_decode.epoch.next = self.epoch.val();
        self.check.data.next = self.data.val();
        self.check.kind.next = self.kind_kept.q.val();

        // What is requested from the lists, and their verdicts.
        self.list_update.next = self.rx_change.q.val();
        self.rx_change.d.next = self.list_decode.rx_list.val();
        self.rx_changes.d.next = self.list_decode.rx_changes.val();
        self.tx_change.d.next = self.list_decode.tx_list.val();
        self.tx_changes.d.next = self.list_decode.tx_changes.val();
        self.rx_list.change.next = self.rx_change.q.val();
        self.tx_list.change.next = self.tx_change.q.val();
        self.rx_list.commit.next = self.commit.val() & self.rx_changes.q.val();
        self.tx_list.commit.next = self.commit.val() & self.tx_changes.q.val();
        self.verdicts.rx.next = self.rx_changes.q.val();
        self.verdicts.rx_full.next = self.rx_list.full.val();
        self.verdicts.rx_range_bad.next = self.rx_list.range_bad.val();
        self.verdicts.rx_refused.next = self.rx_list.refused.val();
        self.verdicts.tx.next = self.tx_changes.q.val();
        self.verdicts.tx_full.next = self.tx_list.full.val();
        self.verdicts.tx_range_bad.next = self.tx_list.range_bad.val();
        self.verdicts.tx_refused.next = self.tx_list.refused.val();
        self.list_refused.next = self.verdicts.refused.val();
        self.list_busy.next = self.rx_list.busy.val() | self.tx_list.busy.val();

        // Everything that can be wrong, in one register each; the verdict of the lists is one.
        self.entry.next = self.list_update.val().entry;
        self.reach.kind.next = self.kind_kept.q.val();
        self.reach.tx.next = self.tx_kept.q.val();
        self.reach.floor.next = self.data.val().get_bits::<32>(32);
        self.reach.send_floor.next = self.data.val().get_bits::<32>(192);
        self.reach.appends.next = self.data.val().get_bit(176);
        self.reach.entry.next = self.entry.val();
        self.reach.flow.next = self.flow.val();
        self.index_bad.d.next = self.check.index_bad.val();
        self.range_bad.d.next = self.check.range_bad.val();
        self.reach_bad.d.next = self.reach.range_bad.val();
        self.lifts_cursor.d.next =
            self.flow_decode.flow.val().write_cursor & self.reach.cursor_behind.val();
        self.judge.kind.next = self.kind_kept.q.val();
        self.judge.privileged.next = self.kind_decode.privileged.val();
        self.judge.owner.next = self.beat.val().owner;
        self.judge.generation.next = self.data.val().get_bits::<8>(8);
        self.judge.flow.next = self.flow.val();
        self.judge.index_bad.next = self.index_bad.q.val();
        self.judge.range_bad.next =
            self.range_bad.q.val() | self.reach_bad.q.val() | self.verdicts.range_bad.val();
        self.judge.list_full.next = self.verdicts.full.val();
        self.status.next = self.judge.status.val();
        self.is_ok.next = self.judge.is_ok.val();

        self.uses.kind.next = self.kind_kept.q.val();
        self.works.next = self.uses.works.val();
        self.writes_flow.next = self.uses.writes_flow.val();
        self.writes_key.next = self.uses.writes_key.val();
        self.writes_region.next = self.uses.writes_region.val();
        self.writes_page.next = self.uses.writes_page.val();
        self.flow_update.next = self.flow_decode.flow.val();
        self.flow_update.next.write_cursor = self.lifts_cursor.q.val();
        self.key_update.next = self.flow_decode.key.val();
        self.region_update.next = self.region_decode.region.val();
        self.page_update.next = self.region_decode.page.val();
    }
}
