//! Chooses the ring to look at: one after the other, or the one whose doorbell is written after a
//! whole round without work.
//!
//! ```text
//!  found, idle, done ──► next owner, or the doorbell's ──► owner
//! ```
//! Timing: `owner` is a register; it moves in the cycle after `idle` or `done`.
//!
//! Invariants:
//! 1. After a jump to a doorbell's owner there is no other jump before a whole round without work:
//!    an owner that writes its doorbell often never keeps the others from being granted.

use stream::prelude::*;

/// The arbiter. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RingArbiter<const OWNER_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets that the last round found no work; the owner is kept.
    pub reset: Signal<In, Bit>,
    /// The ring of `owner` has work.
    pub found: Signal<In, Bit>,
    /// The ring of `owner` has no work: go on to the next one, or to `rung`.
    pub idle: Signal<In, Bit>,
    /// The ring of `owner` has been served: go on to the next one.
    pub done: Signal<In, Bit>,
    /// Owner whose doorbell is written in this cycle.
    pub rung: PulseSink<Bits<OWNER_BITS>>,
    /// Owner of the ring to look at.
    pub owner: Signal<Out, Bits<OWNER_BITS>>,

    current: DFF<Bits<OWNER_BITS>>,
    busy: DFF<Bit>,
    quiet: DFF<Bit>,

    after: Signal<Local, Bits<OWNER_BITS>>,
    #[value(1)]
    one: Constant<Bits<OWNER_BITS>>,
}

impl<const OWNER_BITS: usize> Logic for RingArbiter<OWNER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, current, busy, quiet);
        self.owner.next = self.current.q.val();
        self.after.next = self.current.q.val() + self.one.val();
        if self.idle.val() | self.done.val() {
            self.current.d.next = self.after.val();
            // A round ends: it was quiet when no owner had work.
            if !self.after.val().any() {
                self.quiet.d.next = !self.busy.q.val();
                self.busy.d.next = false;
            }
        }
        if self.idle.val() & self.quiet.q.val() & self.rung.valid.val() {
            self.current.d.next = self.rung.payload.val();
            self.quiet.d.next = false;
            self.busy.d.next = true;
        }
        if self.found.val() {
            self.quiet.d.next = false;
            self.busy.d.next = true;
        }
        if self.reset.val() {
            self.quiet.d.next = false;
        }
    }
}
