//! Decides what the events of a cycle change: ends of completions, and a read that has waited too
//! long.
//!
//! ```text
//!   event 0, event 1 ──┐
//!   expired tag ───────┼──► ends, fails, quarantines: each at most once for a tag
//!   state so far ──────┘
//! ```
//! Timing: combinational, except for `timed_out`, `wrong` and `has_quarantined`, which are
//! registers.
//!
//! Invariants:
//! 1. Events change only tags that wait for completions.
//! 2. No tag ends, or fails, twice in one cycle: of two events of a tag the older has the effect,
//!    and an expiry yields to both. It is found again in a later scan.
//! 3. While tags are drained none is quarantined. While the link is cut off events change nothing,
//!    and the scanned tag ends.

use crate::read::tag::{Tag, TagEvent};
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct TagVerdicts {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// A completion ends; of two in one cycle the older.
    pub event_0: PulseSink<TagEvent>,
    /// A completion ends; of two in one cycle the younger.
    pub event_1: PulseSink<TagEvent>,
    /// The tags of event 0 and of event 1 are outstanding.
    pub event_known: [Signal<Out, Bit>; 2],
    /// The read of `expired_tag` had waited too long one cycle before.
    pub expired: Signal<In, Bit>,
    /// Tag that was scanned one cycle before.
    pub expired_tag: Signal<In, Tag>,
    /// Tag that is scanned in this cycle; one cycle later it may have expired.
    pub scan_tag: Signal<In, Tag>,
    /// The read of the scanned tag waits for completions.
    pub scan_waits: Signal<In, Bit>,
    /// Reads from before a reset are being ended.
    pub draining: Signal<In, Bit>,
    /// No completion is expected.
    pub cut_off: Signal<In, Bit>,

    /// Tags of event 0, of event 1 and of the read that is given up.
    pub tag: [Signal<Out, Tag>; 3],
    /// The reads of event 0 and of event 1 wait for completions; combinational reply to `tag`.
    pub waits: [Signal<In, Bit>; 2],
    /// The reads of the three tags have failed already; combinational reply to `tag`.
    pub failed: [Signal<In, Bit>; 3],
    /// The reads of the three tags end.
    pub ends: [Signal<Out, Bit>; 3],
    /// The reads of the three tags fail.
    pub fails: [Signal<Out, Bit>; 3],
    /// The three tags are quarantined.
    pub quarantines: [Signal<Out, Bit>; 3],

    /// A read timed out one cycle before.
    pub timed_out: Signal<Out, Bit>,
    /// A completion was not as expected one cycle before.
    pub wrong: Signal<Out, Bit>,
    /// At least one tag is quarantined.
    pub has_quarantined: Signal<Out, Bit>,

    was_late: DFF<Bit>,
    was_wrong: DFF<Bit>,
    any_quarantined: DFF<Bit>,
    was_met: DFF<Bit>,

    first: Signal<Local, TagEvent>,
    second: Signal<Local, TagEvent>,
    known: [Signal<Local, Bit>; 2],
    late: [Signal<Local, Bit>; 2],
    finishes: [Signal<Local, Bit>; 2],
    wrongs: [Signal<Local, Bit>; 2],
    over: [Signal<Local, Bit>; 2],
    fresh: [Signal<Local, Bit>; 2],
    same: Signal<Local, Bit>,
    gives_way: Signal<Local, Bit>,
    gives_up: Signal<Local, Bit>,
    is_late: Signal<Local, Bit>,
}

impl Logic for TagVerdicts {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, was_late, was_wrong, any_quarantined, was_met);
        self.first.next = self.event_0.payload.val();
        self.second.next = self.event_1.payload.val();
        self.known[0].next = self.event_0.valid.val() & self.waits[0].val() & !self.cut_off.val();
        self.known[1].next = self.event_1.valid.val() & self.waits[1].val() & !self.cut_off.val();
        self.tag[0].next = self.first.val().tag;
        self.tag[1].next = self.second.val().tag;
        self.late[0].next = self.known[0].val() & self.first.val().timed_out;
        self.late[1].next = self.known[1].val() & self.second.val().timed_out;
        self.finishes[0].next = self.known[0].val() & self.first.val().finished;
        self.finishes[1].next = self.known[1].val() & self.second.val().finished;
        self.wrongs[0].next = self.known[0].val() & self.first.val().failed;
        self.wrongs[1].next = self.known[1].val() & self.second.val().failed;
        for i in 0..2 {
            self.over[i].next = self.finishes[i].val() | self.late[i].val();
            self.fresh[i].next =
                (self.wrongs[i].val() | self.late[i].val()) & !self.failed[i].val();
            self.quarantines[i].next = self.late[i].val() & !self.draining.val();
        }
        self.event_known[0].next = self.known[0].val();
        self.event_known[1].next = self.known[1].val();
        self.same.next = self.first.val().tag == self.second.val().tag;
        self.ends[0].next = self.over[0].val();
        self.fails[0].next = self.fresh[0].val();
        self.ends[1].next = self.over[1].val() & !(self.over[0].val() & self.same.val());
        self.fails[1].next = self.fresh[1].val() & !(self.fresh[0].val() & self.same.val());

        // One timeout per cycle, so that each is counted. The expiry was found in the cycle before.
        self.was_met.d.next = (self.event_0.valid.val()
            & (self.first.val().tag == self.scan_tag.val()))
            | (self.event_1.valid.val() & (self.second.val().tag == self.scan_tag.val()));
        self.gives_way.next = (self.event_0.valid.val()
            & (self.first.val().timed_out | (self.first.val().tag == self.expired_tag.val())))
            | (self.event_1.valid.val()
                & (self.second.val().timed_out
                    | (self.second.val().tag == self.expired_tag.val())));
        self.gives_up.next = self.expired.val()
            & !self.was_met.q.val()
            & !self.gives_way.val()
            & !self.cut_off.val();
        self.tag[2].next = self.expired_tag.val();
        self.ends[2].next = self.gives_up.val();
        self.fails[2].next = self.gives_up.val() & !self.failed[2].val();
        self.quarantines[2].next = self.gives_up.val() & !self.draining.val();
        if self.cut_off.val() {
            self.tag[2].next = self.scan_tag.val();
            self.ends[2].next = self.scan_waits.val();
        }

        self.is_late.next = self.late[0].val() | self.late[1].val() | self.gives_up.val();
        self.was_late.d.next = self.is_late.val();
        self.was_wrong.d.next = self.wrongs[0].val() | self.wrongs[1].val();
        self.any_quarantined.d.next =
            (self.any_quarantined.q.val() | self.is_late.val()) & !self.draining.val();
        self.timed_out.next = self.was_late.q.val();
        self.wrong.next = self.was_wrong.q.val();
        self.has_quarantined.next = self.any_quarantined.q.val();
    }
}
