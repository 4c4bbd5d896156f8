//! Holds the oldest request back until its answer is complete.
//!
//! ```text
//!   order ──► oldest ──► done? ──► complete, with what is wrong about it
//! ```
//! Timing: a request goes on in the cycle in which its tag is seen done, at the earliest the second
//! one behind `order`; one request a cycle. `complete` and `order.ready` are registers.
//!
//! Invariants:
//! 1. Requests leave in the order they came. One that is not complete holds up those behind it.
//! 2. `failed` is what the tag says when it is done: it does not change after that.

use crate::read::messages::ReadOrder;
use crate::read::tag::Tag;
use stream::prelude::*;

/// A request whose answer lies in the reorder memory.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CompleteOrder {
    /// The request.
    pub order: ReadOrder,
    /// Its answer is wrong.
    pub failed: Bit,
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct AnswerWait {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets all requests.
    pub reset: Signal<In, Bit>,

    /// Requests in job order.
    pub order: MessageSink<ReadOrder>,
    /// Tag of the oldest request.
    pub tag: Signal<Out, Tag>,
    /// Its answer is complete.
    pub done: Signal<In, Bit>,
    /// Its answer is wrong.
    pub failed: Signal<In, Bit>,
    /// Requests whose answer is complete.
    pub complete: MessageSource<CompleteOrder>,

    oldest: DFF<ReadOrder>,
    has_oldest: DFF<Bit>,
    held: DFF<CompleteOrder>,
    is_held: DFF<Bit>,
    next: DFF<ReadOrder>,
    has_next: DFF<Bit>,

    free: Signal<Local, Bit>,
    moves: Signal<Local, Bit>,
    comes: Signal<Local, Bit>,
}

impl Logic for AnswerWait {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, oldest, has_oldest, next, has_next, held, is_held);
        self.complete.valid.next = self.is_held.q.val();
        self.complete.payload.next = self.held.q.val();

        self.tag.next = self.oldest.q.val().tag;
        self.free.next = !self.is_held.q.val() | self.complete.ready.val();
        self.moves.next = self.has_oldest.q.val() & self.done.val() & self.free.val();
        if self.free.val() {
            self.held.d.next.order = self.oldest.q.val();
            self.held.d.next.failed = self.failed.val();
            self.is_held.d.next = self.moves.val();
        }

        // Whether the oldest moves is known late: the next one is taken meanwhile.
        self.comes.next = self.order.valid.val() & !self.has_next.q.val();
        self.order.ready.next = !self.has_next.q.val();
        if !self.has_oldest.q.val() | self.moves.val() {
            self.oldest.d.next = self.next.q.val();
            if !self.has_next.q.val() {
                self.oldest.d.next = self.order.payload.val();
            }
            self.has_oldest.d.next = self.has_next.q.val() | self.comes.val();
            self.has_next.d.next = false;
        } else if self.comes.val() {
            self.next.d.next = self.order.payload.val();
            self.has_next.d.next = true;
        }
        if self.reset.val() {
            self.has_oldest.d.next = false;
            self.has_next.d.next = false;
            self.is_held.d.next = false;
        }
    }
}
