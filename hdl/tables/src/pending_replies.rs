//! Counts the requests whose reply is pending, so that no reply ever waits for free space.
//!
//! ```text
//!  accept ──► + ─┐
//!  reply ───► - ─┴─► count ──► free
//! ```
//! Timing: `free` is a register: a reply makes it rise two cycles later.
//!
//! Invariants:
//! 1. As long as `accept` is high only with `free`, at most `limit` replies are pending.

use stream::prelude::*;

/// The counter. See the module's head.
///
/// A counter that lets `limit` replies (at most 31) be pending.
#[derive(LogicBlock, BlockDefault)]
#[new(limit: u64)]
pub struct PendingReplies {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: no reply is pending.
    pub reset: Signal<In, Bit>,

    /// A request is taken.
    pub accept: Signal<In, Bit>,
    /// A reply is handed out.
    pub reply: Signal<In, Bit>,
    /// One more request may be taken.
    pub free: Signal<Out, Bit>,

    count: DFF<Bits<5>>,
    may_accept: DFF<Bit>,

    #[value(limit - 1)]
    last: Constant<Bits<5>>,
    #[value(1)]
    one: Constant<Bits<5>>,
}

impl Logic for PendingReplies {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, count, may_accept);
        self.free.next = self.may_accept.q.val();
        self.may_accept.d.next = (self.count.q.val() < self.last.val())
            | ((self.count.q.val() == self.last.val()) & !self.accept.val());
        if self.accept.val() & !self.reply.val() {
            self.count.d.next = self.count.q.val() + self.one.val();
        }
        if !self.accept.val() & self.reply.val() {
            self.count.d.next = self.count.q.val() - self.one.val();
        }
        if self.reset.val() {
            self.count.d.next = 0.into();
        }
    }
}
