//! The way to a list that is in the neighbour die, or next to its users.
//!
//! ```text
//!   request ─┆─► request        two registers each way, on everything, and on the reset
//!   reply ◄──┆── reply
//!   control ─┆─► control        busy: at once, until the list itself can say so
//! ```
//! Not [`ListReach::far`], it is wires.
//!
//! Timing: far, two cycles each way; the verdicts on a change come four cycles later, for which the
//! command sequence waits ([`crate::command::command_sequence`]).
//!
//! Invariants:
//! 1. Change, commit and request stay in step: a request taken two cycles after `commit` reaches
//!    the list two cycles after the commit does, or later.
//! 2. `busy` is high from the cycle after `commit`, until what the list says has come back.

use crate::messages::ListUpdate;
use crate::segment_list::die_hop::DieHop;
use crate::segment_list::list_control::{ListControlSink, ListControlSource};
use stream::prelude::*;

/// Cycles from `commit` until `busy` of the list has come back, and one more.
const BUSY_CYCLES: u64 = 6;

/// The way. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ListReach {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,
    /// The same at the list.
    pub list_reset: Signal<Out, Bit>,

    /// Positions or indices to find.
    pub request: MessageSink<SegmentRequest>,
    /// The same at the list.
    pub list_request: MessageSource<SegmentRequest>,
    /// Segments that the list has found.
    pub list_reply: MessageSink<SegmentReply>,
    /// The same at its users.
    pub reply: MessageSource<SegmentReply>,
    /// Changes by commands.
    pub control: ListControlSink,
    /// The same at the list.
    pub list_control: ListControlSource,

    requests: DieHop<SegmentRequest>,
    replies: DieHop<SegmentReply>,
    resets: [DFF<Bit>; 2],
    changes: [DFF<ListUpdate>; 2],
    commits: [DFF<Bit>; 2],
    full: [DFF<Bit>; 2],
    range_bad: [DFF<Bit>; 2],
    busy: [DFF<Bit>; 2],
    refused: [DFF<Bit>; 2],
    awaits: DFF<Bits<3>>,

    far_reset: Signal<Local, Bit>,
    #[value(false)]
    is_far: Constant<Bit>,
    #[value(BUSY_CYCLES)]
    busy_cycles: Constant<Bits<3>>,
    #[value(1)]
    one: Constant<Bits<3>>,
}

impl ListReach {
    /// The way into the neighbour die.
    pub fn far() -> Self {
        Self {
            requests: DieHop::far(),
            replies: DieHop::far(),
            is_far: Constant::new(true),
            ..Self::default()
        }
    }
}

impl Logic for ListReach {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, awaits);
        clock!(self, clock, requests, replies);
        for i in 0..2 {
            self.resets[i].clock.next = self.clock.val();
            self.changes[i].clock.next = self.clock.val();
            self.commits[i].clock.next = self.clock.val();
            self.full[i].clock.next = self.clock.val();
            self.range_bad[i].clock.next = self.clock.val();
            self.busy[i].clock.next = self.clock.val();
            self.refused[i].clock.next = self.clock.val();
        }
        self.resets[0].d.next = self.reset.val();
        self.resets[1].d.next = self.resets[0].q.val();
        self.far_reset.next = self.reset.val();
        if self.is_far.val() {
            self.far_reset.next = self.resets[1].q.val();
        }
        self.list_reset.next = self.far_reset.val();

        self.requests.sink_reset.next = self.reset.val();
        self.requests.source_reset.next = self.far_reset.val();
        self.replies.sink_reset.next = self.far_reset.val();
        self.replies.source_reset.next = self.reset.val();
        MessageSink::<SegmentRequest>::link(&mut self.request, &mut self.requests.sink);
        MessageSource::<SegmentRequest>::link(&mut self.list_request, &mut self.requests.source);
        MessageSink::<SegmentReply>::link(&mut self.list_reply, &mut self.replies.sink);
        MessageSource::<SegmentReply>::link(&mut self.reply, &mut self.replies.source);

        self.changes[0].d.next = self.control.change.val();
        self.changes[1].d.next = self.changes[0].q.val();
        self.commits[0].d.next = self.control.commit.val() & !self.reset.val();
        self.commits[1].d.next = self.commits[0].q.val() & !self.reset.val();
        self.full[0].d.next = self.list_control.full.val();
        self.full[1].d.next = self.full[0].q.val();
        self.range_bad[0].d.next = self.list_control.range_bad.val();
        self.range_bad[1].d.next = self.range_bad[0].q.val();
        self.busy[0].d.next = self.list_control.busy.val();
        self.busy[1].d.next = self.busy[0].q.val();
        self.refused[0].d.next = self.list_control.refused.val();
        self.refused[1].d.next = self.refused[0].q.val();
        self.awaits.d.next = 0.into();
        if self.awaits.q.val().any() {
            self.awaits.d.next = self.awaits.q.val() - self.one.val();
        }
        if self.control.commit.val() {
            self.awaits.d.next = self.busy_cycles.val();
        }
        if self.reset.val() {
            self.awaits.d.next = 0.into();
        }

        self.list_control.change.next = self.control.change.val();
        self.list_control.commit.next = self.control.commit.val();
        self.control.full.next = self.list_control.full.val();
        self.control.range_bad.next = self.list_control.range_bad.val();
        self.control.busy.next = self.list_control.busy.val();
        self.control.refused.next = self.list_control.refused.val();
        if self.is_far.val() {
            self.list_control.change.next = self.changes[1].q.val();
            self.list_control.commit.next = self.commits[1].q.val();
            self.control.full.next = self.full[1].q.val();
            self.control.range_bad.next = self.range_bad[1].q.val();
            self.control.busy.next = self.busy[1].q.val() | self.awaits.q.val().any();
            self.control.refused.next = self.refused[1].q.val();
        }
    }
}
