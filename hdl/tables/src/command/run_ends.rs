//! What is said of a command that has ended: its confirmation, and which runs of received packets
//! it ends, by its opcode, whatever its status.
//!
//! Timing: combinational.
//!
//! Source: docs/specification.md, Runs; `abi::command`.

use crate::messages::CommandBeat;
use abi::command as opcode;
use stream::prelude::*;

/// The decoder. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RunEnds {
    /// The command.
    pub beat: Signal<In, CommandBeat>,
    /// Its status.
    pub status: Signal<In, StatusCode>,
    /// Its end.
    pub ended: Signal<Out, CommandEnd>,

    data: Signal<Local, Bits<512>>,
    opcode: Signal<Local, Bits<8>>,
    confirmation: Signal<Local, Confirmation>,
    #[value(u64::from(opcode::NOP))]
    nop: Constant<Bits<8>>,
    #[value(u64::from(opcode::SEGMENT_TRUNCATE))]
    segment_truncate: Constant<Bits<8>>,
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
}

impl Logic for RunEnds {
    #[hdl_gen]
    fn update(&mut self) {
        self.data.next = self.beat.val().data;
        self.opcode.next = self.data.val().get_bits::<8>(0);
        self.confirmation.next.owner = self.beat.val().owner;
        self.confirmation.next.index = self.beat.val().index;
        self.confirmation.next.status = self.status.val();
        self.ended.next.confirmation = self.confirmation.val();
        self.ended.next.flow = self.data.val().get_bits::<16>(16);
        self.ended.next.ends_flow = (self.opcode.val() == self.flow_install.val())
            | (self.opcode.val() == self.flow_remove.val())
            | (self.opcode.val() == self.flow_advance.val())
            | (self.opcode.val() == self.segment_truncate.val())
            | (self.opcode.val() == self.list_move.val());
        self.ended.next.ends_owner = (self.opcode.val() == self.nop.val())
            | (self.opcode.val() == self.key_set.val())
            | (self.opcode.val() == self.key_clear.val())
            | (self.opcode.val() == self.region_install.val())
            | (self.opcode.val() == self.region_remove.val())
            | (self.opcode.val() == self.page_set.val());
    }
}
