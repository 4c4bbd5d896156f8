//! Whose turn it is: one ring after the other, or the one whose doorbell rings after a whole turn
//! without work.
//!
//! ```text
//!  found, idle, done ──► next owner, or the doorbell's ──► owner
//! ```
//! Timing: `owner` is a register.
//!
//! Invariants:
//! 1. A jump ends the quiet: an owner that rings often never keeps the turn from the others.

use stream::prelude::*;

/// The turn. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RingTurn<const O: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Not quiet.
    pub reset: Signal<In, Bit>,
    /// The ring looked at has work.
    pub found: Signal<In, Bit>,
    /// It has none: go on, or to the ring whose doorbell rings.
    pub idle: Signal<In, Bit>,
    /// It is served: go on.
    pub done: Signal<In, Bit>,
    /// Whose doorbell rings.
    pub rung: PulseSink<Bits<O>>,
    /// Ring to look at.
    pub owner: Signal<Out, Bits<O>>,

    current: DFF<Bits<O>>,
    busy: DFF<Bit>,
    quiet: DFF<Bit>,

    after: Signal<Local, Bits<O>>,
    #[value(1)]
    one: Constant<Bits<O>>,
}

impl<const O: usize> Logic for RingTurn<O> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, current, busy, quiet);
        self.owner.next = self.current.q.val();
        self.after.next = self.current.q.val() + self.one.val();
        if self.idle.val() | self.done.val() {
            self.current.d.next = self.after.val();
            // A turn ends: it was quiet when nobody had work.
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
