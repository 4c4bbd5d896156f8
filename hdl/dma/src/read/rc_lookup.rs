//! Looks up what is known of the read to which a completion belongs.
//!
//! ```text
//!   issue ──► record by tag ──────────────┐
//!   descriptor ── tag ────────────────────┼──► found
//!   progress ──► bytes to come by tag ────┘
//! ```
//! Timing: `found` is a register; `progress` tells in the next cycle how the completion found is
//! judged.
//!
//! Invariants:
//! 1. `found` is what stands after the completions before, but for one of the same read in the
//!    cycle before: `follows` says so, and its judge knows what is left.

use crate::read::messages::ReadRecord;
use crate::read::rc_descriptor::{Announced, DescriptorRead};
use crate::read::tag::{Tag, TAG_BITS};
use stream::prelude::*;

/// What is known of a completion's read.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Found {
    /// A completion begins.
    pub present: Bit,
    /// Its tag is outstanding.
    pub known: Bit,
    /// What its request expects.
    pub record: ReadRecord,
    /// Nothing has come of it.
    pub fresh: Bit,
    /// Else: bytes that have not come.
    pub remaining: Bits<10>,
    /// The completion one cycle before is of the same read.
    pub follows: Bit,
    /// What the descriptor says.
    pub announced: Announced,
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct RcLookup {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// A completion begins.
    pub present: Signal<In, Bit>,
    /// Its RC descriptor.
    pub descriptor: Signal<In, Bits<96>>,
    /// What is known of its read.
    pub found: Signal<Out, Found>,
    /// Of the completion found last: bytes of its read that have not come.
    pub progress: Signal<In, Bits<10>>,

    /// A read starts.
    pub issue: Signal<In, Bit>,
    /// Its tag.
    pub issue_tag: Signal<In, Tag>,
    /// What it expects.
    pub record: Signal<In, ReadRecord>,
    /// Tag of the completion that begins.
    pub tag: Signal<Out, Tag>,
    /// It is outstanding.
    pub outstanding: Signal<In, Bit>,

    records: LutRam<ReadRecord, TAG_BITS>,
    remainders: LutRam<Bits<10>, TAG_BITS>,
    issued: LutRam<Bits<1>, TAG_BITS>,
    started: EightPortRam<Bits<1>, TAG_BITS>,
    read: DescriptorRead,
    stage: DFF<Found>,
    stage_tag: DFF<Tag>,
    stage_issued: DFF<Bits<1>>,

    tag_read: Signal<Local, Tag>,
    known_before: Signal<Local, Bit>,
    result: Signal<Local, Found>,
}

impl Logic for RcLookup {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, stage, stage_tag, stage_issued);
        clock!(self, clock, records, remainders, issued, started);
        self.records.write_address.next = self.issue_tag.val();
        self.records.write_data.next = self.record.val();
        self.records.write_enable.next = self.issue.val();

        // The request of the tag and how much of it has come.
        self.tag_read.next = self.descriptor.val().get_bits::<TAG_BITS>(64);
        self.tag.next = self.tag_read.val();
        self.known_before.next = self.stage.q.val().known;
        self.records.read_address.next = self.tag_read.val();
        self.remainders.read_address.next = self.tag_read.val();
        self.read.descriptor.next = self.descriptor.val();
        self.result.next.present = self.present.val();
        self.result.next.known = self.present.val() & self.outstanding.val();
        self.result.next.record = self.records.read_data.val();
        self.result.next.fresh = self.issued.read_data.val() != self.started.read_data[0].val();
        self.result.next.remaining = self.remainders.read_data.val();
        self.result.next.follows =
            self.known_before.val() & (self.tag_read.val() == self.stage_tag.q.val());
        self.result.next.announced = self.read.announced.val();
        self.stage.d.next = self.result.val();
        self.stage_tag.d.next = self.tag_read.val();
        self.stage_issued.d.next = self.issued.read_data.val();
        self.found.next = self.stage.q.val();

        // What comes of the completion that was found.
        self.remainders.write_address.next = self.stage_tag.q.val();
        self.remainders.write_data.next = self.progress.val();
        self.remainders.write_enable.next = self.known_before.val();

        // Nothing has come of a read while its two bits differ: the issue makes them, the first
        // completion ends it.
        self.issued.read_address.next = self.tag_read.val();
        self.issued.write_address.next = self.issue_tag.val();
        self.issued.write_data.next = !self.started.read_data[1].val();
        self.issued.write_enable.next = self.issue.val();
        self.started.read_address[0].next = self.tag_read.val();
        for i in 1..7 {
            self.started.read_address[i].next = self.issue_tag.val();
        }
        self.started.write_address.next = self.stage_tag.q.val();
        self.started.write_data.next = self.stage_issued.q.val();
        self.started.write_enable.next = self.known_before.val();
    }
}
