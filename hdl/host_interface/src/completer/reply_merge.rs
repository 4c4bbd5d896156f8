//! Joins the replies of the registers and those of the board window.
//!
//! ```text
//!  registers ──┐
//!  window ─────┴─► reply      (registers first)
//! ```
//! Timing: a reply of the registers passes in the same cycle, one of the window a cycle later:
//! which is chosen is a register.
//!
//! Invariants:
//! 1. A reply that is offered stays until it is taken.

use crate::completer::completer_reply::HostReply;
use stream::prelude::*;

/// The merge. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ReplyMerge {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets which reply is offered.
    pub reset: Signal<In, Bit>,
    /// Replies of the registers.
    pub registers: MessageSink<HostReply>,
    /// Replies of the board window.
    pub window: MessageSink<HostReply>,
    /// All replies.
    pub reply: MessageSource<HostReply>,

    of_window: DFF<Bit>,
}

impl Logic for ReplyMerge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, of_window);
        self.reply.valid.next = self.registers.valid.val() & !self.of_window.q.val();
        self.reply.payload.next = self.registers.payload.val();
        if self.of_window.q.val() {
            self.reply.valid.next = true;
            self.reply.payload.next = self.window.payload.val();
        }
        self.registers.ready.next = self.reply.ready.val() & !self.of_window.q.val();
        self.window.ready.next = self.reply.ready.val() & self.of_window.q.val();
        if self.of_window.q.val() {
            self.of_window.d.next = !self.reply.ready.val();
        } else {
            self.of_window.d.next = self.window.valid.val() & !self.registers.valid.val();
        }
        if self.reset.val() {
            self.of_window.d.next = false;
        }
    }
}
