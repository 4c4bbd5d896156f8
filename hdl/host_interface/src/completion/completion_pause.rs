//! Decides how long a completion entry waits for more confirmations that it can confirm.
//!
//! ```text
//!  confirmed ──► count ──► many? ─┐
//!  written ───────────────────────┴─► pause ──► waits
//! ```
//! Timing: `waits` is a register. It is high for [`PAUSE_CYCLES`] after `written`, and for twice as
//! long if [`MANY`] confirmations or more came since the entry before: many commands cost little of
//! the link, few do not wait long.
//!
//! Invariants:
//! 1. `waits` ends without any input.

use stream::prelude::*;

/// Cycles between two entries that could have been one: half a microsecond.
pub const PAUSE_CYCLES: usize = 128;
const PAUSE_BITS: usize = 8;
const _: () = assert!(2 * PAUSE_CYCLES == 1 << PAUSE_BITS);

/// Confirmations between two entries after which the next pause is twice as long.
pub const MANY: usize = 4;
const COUNT_BITS: usize = 3;
const _: () = assert!(MANY == 1 << (COUNT_BITS - 1));

/// The pause. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct CompletionPause {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Nothing waits; the count of confirmations is kept.
    pub reset: Signal<In, Bit>,

    /// A confirmation is offered.
    pub confirmed: Signal<In, Bit>,
    /// An entry was written.
    pub written: Signal<In, Bit>,
    /// The next entry waits for more confirmations.
    pub waits: Signal<Out, Bit>,

    left: DFF<Bits<PAUSE_BITS>>,
    waits_now: DFF<Bit>,
    count: DFF<Bits<COUNT_BITS>>,

    are_many: Signal<Local, Bit>,
    #[value((PAUSE_CYCLES - 1) as u64)]
    short: Constant<Bits<PAUSE_BITS>>,
    #[value((2 * PAUSE_CYCLES - 1) as u64)]
    long: Constant<Bits<PAUSE_BITS>>,
}

impl Logic for CompletionPause {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, left, waits_now, count);
        self.are_many.next = self.count.q.val().get_bit(2);
        self.waits.next = self.waits_now.q.val();
        self.waits_now.d.next = self.left.q.val().any();
        if self.left.q.val().any() {
            self.left.d.next = self.left.q.val() - 1;
        }
        if self.confirmed.val() & !self.are_many.val() {
            self.count.d.next = self.count.q.val() + 1;
        }
        if self.written.val() {
            self.waits_now.d.next = true;
            self.count.d.next = 0.into();
            self.left.d.next = self.short.val();
            if self.are_many.val() {
                self.left.d.next = self.long.val();
            }
        }
        if self.reset.val() {
            self.waits_now.d.next = false;
            self.left.d.next = 0.into();
        }
    }
}
