//! Up to which beat the packet buffer is free again, as the writing side knows it.
//!
//! ```text
//!  release ─┬─► [pointer] ──► ValueCrossing ──► pointer (mac_clock)
//!  reset ───┘       ▲
//!  taken ─► [stop] ─┘
//! ```
//! Timing: some ten cycles from a release to `pointer`.
//!
//! Invariants:
//! 1. `pointer` never passes a packet that waits in the queue, nor one that is being written.
//! 2. A reset frees every packet that was taken: those that wait begin after them, without a gap.

use crate::messages::Release;
use stream::prelude::*;

/// The pointer. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Freed {
    /// MAC clock, 322 MHz: the clock of `pointer`.
    pub mac_clock: Signal<In, Clock>,
    /// PCIe user clock, 250 MHz: the clock of all ports except `pointer`.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: every packet that was taken counts as released.
    pub reset: Signal<In, Bit>,

    /// Packets that were read for the last time: the beats before the pointer are free.
    pub release: PulseSink<Release>,
    /// A packet leaves the queue of verified packets.
    pub taken: Signal<In, Bit>,
    /// Pointer past the last beat of the packet that leaves, with `taken`.
    pub taken_stop: Signal<In, Bits<16>>,
    /// In `mac_clock`: the beats before it may be written again.
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
