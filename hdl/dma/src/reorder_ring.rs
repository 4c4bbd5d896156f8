//! Gives out the beats of the reorder memory: to each request as many as its window touches.
//!
//! ```text
//!   take ──► start, start + touched, ...      delivered ──► free again, in the same order
//! ```
//! Timing: outputs are registers.
//!
//! Invariants:
//! 1. No beat belongs to two requests: `has_room` holds while eight are free, and a request touches
//!    eight at most.

use crate::read_issue::ReadOrder;
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ReorderRing {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Every beat is free.
    pub reset: Signal<In, Bit>,

    /// There is room for any request.
    pub has_room: Signal<Out, Bit>,
    /// Beat for the first byte of the next request.
    pub start: Signal<Out, Bits<9>>,
    /// The next request takes its beats.
    pub take: Signal<In, Bit>,
    /// Beat behind them.
    pub start_after: Signal<In, Bits<9>>,
    /// The beats of this request are free again.
    pub delivered: PulseSink<ReadOrder>,

    next_start: DFF<Bits<9>>,
    used: DFF<Bits<10>>,

    request: Signal<Local, ReadOrder>,
    taken: Signal<Local, Bits<9>>,
    first_byte: Signal<Local, Bits<9>>,
    last_byte: Signal<Local, Bits<9>>,
    last: Signal<Local, Bits<3>>,
    freed: Signal<Local, Bits<4>>,
    now: Signal<Local, Bits<10>>,
}

impl Logic for ReorderRing {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, next_start, used);
        self.has_room.next = self.used.q.val() <= 504;
        self.start.next = self.next_start.q.val();
        self.taken.next = self.start_after.val() - self.next_start.q.val();
        self.request.next = self.delivered.payload.val();
        self.first_byte.next = self.request.val().begin;
        self.last_byte.next = self.request.val().end;
        self.last.next =
            self.last_byte.val().get_bits::<3>(6) - self.first_byte.val().get_bits::<3>(6);
        self.freed.next = bit_cast::<4, 3>(self.last.val()) + 1;
        self.now.next = self.used.q.val();
        if self.take.val() {
            self.next_start.d.next = self.start_after.val();
            self.now.next = self.used.q.val() + bit_cast::<10, 9>(self.taken.val());
        }
        self.used.d.next = self.now.val();
        if self.delivered.valid.val() {
            self.used.d.next = self.now.val() - bit_cast::<10, 4>(self.freed.val());
        }
        if self.reset.val() {
            self.used.d.next = 0.into();
        }
    }
}
