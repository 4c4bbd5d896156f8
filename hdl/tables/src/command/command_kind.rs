//! From the opcode to the kind of a command, and from the kind to the tables that it writes.
//!
//! ```text
//!  opcode ──► KindDecode ──► kind ──► KindUses ──► writes_flow, writes_key, ...
//! ```
//! Timing: `KindDecode` is combinational; the outputs of `KindUses` come one cycle after `kind`.
//!
//! Source: `abi::command`.

use abi::command as opcode;
use stream::prelude::*;

/// Kind of a command.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum CommandKind {
    /// The opcode is unknown.
    Unknown,
    /// Only a fence.
    Nop,
    /// Moves the receive floor.
    FloorSet,
    /// Appends a segment.
    SegmentPost,
    /// Shortens a segment.
    SegmentTruncate,
    /// Moves the send floor.
    SendFloorSet,
    /// Moves both floors, and may append a segment.
    FlowAdvance,
    /// Writes a key slot.
    KeySet,
    /// Clears a key slot.
    KeyClear,
    /// Installs a flow.
    FlowInstall,
    /// Removes a flow.
    FlowRemove,
    /// Moves a list.
    ListMove,
    /// Installs a region.
    RegionInstall,
    /// Removes a region.
    RegionRemove,
    /// Writes a page entry.
    PageSet,
}

/// The decoder. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct KindDecode {
    /// Opcode of the command.
    pub opcode: Signal<In, Bits<8>>,
    /// Kind of the command.
    pub kind: Signal<Out, CommandKind>,
    /// Only owner 0 may use the command.
    pub privileged: Signal<Out, Bit>,

    #[value(u64::from(opcode::NOP))]
    nop: Constant<Bits<8>>,
    #[value(u64::from(opcode::FLOOR_SET))]
    floor_set: Constant<Bits<8>>,
    #[value(u64::from(opcode::SEGMENT_POST))]
    segment_post: Constant<Bits<8>>,
    #[value(u64::from(opcode::SEGMENT_TRUNCATE))]
    segment_truncate: Constant<Bits<8>>,
    #[value(u64::from(opcode::SEND_FLOOR_SET))]
    send_floor_set: Constant<Bits<8>>,
    #[value(u64::from(opcode::FLOW_ADVANCE))]
    flow_advance: Constant<Bits<8>>,
    #[value(u64::from(opcode::KEY_SET))]
    key_set: Constant<Bits<8>>,
    #[value(u64::from(opcode::KEY_CLEAR))]
    key_clear: Constant<Bits<8>>,
    #[value(u64::from(opcode::FLOW_INSTALL))]
    flow_install: Constant<Bits<8>>,
    #[value(u64::from(opcode::FLOW_REMOVE))]
    flow_remove: Constant<Bits<8>>,
    #[value(u64::from(opcode::LIST_MOVE))]
    list_move: Constant<Bits<8>>,
    #[value(u64::from(opcode::REGION_INSTALL))]
    region_install: Constant<Bits<8>>,
    #[value(u64::from(opcode::REGION_REMOVE))]
    region_remove: Constant<Bits<8>>,
    #[value(u64::from(opcode::PAGE_SET))]
    page_set: Constant<Bits<8>>,
    #[value(u64::from(opcode::PRIVILEGED_FIRST))]
    privileged_first: Constant<Bits<8>>,
}

impl Logic for KindDecode {
    #[hdl_gen]
    fn update(&mut self) {
        self.privileged.next = self.opcode.val() >= self.privileged_first.val();
        self.kind.next = CommandKind::Unknown;
        if self.opcode.val() == self.nop.val() {
            self.kind.next = CommandKind::Nop;
        }
        if self.opcode.val() == self.floor_set.val() {
            self.kind.next = CommandKind::FloorSet;
        }
        if self.opcode.val() == self.segment_post.val() {
            self.kind.next = CommandKind::SegmentPost;
        }
        if self.opcode.val() == self.segment_truncate.val() {
            self.kind.next = CommandKind::SegmentTruncate;
        }
        if self.opcode.val() == self.send_floor_set.val() {
            self.kind.next = CommandKind::SendFloorSet;
        }
        if self.opcode.val() == self.flow_advance.val() {
            self.kind.next = CommandKind::FlowAdvance;
        }
        if self.opcode.val() == self.key_set.val() {
            self.kind.next = CommandKind::KeySet;
        }
        if self.opcode.val() == self.key_clear.val() {
            self.kind.next = CommandKind::KeyClear;
        }
        if self.opcode.val() == self.flow_install.val() {
            self.kind.next = CommandKind::FlowInstall;
        }
        if self.opcode.val() == self.flow_remove.val() {
            self.kind.next = CommandKind::FlowRemove;
        }
        if self.opcode.val() == self.list_move.val() {
            self.kind.next = CommandKind::ListMove;
        }
        if self.opcode.val() == self.region_install.val() {
            self.kind.next = CommandKind::RegionInstall;
        }
        if self.opcode.val() == self.region_remove.val() {
            self.kind.next = CommandKind::RegionRemove;
        }
        if self.opcode.val() == self.page_set.val() {
            self.kind.next = CommandKind::PageSet;
        }
    }
}

/// The tables that a kind of command writes.
#[derive(LogicBlock, Default)]
pub struct KindUses {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Kind of the command.
    pub kind: Signal<In, CommandKind>,
    /// The command writes the flow's state; one cycle after `kind`, like the outputs below.
    pub writes_flow: Signal<Out, Bit>,
    /// The command writes a key slot.
    pub writes_key: Signal<Out, Bit>,
    /// The command writes a region.
    pub writes_region: Signal<Out, Bit>,
    /// The command writes a page entry.
    pub writes_page: Signal<Out, Bit>,
    /// The change takes longer than a cycle.
    pub works: Signal<Out, Bit>,

    flow: DFF<Bit>,
    key: DFF<Bit>,
    region: DFF<Bit>,
    page: DFF<Bit>,
    long: DFF<Bit>,
}

impl Logic for KindUses {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, flow, key, region, page, long);
        self.writes_flow.next = self.flow.q.val();
        self.writes_key.next = self.key.q.val();
        self.writes_region.next = self.region.q.val();
        self.writes_page.next = self.page.q.val();
        self.works.next = self.long.q.val();
        self.flow.d.next = false;
        self.key.d.next = false;
        self.region.d.next = false;
        self.page.d.next = false;
        self.long.d.next = false;
        match self.kind.val() {
            CommandKind::FloorSet => self.flow.d.next = true,
            CommandKind::SendFloorSet => self.flow.d.next = true,
            CommandKind::FlowAdvance => self.flow.d.next = true,
            CommandKind::FlowInstall => self.flow.d.next = true,
            CommandKind::FlowRemove => self.flow.d.next = true,
            CommandKind::KeySet => self.key.d.next = true,
            CommandKind::KeyClear => self.key.d.next = true,
            CommandKind::RegionInstall => self.region.d.next = true,
            CommandKind::PageSet => self.page.d.next = true,
            CommandKind::RegionRemove => {
                self.region.d.next = true;
                self.long.d.next = true;
            }
            CommandKind::SegmentTruncate => self.long.d.next = true,
            CommandKind::ListMove => self.long.d.next = true,
            _ => {}
        }
    }
}
