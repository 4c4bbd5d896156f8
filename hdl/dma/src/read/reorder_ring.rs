//! Gives out the beats of the reorder memory in a ring: to each request as many as it touches.
//!
//! ```text
//!   take ──► start, start + beats, ...      delivered ──► free again, in the same order
//! ```
//! Timing: outputs are registers. `has_space` is decided one cycle ahead; beats that come back
//! count for it three cycles later.
//!
//! Invariants:
//! 1. No beat belongs to two requests: `has_space` is decided while 16 beats are free, eight for a
//!    request that goes in that cycle and eight for the one that uses the decision.

use crate::read::messages::ReadOrder;
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ReorderRing {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Every beat is free.
    pub reset: Signal<In, Bit>,

    /// There are enough free beats for any request.
    pub has_space: Signal<Out, Bit>,
    /// Beat for the first byte of the next request.
    pub start: Signal<Out, Bits<9>>,
    /// The next request takes its beats. Allowed only with `has_space`.
    pub take: Signal<In, Bit>,
    /// Number of beats that it takes, 1 to 8.
    pub beats: Signal<In, Bits<4>>,
    /// The beats of this request are free again.
    pub delivered: PulseSink<ReadOrder>,

    next_start: DFF<Bits<9>>,
    used: DFF<Bits<10>>,
    has_sixteen: DFF<Bit>,
    freed: DFF<Bits<4>>,

    request: Signal<Local, ReadOrder>,
    last: Signal<Local, Bits<3>>,
    kept: Signal<Local, Bits<10>>,
    taken: Signal<Local, Bits<10>>,
}

impl Logic for ReorderRing {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, next_start, used, has_sixteen, freed);
        self.has_space.next = self.has_sixteen.q.val();
        self.has_sixteen.d.next = self.used.q.val() <= 496;
        self.start.next = self.next_start.q.val();

        self.request.next = self.delivered.payload.val();
        self.last.next =
            self.request.val().end.get_bits::<3>(6) - self.request.val().begin.get_bits::<3>(6);
        self.freed.d.next = 0.into();
        if self.delivered.valid.val() {
            self.freed.d.next = bit_cast::<4, 3>(self.last.val()) + 1;
        }

        // Both sums are made before it is known which one is needed.
        self.kept.next = self.used.q.val() - bit_cast::<10, 4>(self.freed.q.val());
        self.taken.next = self.kept.val() + bit_cast::<10, 4>(self.beats.val());
        self.used.d.next = self.kept.val();
        if self.take.val() {
            self.used.d.next = self.taken.val();
            self.next_start.d.next = self.next_start.q.val() + bit_cast::<9, 4>(self.beats.val());
        }
        if self.reset.val() {
            self.used.d.next = 0.into();
            self.freed.d.next = 0.into();
        }
    }
}
