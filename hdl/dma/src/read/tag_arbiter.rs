//! Grants tags to reads in turn: finds the next free tag before it is needed.
//!
//! ```text
//!   busy, quarantined ──► candidate ──► held tag ──► take
//! ```
//! Timing: `has_tag` and `tag` are registers; one tag per cycle, and one cycle for each quarantined
//! tag that is skipped.
//!
//! Invariants:
//! 1. Tags are used in numerical order, modulo 32 or 256. The arbiter waits for the next tag,
//!    however many tags after it are free; it skips quarantined tags only.
//! 2. A tag is held from the cycle in which it is found free until it is taken. The candidate is
//!    the tag after it, so no tag is found free twice.

use crate::read::tag::{Tag, TAG_BITS};
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct TagArbiter {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// Tag that is checked: the one that may be used after `tag`.
    pub candidate: Signal<Out, Tag>,
    /// The candidate is in use or quarantined; combinational reply.
    pub busy: Signal<In, Bit>,
    /// The candidate is out of use until reset; combinational reply.
    pub quarantined: Signal<In, Bit>,
    /// There are 256 tags; otherwise 32.
    pub extended_tags: Signal<In, Bit>,
    /// There is a free tag.
    pub has_tag: Signal<Out, Bit>,
    /// The free tag.
    pub tag: Signal<Out, Tag>,
    /// The free tag is used. Allowed only with `has_tag`.
    pub take: Signal<In, Bit>,

    is_held: DFF<Bit>,
    held: DFF<Tag>,
    next_one: DFF<Tag>,

    refill: Signal<Local, Bit>,
    after: Signal<Local, Tag>,
}

impl Logic for TagArbiter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, is_held, held, next_one);
        self.has_tag.next = self.is_held.q.val();
        self.tag.next = self.held.q.val();

        self.candidate.next = self.next_one.q.val();
        self.refill.next = self.take.val() | !self.is_held.q.val();
        if self.refill.val() {
            self.held.d.next = self.next_one.q.val();
        }
        self.is_held.d.next = !self.refill.val() | !self.busy.val();
        self.after.next = self.next_one.q.val() + 1;
        if (self.refill.val() & !self.busy.val()) | self.quarantined.val() {
            self.next_one.d.next = self.after.val();
            if !self.extended_tags.val() {
                self.next_one.d.next = bit_cast::<TAG_BITS, 5>(self.after.val().get_bits::<5>(0));
            }
        }
    }
}
