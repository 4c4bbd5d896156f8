//! Which runs of received packets a command ends: by its opcode, whatever its status.
//!
//! Timing: combinational.
//!
//! Source: docs/specification.md, Runs; `abi::command`.

use abi::command as opcode;
use stream::prelude::*;

/// The decoder. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RunEnds {
    /// Opcode of the command.
    pub opcode: Signal<In, Bits<8>>,
    /// The run of the command's flow ends.
    pub flow: Signal<Out, Bit>,
    /// All runs of the command's owner end.
    pub owner: Signal<Out, Bit>,

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
        self.flow.next = (self.opcode.val() == self.flow_install.val())
            | (self.opcode.val() == self.flow_remove.val())
            | (self.opcode.val() == self.flow_advance.val())
            | (self.opcode.val() == self.segment_truncate.val())
            | (self.opcode.val() == self.list_move.val());
        self.owner.next = (self.opcode.val() == self.nop.val())
            | (self.opcode.val() == self.key_set.val())
            | (self.opcode.val() == self.key_clear.val())
            | (self.opcode.val() == self.region_install.val())
            | (self.opcode.val() == self.region_remove.val())
            | (self.opcode.val() == self.page_set.val());
    }
}
