//! Holds the oldest request until all of its read data have arrived.
//!
//! ```text
//!   order ──► [oldest] ──► done? ──► [complete], with whether it failed
//! ```
//! Timing: a request goes on in the cycle in which its tag is reported done, at the earliest two
//! cycles after `order`; one request per cycle. `complete` and `order.ready` depend on registers
//! only.
//!
//! Invariants:
//! 1. Requests leave in the order in which they came. One that is not complete holds up those after
//!    it.
//! 2. `failed` is sampled when the tag is done: it does not change after that.

use crate::read::messages::ReadOrder;
use crate::read::tag::Tag;
use stream::prelude::*;

/// A request whose read data are complete in the reorder memory.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CompleteOrder {
    /// The request.
    pub order: ReadOrder,
    /// The read data are wrong or missing in part.
    pub failed: Bit,
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct DataWait {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets all requests.
    pub reset: Signal<In, Bit>,

    /// Requests in job order.
    pub order: MessageSink<ReadOrder>,
    /// Tag of the oldest request.
    pub tag: Signal<Out, Tag>,
    /// The read data of the oldest request are complete; combinational reply to `tag`.
    pub done: Signal<In, Bit>,
    /// The read data of the oldest request are wrong or missing in part.
    pub failed: Signal<In, Bit>,
    /// Requests whose read data are complete, in job order.
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

impl Logic for DataWait {
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

        // Whether the oldest leaves is known late: the next one is taken before that.
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
