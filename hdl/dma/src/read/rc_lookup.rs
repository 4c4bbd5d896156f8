//! Looks up the state of the read to which a completion belongs.
//!
//! ```text
//!   issue ──► record by tag ────────────────────┐
//!   descriptor ── tag ──────────────────────────┼──► [found]
//!   progress ──► remaining bytes by tag ────────┘
//! ```
//! Timing: `found` is a register. `progress` comes one cycle after the look-up, from the judge of
//! the completion in `found`, in the same cycle as `found`.
//!
//! Invariants:
//! 1. `found` is the state after all completions before this one, except for one of the same read
//!    in the cycle before: then `follows` is set, and the judge knows the remaining bytes.

use crate::read::messages::ReadRecord;
use crate::read::rc_descriptor::{Announced, DescriptorRead};
use crate::read::tag::{Tag, TAG_BITS};
use stream::prelude::*;

/// State of a completion's read.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Found {
    /// A completion begins.
    pub present: Bit,
    /// The tag of the completion is outstanding, and the completion belongs to its read.
    pub known: Bit,
    /// What the request expects.
    pub record: ReadRecord,
    /// No completion of the request has come yet: all its bytes remain.
    pub fresh: Bit,
    /// Bytes that have not come; ignored if `fresh` or `follows`.
    pub remaining: Bits<10>,
    /// The completion of the cycle before belongs to the same read: the judge knows the remaining
    /// bytes.
    pub follows: Bit,
    /// What the descriptor states.
    pub announced: Announced,
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct RcLookup {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// A completion begins.
    pub present: Signal<In, Bit>,
    /// RC descriptor of the completion that begins.
    pub descriptor: Signal<In, Bits<96>>,
    /// State of the completion's read.
    pub found: Signal<Out, Found>,
    /// Bytes of the read in `found` that have not come after that completion.
    pub progress: Signal<In, Bits<10>>,

    /// A read starts.
    pub issue: Signal<In, Bit>,
    /// Tag of the read that starts.
    pub issue_tag: Signal<In, Tag>,
    /// What the read that starts expects.
    pub record: Signal<In, ReadRecord>,
    /// Tag of the completion that begins.
    pub tag: Signal<Out, Tag>,
    /// The tag of the completion that begins is outstanding; combinational reply.
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
    is_stranger: Signal<Local, Bit>,
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

        // The request of the tag, and how much of it has come.
        self.tag_read.next = self.descriptor.val().get_bits::<TAG_BITS>(64);
        self.tag.next = self.tag_read.val();
        self.known_before.next = self.stage.q.val().known;
        self.records.read_address.next = self.tag_read.val();
        self.remainders.read_address.next = self.tag_read.val();
        self.read.descriptor.next = self.descriptor.val();
        self.result.next.present = self.present.val();
        // Error code 4: the completion of somebody else. The read goes on.
        self.is_stranger.next = self.descriptor.val().get_bits::<4>(12) == 4;
        self.result.next.known =
            self.present.val() & self.outstanding.val() & !self.is_stranger.val();
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

        // The progress of the completion in `found` is stored.
        self.remainders.write_address.next = self.stage_tag.q.val();
        self.remainders.write_data.next = self.progress.val();
        self.remainders.write_enable.next = self.known_before.val();

        // No completion of a read has come while its two bits differ: the issue makes them differ,
        // the first completion makes them equal.
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
