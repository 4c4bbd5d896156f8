//! Up to where the packet store is free again, as the side that writes it knows.
//!
//! ```text
//!  release ─┬─► [pointer] ──► ValueCrossing ──► pointer (mac_clock)
//!  reset ───┘       ▲
//!  taken ─► [stop] ─┘
//! ```
//! | port | clock | direction | meaning |
//! |---|---|---|---|
//! | release | clock | in | everything before this pointer is forgotten |
//! | taken, taken_stop | clock | in | a packet leaves the queue of verified ones; where it ends |
//! | pointer | mac_clock | out | everything before it may be written |
//!
//! Timing: some ten cycles from a release to `pointer`.
//!
//! Invariants:
//! 1. `pointer` never passes a packet that waits in the queue, nor one that is being written.
//! 2. A reset forgets all that was taken: what waits lies behind that, without a gap.

use crate::messages::Release;
use stream::prelude::*;

/// The pointer. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Freed {
    /// Clock of the MAC.
    pub mac_clock: Signal<In, Clock>,
    /// Clock of the card.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Packets that left the store.
    pub release: PulseSink<Release>,
    /// A packet leaves the queue.
    pub taken: Signal<In, Bit>,
    /// Pointer behind its last beat.
    pub taken_stop: Signal<In, Bits<16>>,
    /// Beats before it are free.
    pub pointer: Signal<Out, Bits<16>>,

    released: DFF<Bits<16>>,
    stop: DFF<Bits<16>>,
    crossing: ValueCrossing<Bits<16>>,
}

impl Logic for Freed {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, released, stop);
        self.crossing.write_clock.next = self.clock.val();
        self.crossing.read_clock.next = self.mac_clock.val();
        self.crossing.value.next = self.released.q.val();
        self.pointer.next = self.crossing.latest.val();
        if self.taken.val() {
            self.stop.d.next = self.taken_stop.val();
        }
        if self.release.valid.val() {
            self.released.d.next = self.release.payload.val().pointer;
        }
        if self.reset.val() {
            self.released.d.next = self.stop.q.val();
        }
    }
}
