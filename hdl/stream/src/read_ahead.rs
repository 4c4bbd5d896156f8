//! Reads a memory with latch and register ahead of its consumer, so that the register is the head
//! of what the memory holds.
//!
//! ```text
//!  stop ──► pointer ──► address ──► [latch] ─ moves ──► [register] ──► offered, ready
//! ```
//! Timing: an entry is offered two cycles after `stop` has passed it; one per cycle. `pointer` and
//! `offered` are registers; `address` and `moves` follow `ready` in the same cycle.
//!
//! Invariants:
//! 1. Entries are offered in order, each once.
//! 2. While entries up to `stop` are taken without a pause, they are offered without one.

use crate::fifo_pointers::{SamePlace, StepMeets};
use block_default::BlockDefault;
use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock};
use rust_hdl_widgets::dff::DFF;
use rust_hdl_widgets::dff_setup;

/// Whether what is latched moves on to the register: where that is free, or taken. A block of its
/// own, so that tools compute it before what it chooses. Combinational.
#[derive(LogicBlock, Default)]
pub struct MovesOn {
    /// An entry is latched that has not moved on.
    pub latched: Signal<In, Bit>,
    /// The register offers an entry.
    pub offered: Signal<In, Bit>,
    /// The entry that the register offers is taken.
    pub ready: Signal<In, Bit>,
    /// What is latched moves on to the register.
    pub moves: Signal<Out, Bit>,
    /// The register offers an entry in the next cycle.
    pub offers: Signal<Out, Bit>,
}

impl Logic for MovesOn {
    #[hdl_gen]
    fn update(&mut self) {
        self.moves.next = self.latched.val() & (!self.offered.val() | self.ready.val());
        self.offers.next = self.latched.val() | (self.offered.val() & !self.ready.val());
    }
}

/// The reader; POINTER_BITS is the width of the pointers. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ReadAhead<const POINTER_BITS: usize> {
    /// Clock of the memory and of both sides.
    pub clock: Signal<In, Clock>,
    /// Sets the pointer to 0 and drops what was read; nothing is offered in the next cycle.
    pub reset: Signal<In, Bit>,

    /// Pointer after the last entry to offer; it may move on in any cycle.
    pub stop: Signal<In, Bits<POINTER_BITS>>,
    /// Pointer of the first entry that is not in the register.
    pub pointer: Signal<Out, Bits<POINTER_BITS>>,
    /// Entry to latch, in every cycle.
    pub address: Signal<Out, Bits<POINTER_BITS>>,
    /// What is latched moves on to the register: the memory's register enable.
    pub moves: Signal<Out, Bit>,
    /// The register has the next entry.
    pub offered: Signal<Out, Bit>,
    /// The entry that the register offers is taken.
    pub ready: Signal<In, Bit>,

    place: DFF<Bits<POINTER_BITS>>,
    latched: DFF<Bit>,
    offers: DFF<Bit>,
    head: MovesOn,
    is_one_left: StepMeets<POINTER_BITS>,
    all_read: SamePlace<POINTER_BITS>,

    #[value(1)]
    one: Constant<Bits<POINTER_BITS>>,
}

impl<const POINTER_BITS: usize> Logic for ReadAhead<POINTER_BITS> {
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
            self.place.d.next = 0.into();
            self.latched.d.next = false;
            self.offers.d.next = false;
        }
    }
}
