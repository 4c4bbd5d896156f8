//! Clears the tags after a reset, each once its read has ended.
//!
//! ```text
//!   reset ──► draining ── a round of tags without one that waits ──► over
//!                 └──► clears: the tag that is looked at ──┬─► frees
//!                                                 retire ──┘
//! ```
//! Timing: one tag a cycle, in the order of `scan_tag`, which comes round all of them. `draining`
//! and `cut_off` are registers.
//!
//! Invariants:
//! 1. Each tag is cleared after its read has ended, and before `draining` is over.
//! 2. A reset that comes meanwhile begins a new round.

use crate::read::tag::Tag;
use stream::prelude::*;

/// The round. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct TagSweep {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Begins anew.
    pub reset: Signal<In, Bit>,
    /// So does this, and no completion comes any more.
    pub link_reset: Signal<In, Bit>,

    /// Tag that is looked at.
    pub scan_tag: Signal<In, Tag>,
    /// It waits for completions.
    pub scan_waits: Signal<In, Bit>,
    /// The answer to a read has been handed on.
    pub retire: Signal<In, Bit>,
    /// Its tag.
    pub retire_tag: Signal<In, Tag>,
    /// Not every tag is cleared.
    pub draining: Signal<Out, Bit>,
    /// No completion comes: what waits has ended.
    pub cut_off: Signal<Out, Bit>,
    /// The tag looked at is cleared.
    pub clears: Signal<Out, Bit>,
    /// A tag is free: it is cleared, or was retired while nothing is drained.
    pub frees: Signal<Out, Bit>,
    /// That tag.
    pub free_tag: Signal<Out, Tag>,

    is_draining: DFF<Bit>,
    is_cut_off: DFF<Bit>,
    cleared: DFF<Tag>,

    clear: Signal<Local, Bit>,
    #[value(1)]
    one: Constant<Tag>,
    #[value(0)]
    none: Constant<Tag>,
}

impl Logic for TagSweep {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, is_draining, is_cut_off, cleared);
        self.draining.next = self.is_draining.q.val();
        self.cut_off.next = self.is_cut_off.q.val();
        self.clear.next =
            self.is_draining.q.val() & (self.is_cut_off.q.val() | !self.scan_waits.val());
        self.clears.next = self.clear.val();
        self.frees.next = self.retire.val();
        self.free_tag.next = self.retire_tag.val();
        if self.is_draining.q.val() {
            self.frees.next = self.clear.val();
            self.free_tag.next = self.scan_tag.val();
        }

        // A round without a tag that waits: whatever ended before it is cleared.
        self.cleared.d.next = self.none.val();
        if self.clear.val() {
            self.cleared.d.next = self.cleared.q.val() + self.one.val();
            if self.cleared.q.val().all() {
                self.is_draining.d.next = false;
                self.is_cut_off.d.next = false;
            }
        }
        if self.reset.val() | self.link_reset.val() {
            self.is_draining.d.next = true;
            self.cleared.d.next = self.none.val();
        }
        if self.link_reset.val() {
            self.is_cut_off.d.next = true;
        }
    }
}
