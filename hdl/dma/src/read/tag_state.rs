//! What is known of each read tag: a few bits, in distributed RAM.
//!
//! Several change a bit, and a RAM has one port that writes: so each of them has a RAM, and the bit
//! is the sum of theirs, modulo 2. Who changes it turns its own.
//!
//! ```text
//!   waits  = issued + ended by event 0 + by event 1 + given up      TagWaits
//!   failed = by event 0 + by event 1 + given up + forgiven          TagFailures
//!   used   = issued + retired                                       TagUse
//!   lost   = by event 0, by event 1, or given up
//! ```
//! Timing: answers in the same cycle, changes are visible in the next.
//!
//! Invariants:
//! 1. Nothing is changed by two in the same cycle: they would undo each other. The user sees to it.
//! 2. All is zero at power-up: no tag is in use.

use crate::read::tag::{Tag, TAG_BITS};
use stream::prelude::*;

/// Whether reads wait for completions. See the module's head.
#[derive(LogicBlock, Default)]
pub struct TagWaits {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// Tags to look up; the last two are those of event 0 and of event 1.
    pub tag: [Signal<In, Tag>; 7],
    /// Their reads wait for completions.
    pub waits: [Signal<Out, Bit>; 7],
    /// Tag of the read that is given up.
    pub given_up: Signal<In, Tag>,
    /// The reads of event 0, of event 1, and what is given up, which wait, end.
    pub ends: [Signal<In, Bit>; 3],
    /// A read starts.
    pub issue: Signal<In, Bit>,
    /// Its tag.
    pub issue_tag: Signal<In, Tag>,

    issued: EightPortRam<Bit, TAG_BITS>,
    ended_0: EightPortRam<Bit, TAG_BITS>,
    ended_1: EightPortRam<Bit, TAG_BITS>,
    gave_up: EightPortRam<Bit, TAG_BITS>,
}

impl Logic for TagWaits {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, issued, ended_0, ended_1, gave_up);
        for i in 0..7 {
            self.issued.read_address[i].next = self.tag[i].val();
            self.ended_0.read_address[i].next = self.tag[i].val();
            self.ended_1.read_address[i].next = self.tag[i].val();
            self.gave_up.read_address[i].next = self.tag[i].val();
            self.waits[i].next = self.issued.read_data[i].val()
                ^ self.ended_0.read_data[i].val()
                ^ self.ended_1.read_data[i].val()
                ^ self.gave_up.read_data[i].val();
        }
        self.issued.write_address.next = self.issue_tag.val();
        self.issued.write_data.next = !self.issued.written.val();
        self.issued.write_enable.next = self.issue.val();
        self.ended_0.write_address.next = self.tag[5].val();
        self.ended_0.write_data.next = !self.ended_0.written.val();
        self.ended_0.write_enable.next = self.ends[0].val();
        self.ended_1.write_address.next = self.tag[6].val();
        self.ended_1.write_data.next = !self.ended_1.written.val();
        self.ended_1.write_enable.next = self.ends[1].val();
        self.gave_up.write_address.next = self.given_up.val();
        self.gave_up.write_data.next = !self.gave_up.written.val();
        self.gave_up.write_enable.next = self.ends[2].val();
    }
}

/// Whether reads have failed. See the module's head.
#[derive(LogicBlock, Default)]
pub struct TagFailures {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// Tags of event 0, of event 1, and of what is given up; tag of the oldest request.
    pub tag: [Signal<In, Tag>; 4],
    /// Their reads have failed.
    pub failed: [Signal<Out, Bit>; 4],
    /// Reads of the first three, which have not failed, fail.
    pub fails: [Signal<In, Bit>; 3],
    /// The read has not failed any more.
    pub forgive: Signal<In, Bit>,
    /// Its tag.
    pub forgive_tag: Signal<In, Tag>,

    wrong_0: EightPortRam<Bit, TAG_BITS>,
    wrong_1: EightPortRam<Bit, TAG_BITS>,
    gave_up: EightPortRam<Bit, TAG_BITS>,
    forgiven: EightPortRam<Bit, TAG_BITS>,
}

impl Logic for TagFailures {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, wrong_0, wrong_1, gave_up, forgiven);
        for i in 0..4 {
            self.wrong_0.read_address[i].next = self.tag[i].val();
            self.wrong_1.read_address[i].next = self.tag[i].val();
            self.gave_up.read_address[i].next = self.tag[i].val();
            self.forgiven.read_address[i].next = self.tag[i].val();
            self.failed[i].next = self.wrong_0.read_data[i].val()
                ^ self.wrong_1.read_data[i].val()
                ^ self.gave_up.read_data[i].val()
                ^ self.forgiven.read_data[i].val();
        }
        for i in 4..7 {
            self.wrong_0.read_address[i].next = self.forgive_tag.val();
            self.wrong_1.read_address[i].next = self.forgive_tag.val();
            self.gave_up.read_address[i].next = self.forgive_tag.val();
            self.forgiven.read_address[i].next = self.forgive_tag.val();
        }
        self.wrong_0.write_address.next = self.tag[0].val();
        self.wrong_0.write_data.next = !self.wrong_0.written.val();
        self.wrong_0.write_enable.next = self.fails[0].val();
        self.wrong_1.write_address.next = self.tag[1].val();
        self.wrong_1.write_data.next = !self.wrong_1.written.val();
        self.wrong_1.write_enable.next = self.fails[1].val();
        self.gave_up.write_address.next = self.tag[2].val();
        self.gave_up.write_data.next = !self.gave_up.written.val();
        self.gave_up.write_enable.next = self.fails[2].val();
        self.forgiven.write_address.next = self.forgive_tag.val();
        self.forgiven.write_data.next = self.wrong_0.read_data[4].val()
            ^ self.wrong_1.read_data[4].val()
            ^ self.gave_up.read_data[4].val();
        self.forgiven.write_enable.next = self.forgive.val();
    }
}

/// Whether tags may be used. See the module's head.
#[derive(LogicBlock, Default)]
pub struct TagUse {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// Tag that may be used next.
    pub candidate: Signal<In, Tag>,
    /// It must not be used.
    pub busy: Signal<Out, Bit>,
    /// It will not come back.
    pub quarantined: Signal<Out, Bit>,

    /// A tag is used.
    pub issue: Signal<In, Bit>,
    /// It.
    pub issue_tag: Signal<In, Tag>,
    /// A tag is not used any more.
    pub retire: Signal<In, Bit>,
    /// It.
    pub retire_tag: Signal<In, Tag>,
    /// Tags of event 0, of event 1, and of what is given up.
    pub event_tag: [Signal<In, Tag>; 3],
    /// They are lost: no completion of them can be told from a late one.
    pub loses: [Signal<In, Bit>; 3],
    /// `retire_tag` is not lost any more; nothing else is lost in this cycle.
    pub clears: Signal<In, Bit>,

    issued: EightPortRam<Bit, TAG_BITS>,
    retired: LutRam<Bit, TAG_BITS>,
    lost: [LutRam<Bit, TAG_BITS>; 3],

    is_used: Signal<Local, Bit>,
    is_lost: Signal<Local, Bit>,
}

impl Logic for TagUse {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, issued, retired);
        // A tag is used while who retired it last has not followed who issued it last.
        self.issued.write_address.next = self.issue_tag.val();
        self.issued.write_data.next = !self.issued.written.val();
        self.issued.write_enable.next = self.issue.val();
        self.issued.read_address[0].next = self.candidate.val();
        for i in 1..7 {
            self.issued.read_address[i].next = self.retire_tag.val();
        }
        self.retired.write_address.next = self.retire_tag.val();
        self.retired.write_data.next = self.issued.read_data[1].val();
        self.retired.write_enable.next = self.retire.val();
        self.retired.read_address.next = self.candidate.val();
        self.is_used.next = self.issued.read_data[0].val() ^ self.retired.read_data.val();

        for i in 0..3 {
            self.lost[i].clock.next = self.clock.val();
            self.lost[i].read_address.next = self.candidate.val();
            self.lost[i].write_address.next = self.event_tag[i].val();
            if self.clears.val() {
                self.lost[i].write_address.next = self.retire_tag.val();
            }
            self.lost[i].write_data.next = !self.clears.val();
            self.lost[i].write_enable.next = self.clears.val() | self.loses[i].val();
        }
        self.is_lost.next = self.lost[0].read_data.val()
            | self.lost[1].read_data.val()
            | self.lost[2].read_data.val();
        self.busy.next = self.is_used.val() | self.is_lost.val();
        self.quarantined.next = self.is_lost.val();
    }
}
