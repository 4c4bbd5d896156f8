//! State of each read tag: a few bits, in distributed RAM.
//!
//! Several writers change a bit, and a RAM has one write port. So each writer has a RAM of its own,
//! and the bit is the sum of their bits, modulo 2: a writer changes it by inverting its own.
//!
//! ```text
//!   waits       = issued + ended by event 0 + by event 1 + given up      TagWaits
//!   failed      = by event 0 + by event 1 + given up + forgiven          TagFailures
//!   used        = issued + retired                                       TagUse
//!   quarantined = by event 0, by event 1, or given up
//! ```
//! Timing: look-ups are combinational, changes are visible in the next cycle.
//!
//! Invariants:
//! 1. No bit is changed by two writers in the same cycle, because the changes would cancel. The
//!    user of the block ensures it.
//! 2. All bits are 0 at power-up: no tag is in use.

use crate::read::tag::{Tag, TAG_BITS};
use stream::prelude::*;

/// Which reads wait for completions. See the module's head.
#[derive(LogicBlock, Default)]
pub struct TagWaits {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// Tags to look up; the last two are those of event 0 and of event 1.
    pub tag: [Signal<In, Tag>; 7],
    /// The reads of these tags wait for completions.
    pub waits: [Signal<Out, Bit>; 7],
    /// Tag of the read that is given up.
    pub given_up: Signal<In, Tag>,
    /// The reads of event 0, of event 1 and of `given_up` end. Allowed only if they wait.
    pub ends: [Signal<In, Bit>; 3],
    /// A read starts.
    pub issue: Signal<In, Bit>,
    /// Tag of the read that starts.
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

/// Which reads have failed. See the module's head.
#[derive(LogicBlock, Default)]
pub struct TagFailures {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// Tags to look up: those of event 0, of event 1 and of the read that is given up, and the tag
    /// of the oldest request.
    pub tag: [Signal<In, Tag>; 4],
    /// The reads of these tags have failed.
    pub failed: [Signal<Out, Bit>; 4],
    /// The reads of the first three tags fail. Allowed only if they have not failed before.
    pub fails: [Signal<In, Bit>; 3],
    /// The failure of a tag is cleared.
    pub forgive: Signal<In, Bit>,
    /// Tag whose failure is cleared.
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

/// Which tags may be used. See the module's head.
#[derive(LogicBlock, Default)]
pub struct TagUse {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// Tag to look up.
    pub candidate: Signal<In, Tag>,
    /// The candidate is in use or quarantined.
    pub busy: Signal<Out, Bit>,
    /// The candidate is quarantined.
    pub quarantined: Signal<Out, Bit>,

    /// A tag comes into use.
    pub issue: Signal<In, Bit>,
    /// Tag that comes into use.
    pub issue_tag: Signal<In, Tag>,
    /// A tag is free again, unless it is quarantined.
    pub retire: Signal<In, Bit>,
    /// Tag that is free again.
    pub retire_tag: Signal<In, Tag>,
    /// Tags of event 0, of event 1 and of the read that is given up.
    pub event_tag: [Signal<In, Tag>; 3],
    /// These tags are quarantined: a late completion could be taken for one of a new read.
    pub quarantines: [Signal<In, Bit>; 3],
    /// The quarantine of `retire_tag` ends; no tag is quarantined in this cycle.
    pub clears: Signal<In, Bit>,

    issued: EightPortRam<Bit, TAG_BITS>,
    retired: LutRam<Bit, TAG_BITS>,
    quarantined_by: [LutRam<Bit, TAG_BITS>; 3],

    is_used: Signal<Local, Bit>,
    is_quarantined: Signal<Local, Bit>,
}

impl Logic for TagUse {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, issued, retired);
        // A tag is in use while the bit that retirement copies differs from the bit of its issue.
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
            self.quarantined_by[i].clock.next = self.clock.val();
            self.quarantined_by[i].read_address.next = self.candidate.val();
            self.quarantined_by[i].write_address.next = self.event_tag[i].val();
            if self.clears.val() {
                self.quarantined_by[i].write_address.next = self.retire_tag.val();
            }
            self.quarantined_by[i].write_data.next = !self.clears.val();
            self.quarantined_by[i].write_enable.next =
                self.clears.val() | self.quarantines[i].val();
        }
        self.is_quarantined.next = self.quarantined_by[0].read_data.val()
            | self.quarantined_by[1].read_data.val()
            | self.quarantined_by[2].read_data.val();
        self.busy.next = self.is_used.val() | self.is_quarantined.val();
        self.quarantined.next = self.is_quarantined.val();
    }
}
