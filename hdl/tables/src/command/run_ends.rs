//! What is said of a command that has ended: its confirmation, and which runs of received packets
//! it ends, by its kind, whatever its status.
//!
//! Timing: combinational.
//!
//! Source: docs/specification.md, Runs; `abi::command`.

use crate::command::command_kind::CommandKind;
use crate::messages::CommandBeat;
use stream::prelude::*;

/// The decoder. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RunEnds {
    /// The command.
    pub beat: Signal<In, CommandBeat>,
    /// Its kind.
    pub kind: Signal<In, CommandKind>,
    /// Its status.
    pub status: Signal<In, StatusCode>,
    /// Its end.
    pub ended: Signal<Out, CommandEnd>,

    data: Signal<Local, Bits<512>>,
    confirmation: Signal<Local, Confirmation>,
}

impl Logic for RunEnds {
    #[hdl_gen]
    fn update(&mut self) {
        self.data.next = self.beat.val().data;
        self.confirmation.next.owner = self.beat.val().owner;
        self.confirmation.next.index = self.beat.val().index;
        self.confirmation.next.status = self.status.val();
        self.ended.next.confirmation = self.confirmation.val();
        self.ended.next.flow = self.data.val().get_bits::<16>(16);
        self.ended.next.ends_flow = (self.kind.val() == CommandKind::FlowInstall)
            | (self.kind.val() == CommandKind::FlowRemove)
            | (self.kind.val() == CommandKind::FlowAdvance)
            | (self.kind.val() == CommandKind::SegmentTruncate)
            | (self.kind.val() == CommandKind::ListMove);
        self.ended.next.ends_owner = (self.kind.val() == CommandKind::Nop)
            | (self.kind.val() == CommandKind::KeySet)
            | (self.kind.val() == CommandKind::KeyClear)
            | (self.kind.val() == CommandKind::RegionInstall)
            | (self.kind.val() == CommandKind::RegionRemove)
            | (self.kind.val() == CommandKind::PageSet);
    }
}
