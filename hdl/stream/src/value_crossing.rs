//! A clock crossing for a value that may change at any time: the other side sees it whole and a
//! little later, and may miss values in between.
//!
//! ```text
//!  write_clock │                         │ read_clock
//!   value ──► [held] ──────────────────────────► [seen] ──► latest
//!               │ toggle ──► synchronizer ──► changed? ─┤
//!               └──── synchronizer ◄──── acknowledge ───┘
//! ```
//! Timing: a value shows after about three cycles of `read_clock`; a new one is taken for crossing
//! every three cycles of both clocks. `latest` is a register, `taken` a function of registers.
//!
//! Invariants:
//! 1. `latest` is always a value that `value` had, and bits of two values never mix: `held` does
//!    not change from its toggle to its acknowledge.
//! 2. Values are seen in their order. The last one is always seen.
//! 3. Single bits alone are synchronized, through two flip-flops marked `ASYNC_REG`.
//! 4. There is no reset.
//!
//! Source: the closed-loop toggle handshake of Cummings, SNUG 2008.

use crate::async_fifo::Synchronizer;
use block_default::BlockDefault;
use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock};
use rust_hdl_widgets::dff::DFF;
use rust_hdl_widgets::dff_setup;

/// The crossing. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[keep_hierarchy]
pub struct ValueCrossing<T: Synth> {
    /// Clock of `value`.
    pub write_clock: Signal<In, Clock>,
    /// Clock of `latest`.
    pub read_clock: Signal<In, Clock>,
    /// The value to cross, in `write_clock`.
    pub value: Signal<In, T>,
    /// The value is taken for crossing in this cycle of `write_clock`.
    pub taken: Signal<Out, Bit>,
    /// A value that `value` had, in `read_clock`.
    pub latest: Signal<Out, T>,

    held: DFF<T>,
    toggle: DFF<Bits<1>>,
    seen: DFF<T>,
    acknowledge: DFF<Bits<1>>,
    toggle_seen: Synchronizer<Bits<1>>,
    acknowledge_seen: Synchronizer<Bits<1>>,
}

impl<T: Synth> Logic for ValueCrossing<T> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, write_clock, held, toggle);
        dff_setup!(self, read_clock, seen, acknowledge);
        clock!(self, read_clock, toggle_seen);
        clock!(self, write_clock, acknowledge_seen);
        self.toggle_seen.d.next = self.toggle.q.val();
        self.acknowledge_seen.d.next = self.acknowledge.q.val();
        self.taken.next = self.acknowledge_seen.q.val() == self.toggle.q.val();
        if self.acknowledge_seen.q.val() == self.toggle.q.val() {
            self.held.d.next = self.value.val();
            self.toggle.d.next = !self.toggle.q.val();
        }
        if self.toggle_seen.q.val() != self.acknowledge.q.val() {
            self.seen.d.next = self.held.q.val();
            self.acknowledge.d.next = self.toggle_seen.q.val();
        }
        self.latest.next = self.seen.q.val();
    }
}
