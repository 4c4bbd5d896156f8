//! Joins the replies of the registers and those of the board window.
//!
//! ```text
//!  registers ──┐
//!  window ─────┴─► register ─► reply      (registers first)
//! ```
//! Timing: latency one cycle; a reply is taken when the one before it has left.
//!
//! Invariants:
//! 1. A reply that is offered stays until it is taken.
//! 2. All outputs but `window.ready` are registers.

use crate::completer::completer_reply::HostReply;
use stream::prelude::*;

/// The merge. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ReplyMerge {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the reply that is held.
    pub reset: Signal<In, Bit>,
    /// Replies of the registers.
    pub registers: MessageSink<HostReply>,
    /// Replies of the board window.
    pub window: MessageSink<HostReply>,
    /// All replies.
    pub reply: MessageSource<HostReply>,

    held: DFF<HostReply>,
    is_held: DFF<Bit>,
}

impl Logic for ReplyMerge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held, is_held);
        self.reply.valid.next = self.is_held.q.val();
        self.reply.payload.next = self.held.q.val();
        self.registers.ready.next = !self.is_held.q.val();
        self.window.ready.next = !self.is_held.q.val() & !self.registers.valid.val();
        if self.is_held.q.val() {
            self.is_held.d.next = !self.reply.ready.val();
        } else if self.registers.valid.val() {
            self.held.d.next = self.registers.payload.val();
            self.is_held.d.next = true;
        } else {
            self.held.d.next = self.window.payload.val();
            self.is_held.d.next = self.window.valid.val();
        }
        if self.reset.val() {
            self.is_held.d.next = false;
        }
    }
}
