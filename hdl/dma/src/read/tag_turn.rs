//! Finds the tag of the next read before it is wanted.
//!
//! ```text
//!   busy, quarantined ──► candidate ──► held tag ──► take
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | candidate | out | tag that may be used next |
//! | busy, quarantined | in | it must not be used; it will not come back |
//! | extended_tags | in | 256 tags instead of 32 |
//! | has_tag, tag | out | a tag that is free |
//! | take | in | it is used; only while `has_tag` |
//!
//! Timing: `has_tag` and `tag` are registers; one tag a cycle, one cycle for each quarantined tag
//! that is passed over.
//!
//! Invariants:
//! 1. Tags are used in turn and come back in turn: the next one is waited for, however many behind
//!    it are free.
//! 2. A tag is held from the cycle in which it is found free until it is taken. The candidate is
//!    the one behind it, so none is found free twice.

use crate::read::tag::{Tag, TAG_BITS};
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct TagTurn {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// Tag that may be used next.
    pub candidate: Signal<Out, Tag>,
    /// It must not be used.
    pub busy: Signal<In, Bit>,
    /// It will not come back.
    pub quarantined: Signal<In, Bit>,
    /// There are 256 tags; else 32.
    pub extended_tags: Signal<In, Bit>,
    /// A tag is free.
    pub has_tag: Signal<Out, Bit>,
    /// It.
    pub tag: Signal<Out, Tag>,
    /// It is used.
    pub take: Signal<In, Bit>,

    is_held: DFF<Bit>,
    held: DFF<Tag>,
    next_one: DFF<Tag>,

    refill: Signal<Local, Bit>,
    after: Signal<Local, Tag>,
}

impl Logic for TagTurn {
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
