//! One command taken apart: its kind, its status so far, and the updates that it asks for.
//!
//! ```text
//!  beat ──► kind ──► check ─┐
//!  flow ─────────► reach ───┴─► judge ──► status
//!                    └──────► flow_update, list_update   beat ──► key, region, page updates
//! ```
//! Timing: combinational from `beat`, `flow` and `install_tx`, but for the page count of a region:
//! `status` is right from the second cycle of a `beat` on.

use crate::command_check::CommandCheck;
use crate::command_decode::{FlowDecode, ListDecode, RegionDecode};
use crate::command_judge::{CommandJudge, ReachCheck};
use crate::command_kind::{CommandKind, KindDecode};
use crate::updates::{
    CommandBeat, FlowControl, FlowFloor, FlowUpdate, KeyUpdate, ListUpdate, PageUpdate,
    RegionUpdate, SegmentEntry,
};
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
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Current epoch.
    pub epoch: Signal<In, Bits<16>>,

    /// The command.
    pub beat: Signal<In, CommandBeat>,
    /// The flow that it names.
    pub flow: Signal<In, FlowControl>,
    /// Second half of a flow install: the send list.
    pub install_tx: Signal<In, Bit>,

    /// Its kind.
    pub kind: Signal<Out, CommandKind>,
    /// CommandStatus, before the lists have their say.
    pub status: Signal<Out, Bits<8>>,
    /// The list to change is the send list.
    pub list_tx: Signal<Out, Bit>,
    /// Change of a list.
    pub list_update: Signal<Out, ListUpdate>,
    /// Change of the flow's state.
    pub flow_update: Signal<Out, FlowUpdate>,
    /// The command writes it.
    pub writes_key: Signal<Out, Bit>,
    /// Key slot.
    pub key_update: Signal<Out, KeyUpdate>,
    /// The command writes it.
    pub writes_region: Signal<Out, Bit>,
    /// Region.
    pub region_update: Signal<Out, RegionUpdate>,
    /// The command writes it.
    pub writes_page: Signal<Out, Bit>,
    /// Page entry.
    pub page_update: Signal<Out, PageUpdate>,

    kind_decode: KindDecode,
    flow_decode: FlowDecode,
    list_decode: ListDecode,
    region_decode: RegionDecode,
    check: CommandCheck<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS>,
    reach: ReachCheck,
    judge: CommandJudge,

    data: Signal<Local, Bits<512>>,
    floor: Signal<Local, FlowFloor>,
    new_floor: Signal<Local, Bits<32>>,
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
            install_tx: Default::default(),
            kind: Default::default(),
            status: Default::default(),
            list_tx: Default::default(),
            list_update: Default::default(),
            flow_update: Default::default(),
            writes_key: Default::default(),
            key_update: Default::default(),
            writes_region: Default::default(),
            region_update: Default::default(),
            writes_page: Default::default(),
            page_update: Default::default(),
            kind_decode: Default::default(),
            flow_decode: Default::default(),
            list_decode: Default::default(),
            region_decode: Default::default(),
            check: Default::default(),
            reach: Default::default(),
            judge: Default::default(),
            data: Default::default(),
            floor: Default::default(),
            new_floor: Default::default(),
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
        self.check.clock.next = self.clock.val();
        self.data.next = self.beat.val().data;
        self.kind_decode.opcode.next = self.data.val().get_bits::<8>(0);
        self.kind.next = self.kind_decode.kind.val();

        self.flow_decode.data.next = self.data.val();
        self.flow_decode.kind.next = self.kind_decode.kind.val();
        self.flow_decode.epoch.next = self.epoch.val();
        self.list_decode.data.next = self.data.val();
        self.list_decode.kind.next = self.kind_decode.kind.val();
        self.list_decode.install_tx.next = self.install_tx.val();
        self.region_decode.data.next = self.data.val();
        self.region_decode.kind.next = self.kind_decode.kind.val();
        self.region_decode.epoch.next = self.epoch.val();
        self.check.data.next = self.data.val();
        self.check.kind.next = self.kind_decode.kind.val();

        self.floor.next = self.flow_decode.flow.val().floor;
        self.new_floor.next = self.floor.val().floor;
        if self.list_decode.tx.val() {
            self.new_floor.next = self.flow_decode.flow.val().send_floor;
        }
        self.entry.next = self.list_decode.list.val().entry;
        self.reach.kind.next = self.kind_decode.kind.val();
        self.reach.tx.next = self.list_decode.tx.val();
        self.reach.floor.next = self.new_floor.val();
        self.reach.entry.next = self.entry.val();
        self.reach.flow.next = self.flow.val();

        self.judge.kind.next = self.kind_decode.kind.val();
        self.judge.privileged.next = self.kind_decode.privileged.val();
        self.judge.owner.next = self.beat.val().owner;
        self.judge.generation.next = self.data.val().get_bits::<8>(8);
        self.judge.flow.next = self.flow.val();
        self.judge.index_bad.next = self.check.index_bad.val();
        self.judge.range_bad.next = self.check.range_bad.val();
        self.status.next = self.judge.status.val();

        self.list_tx.next = self.list_decode.tx.val();
        self.list_update.next = self.list_decode.list.val();
        self.list_update.next.bad_range = self.check.range_bad.val() | self.reach.range_bad.val();
        self.flow_update.next = self.flow_decode.flow.val();
        if self.kind_decode.kind.val() == CommandKind::FloorSet {
            self.flow_update.next.write_cursor = self.reach.cursor_behind.val();
        }
        self.writes_key.next = (self.kind_decode.kind.val() == CommandKind::KeySet)
            | (self.kind_decode.kind.val() == CommandKind::KeyClear);
        self.key_update.next = self.flow_decode.key.val();
        self.writes_region.next = (self.kind_decode.kind.val() == CommandKind::RegionInstall)
            | (self.kind_decode.kind.val() == CommandKind::RegionRemove);
        self.region_update.next = self.region_decode.region.val();
        self.writes_page.next = self.kind_decode.kind.val() == CommandKind::PageSet;
        self.page_update.next = self.region_decode.page.val();
    }
}
