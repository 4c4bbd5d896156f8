//! Counts the requests that wait for their reply, so that no reply ever waits for room.
//!
//! Timing: `free` is a register: a reply makes it rise two cycles later.
//!
//! Invariants:
//! 1. As long as `accept` is high only with `free`, at most `limit` requests are unanswered.

use stream::prelude::*;

/// The counter. See the module's head.
///
/// A counter that lets `limit` requests (at most 31) be unanswered.
#[derive(LogicBlock, BlockDefault)]
#[new(limit: u64)]
pub struct Unanswered {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: nothing is unanswered.
    pub reset: Signal<In, Bit>,

    /// A request is taken.
    pub accept: Signal<In, Bit>,
    /// A reply is handed out.
    pub answer: Signal<In, Bit>,
    /// One more may be taken.
    pub free: Signal<Out, Bit>,

    count: DFF<Bits<5>>,
    may_accept: DFF<Bit>,

    #[value(limit - 1)]
    last: Constant<Bits<5>>,
    #[value(1)]
    one: Constant<Bits<5>>,
    #[value(0)]
    zero: Constant<Bits<5>>,
}

impl Logic for Unanswered {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, count, may_accept);
        self.free.next = self.may_accept.q.val();
        self.may_accept.d.next = (self.count.q.val() < self.last.val())
            | ((self.count.q.val() == self.last.val()) & !self.accept.val());
        if self.accept.val() & !self.answer.val() {
            self.count.d.next = self.count.q.val() + self.one.val();
        }
        if !self.accept.val() & self.answer.val() {
            self.count.d.next = self.count.q.val() - self.one.val();
        }
        if self.reset.val() {
            self.count.d.next = self.zero.val();
        }
    }
}
