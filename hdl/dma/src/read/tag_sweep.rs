//! Clears all tags after a reset, each after its read has ended.
//!
//! ```text
//!   reset ──► draining ── one round in which no tag waits ──► over
//!                 └──► clears: the scanned tag ──┬─► frees
//!                                       retire ──┘
//! ```
//! Timing: one tag per cycle, in the order of `scan_tag`, which must visit all tags in turn.
//! `draining` and `cut_off` are registers; `clears`, `frees` and `free_tag` are combinational.
//!
//! Invariants:
//! 1. Each tag is cleared after its read has ended, and before `draining` falls.
//! 2. A reset while tags are drained starts a new round.

use crate::read::tag::Tag;
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct TagSweep {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Starts a round.
    pub reset: Signal<In, Bit>,
    /// The PCIe hard block is in reset: a round starts, and no completion of an earlier read is
    /// expected.
    pub link_reset: Signal<In, Bit>,

    /// Tag that is scanned in this cycle.
    pub scan_tag: Signal<In, Tag>,
    /// The read of the scanned tag waits for completions.
    pub scan_waits: Signal<In, Bit>,
    /// The read data of a request have been delivered.
    pub retire: Signal<In, Bit>,
    /// Tag of the request whose read data have been delivered.
    pub retire_tag: Signal<In, Tag>,
    /// Not every tag has been cleared since the reset.
    pub draining: Signal<Out, Bit>,
    /// No completion is expected: reads that wait have ended.
    pub cut_off: Signal<Out, Bit>,
    /// The scanned tag is cleared.
    pub clears: Signal<Out, Bit>,
    /// A tag becomes free: it is cleared, or was retired while no round is in progress.
    pub frees: Signal<Out, Bit>,
    /// Tag that becomes free.
    pub free_tag: Signal<Out, Tag>,

    is_draining: DFF<Bit>,
    is_cut_off: DFF<Bit>,
    cleared: DFF<Tag>,

    clear: Signal<Local, Bit>,
    #[value(1)]
    one: Constant<Tag>,
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

        // After a full round in which no tag waits all tags are cleared.
        self.cleared.d.next = 0.into();
        if self.clear.val() {
            self.cleared.d.next = self.cleared.q.val() + self.one.val();
            if self.cleared.q.val().all() {
                self.is_draining.d.next = false;
                self.is_cut_off.d.next = false;
            }
        }
        if self.reset.val() | self.link_reset.val() {
            self.is_draining.d.next = true;
            self.cleared.d.next = 0.into();
        }
        if self.link_reset.val() {
            self.is_cut_off.d.next = true;
        }
    }
}
