//! The status of a command.
//!
//! The first line of this table that applies is the status, `ok` if none does:
//!
//! | status | when |
//! |---|---|
//! | `bad_opcode` | unknown opcode |
//! | `not_owner` | a privileged command that is not from owner 0 |
//! | `bad_index` | see [`super::command_check`] |
//! | `bad_flow` | a command that changes a flow: flow not installed, or of another generation |
//! | `not_owner` | the same commands, neither from the flow's owner nor from owner 0 |
//! | `list_full` | see `list_judge` |
//! | `bad_range` | `command_check`, `list_judge`; a floor that goes back, or by 2^30 or more |
//! | `bad_range` | a segment that starts or ends more than 2^30 from its direction's floor |
//!
//! Timing: `status` and `is_ok` follow `index_bad`, `range_bad` and `list_full` in the same cycle,
//! the other inputs one cycle later. `range_bad` of the reach is valid one cycle after `flow`.
//!
//! Invariants:
//! 1. `is_ok` is high exactly when `status` is `ok`.
//!
//! Source: `docs/specification.md`, Commands.

use crate::command::command_kind::CommandKind;
use crate::messages::{FlowControl, FlowInstalled, SegmentEntry};
use abi::config::FLOW_REACH_BYTES;
use abi::reason::CommandStatus;
use stream::prelude::*;

/// Checks whether the positions that a command names lie within reach of the flow's floor.
#[derive(LogicBlock, BlockDefault)]
pub struct ReachCheck {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Kind of the command.
    pub kind: Signal<In, CommandKind>,
    /// The list that the command names is the send list.
    pub tx: Signal<In, Bit>,
    /// New floor of `floor_set` and `send_floor_set`; of `flow_advance` that of receive.
    pub floor: Signal<In, Bits<32>>,
    /// New send floor of `flow_advance`.
    pub send_floor: Signal<In, Bits<32>>,
    /// `flow_advance` appends a segment.
    pub appends: Signal<In, Bit>,
    /// Segment of `segment_post`, and of `flow_advance`.
    pub entry: Signal<In, SegmentEntry>,
    /// State of the flow that the command names.
    pub flow: Signal<In, FlowControl>,
    /// A position is out of reach; one cycle later.
    pub range_bad: Signal<Out, Bit>,
    /// The new floor has passed the stored cursor, which must follow; high for other commands.
    pub cursor_behind: Signal<Out, Bit>,

    old_floor: DFF<Bits<32>>,
    old_send_floor: DFF<Bits<32>>,
    reached_from: DFF<Bits<32>>,
    step: Signal<Local, Bits<32>>,
    start: Signal<Local, Bits<32>>,
    reach_rest: Signal<Local, Bits<32>>,
    segment_bad: Signal<Local, Bit>,
    cursor_ahead: Signal<Local, Bits<32>>,
    #[value(u64::from(FLOW_REACH_BYTES))]
    reach: Constant<Bits<32>>,
    #[value(2 * u64::from(FLOW_REACH_BYTES))]
    reach_twice: Constant<Bits<32>>,
}

impl Logic for ReachCheck {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, old_floor, old_send_floor, reached_from);
        self.old_floor.d.next = self.flow.val().floor;
        if self.tx.val() & (self.kind.val() != CommandKind::FlowAdvance) {
            self.old_floor.d.next = self.flow.val().send_floor;
        }
        self.old_send_floor.d.next = self.flow.val().send_floor;
        self.step.next = self.floor.val() - self.old_floor.q.val();
        // A segment that comes with floors is reached from them.
        self.reached_from.d.next = self.flow.val().floor;
        if self.tx.val() {
            self.reached_from.d.next = self.flow.val().send_floor;
        }
        if self.kind.val() == CommandKind::FlowAdvance {
            self.reached_from.d.next = self.floor.val();
            if self.tx.val() {
                self.reached_from.d.next = self.send_floor.val();
            }
        }
        self.start.next = self.entry.val().position - self.reached_from.q.val();
        self.reach_rest.next = self.reach.val() - (self.start.val() + self.entry.val().bytes);
        self.segment_bad.next = ((self.start.val() + self.reach.val()) > self.reach_twice.val())
            | self.reach_rest.val().get_bit(31);
        self.cursor_ahead.next = self.flow.val().cursor - self.floor.val();
        self.cursor_behind.next = true;
        self.range_bad.next = false;
        match self.kind.val() {
            CommandKind::SegmentPost => {
                self.range_bad.next = self.segment_bad.val();
            }
            CommandKind::FloorSet => {
                self.cursor_behind.next = self.cursor_ahead.val().get_bit(31);
                self.range_bad.next = self.step.val() >= self.reach.val();
            }
            CommandKind::SendFloorSet => {
                self.range_bad.next = self.step.val() >= self.reach.val();
            }
            CommandKind::FlowAdvance => {
                self.cursor_behind.next = self.cursor_ahead.val().get_bit(31);
                self.range_bad.next = (self.step.val() >= self.reach.val())
                    | ((self.send_floor.val() - self.old_send_floor.q.val()) >= self.reach.val())
                    | (self.appends.val() & self.segment_bad.val());
            }
            _ => {}
        }
    }
}

/// The judge. What it finds wrong itself goes through a register, the rest comes from registers.
/// See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct CommandJudge {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Kind of the command.
    pub kind: Signal<In, CommandKind>,
    /// The command is privileged.
    pub privileged: Signal<In, Bit>,
    /// Owner of the ring that the command came from.
    pub owner: Signal<In, Bits<8>>,
    /// Generation that the command names.
    pub generation: Signal<In, Bits<8>>,
    /// State of the flow that the command names.
    pub flow: Signal<In, FlowControl>,
    /// An index is beyond the configured size; presented one cycle after the other inputs.
    pub index_bad: Signal<In, Bit>,
    /// A size, an address, a position or a list is out of range; presented one cycle after the
    /// other inputs.
    pub range_bad: Signal<In, Bit>,
    /// The list is full, or the index is not its tail; presented one cycle after the other inputs.
    pub list_full: Signal<In, Bit>,
    /// Status of the command: a `CommandStatus`.
    pub status: Signal<Out, StatusCode>,
    /// The status is `ok`.
    pub is_ok: Signal<Out, Bit>,

    unknown: DFF<Bit>,
    forbidden: DFF<Bit>,
    wrong_flow: DFF<Bit>,
    of_another: DFF<Bit>,

    installed: Signal<Local, FlowInstalled>,
    stranger: Signal<Local, Bit>,
    of_flow: Signal<Local, Bit>,
    #[value(0)]
    host: Constant<Bits<8>>,
    #[value(CommandStatus::Ok as u64)]
    ok: Constant<Bits<8>>,
    #[value(CommandStatus::BadOpcode as u64)]
    bad_opcode: Constant<Bits<8>>,
    #[value(CommandStatus::BadIndex as u64)]
    bad_index: Constant<Bits<8>>,
    #[value(CommandStatus::NotOwner as u64)]
    not_owner: Constant<Bits<8>>,
    #[value(CommandStatus::BadFlow as u64)]
    bad_flow: Constant<Bits<8>>,
    #[value(CommandStatus::ListFull as u64)]
    full: Constant<Bits<8>>,
    #[value(CommandStatus::BadRange as u64)]
    bad_range: Constant<Bits<8>>,
}

impl Logic for CommandJudge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, unknown, forbidden, wrong_flow, of_another);
        self.installed.next = self.flow.val().installed;
        self.of_flow.next = true;
        match self.kind.val() {
            CommandKind::FloorSet => {}
            CommandKind::SegmentPost => {}
            CommandKind::SegmentTruncate => {}
            CommandKind::SendFloorSet => {}
            CommandKind::FlowAdvance => {}
            CommandKind::ListMove => {}
            CommandKind::FlowRemove => {}
            _ => {
                self.of_flow.next = false;
            }
        }

        self.stranger.next = self.owner.val() != self.host.val();
        self.unknown.d.next = self.kind.val() == CommandKind::Unknown;
        self.forbidden.d.next = self.stranger.val() & self.privileged.val();
        self.wrong_flow.d.next = self.of_flow.val()
            & (!self.flow.val().hit | (self.installed.val().generation != self.generation.val()));
        self.of_another.d.next = self.of_flow.val()
            & self.stranger.val()
            & (self.installed.val().owner != self.owner.val());

        // The last assignment wins: the checks stand in reverse order.
        self.status.next = self.ok.val();
        if self.range_bad.val() {
            self.status.next = self.bad_range.val();
        }
        if self.list_full.val() {
            self.status.next = self.full.val();
        }
        if self.of_another.q.val() {
            self.status.next = self.not_owner.val();
        }
        if self.wrong_flow.q.val() {
            self.status.next = self.bad_flow.val();
        }
        if self.index_bad.val() {
            self.status.next = self.bad_index.val();
        }
        if self.forbidden.q.val() {
            self.status.next = self.not_owner.val();
        }
        if self.unknown.q.val() {
            self.status.next = self.bad_opcode.val();
        }
        self.is_ok.next = !(self.unknown.q.val()
            | self.forbidden.q.val()
            | self.index_bad.val()
            | self.wrong_flow.q.val()
            | self.of_another.q.val()
            | self.list_full.val()
            | self.range_bad.val());
    }
}
