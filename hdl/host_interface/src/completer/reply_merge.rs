//! Joins the replies of the registers and those of the board window.
//!
//! ```text
//!  registers ──┐
//!  window ─────┴─► reply      (registers first)
//! ```
//! Timing: combinational.
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

    window_waits: DFF<Bit>,

    picks_window: Signal<Local, Bit>,
}

impl Logic for ReplyMerge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, window_waits);
        self.picks_window.next =
            self.window.valid.val() & (self.window_waits.q.val() | !self.registers.valid.val());
        self.reply.valid.next = self.registers.valid.val() | self.window.valid.val();
        self.reply.payload.next = self.registers.payload.val();
        if self.picks_window.val() {
            self.reply.payload.next = self.window.payload.val();
        }
        self.registers.ready.next = self.reply.ready.val() & !self.picks_window.val();
        self.window.ready.next = self.reply.ready.val() & self.picks_window.val();
        self.window_waits.d.next =
            self.picks_window.val() & !self.reply.ready.val() & !self.reset.val();
    }
}
