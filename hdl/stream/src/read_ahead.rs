//! Reads a memory with latch and register ahead of its taker, so that the register is the head of
//! what the memory holds.
//!
//! ```text
//!  stop ─► pointer ─► address ─► [latch] ─ moves ─► [register] ─► offered, ready
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | stop | in | pointer behind the last entry to offer; it may go on in any cycle |
//! | pointer | out | of the first entry that is not in the register |
//! | address | out | what to latch, in every cycle |
//! | moves | out | what is latched moves on to the register |
//! | offered, ready | out, in | the register has the next entry; it is taken |
//!
//! Timing: an entry is offered two cycles after `stop` has passed it; one a cycle. `pointer` and
//! `offered` are registers; `address` and `moves` follow `ready`.
//!
//! Invariants:
//! 1. Entries are offered in order, each once.
//! 2. While entries up to `stop` are taken without a pause, they are offered without one.
//! 3. `reset` goes back to pointer 0; nothing is offered in the next cycle.

use crate::fifo_pointers::{SamePlace, StepMeets};
use block_default::BlockDefault;
use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock};
use rust_hdl_widgets::dff::DFF;
use rust_hdl_widgets::dff_setup;

/// Whether what is latched moves on to the register: where that is free, or taken. A block of its
/// own, so that tools find the answer before what it chooses.
#[derive(LogicBlock, Default)]
pub struct MovesOn {
    /// Something is latched that has not moved on.
    pub latched: Signal<In, Bit>,
    /// The register offers something.
    pub offered: Signal<In, Bit>,
    /// Which is taken.
    pub ready: Signal<In, Bit>,
    /// What is latched moves on.
    pub moves: Signal<Out, Bit>,
    /// The register offers something in the next cycle.
    pub offers: Signal<Out, Bit>,
}

impl Logic for MovesOn {
    #[hdl_gen]
    fn update(&mut self) {
        self.moves.next = self.latched.val() & (!self.offered.val() | self.ready.val());
        self.offers.next = self.latched.val() | (self.offered.val() & !self.ready.val());
    }
}

/// The reader; P is the width of the pointers. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ReadAhead<const P: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Nothing is there any more.
    pub reset: Signal<In, Bit>,

    /// Behind the last entry to offer.
    pub stop: Signal<In, Bits<P>>,
    /// First entry that is not in the register.
    pub pointer: Signal<Out, Bits<P>>,
    /// Entry to latch.
    pub address: Signal<Out, Bits<P>>,
    /// What is latched moves on.
    pub moves: Signal<Out, Bit>,
    /// The register has the next entry.
    pub offered: Signal<Out, Bit>,
    /// It is taken.
    pub ready: Signal<In, Bit>,

    place: DFF<Bits<P>>,
    latched: DFF<Bit>,
    offers: DFF<Bit>,
    head: MovesOn,
    is_one_left: StepMeets<P>,
    all_read: SamePlace<P>,

    #[value(1)]
    one: Constant<Bits<P>>,
    #[value(0)]
    zero: Constant<Bits<P>>,
}

impl<const P: usize> Logic for ReadAhead<P> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, place, latched, offers);
        self.head.latched.next = self.latched.q.val();
        self.head.offered.next = self.offers.q.val();
        self.head.ready.next = self.ready.val();
        self.offers.d.next = self.head.offers.val();
        self.moves.next = self.head.moves.val();
        self.offered.next = self.offers.q.val();

        // What the next step brings is known before it is known whether it is taken.
        self.is_one_left.from.next = self.place.q.val();
        self.is_one_left.to.next = self.stop.val();
        self.all_read.one.next = self.place.q.val();
        self.all_read.other.next = self.stop.val();
        self.address.next = self.place.q.val();
        self.latched.d.next = !self.all_read.same.val();
        if self.head.moves.val() {
            self.address.next = self.place.q.val() + self.one.val();
            self.latched.d.next = !self.is_one_left.meets.val();
        }
        self.place.d.next = self.address.val();
        self.pointer.next = self.place.q.val();
        if self.reset.val() {
            self.place.d.next = self.zero.val();
            self.latched.d.next = false;
            self.offers.d.next = false;
        }
    }
}
