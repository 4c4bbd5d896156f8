//! Compares each completion with what its request expects, and decides where its payload is stored.
//!
//! ```text
//!   slice ──►┌─────────┐──► placed   the beat, and for each part: place, lanes
//!   record ─►│ RcCheck │──► event_0  end of the completion that began earlier
//!            └─────────┘──► event_1  end of the completion that began here
//!
//!   RcLookup │ StartJudge │ TailTrack │      a register after each
//! ```
//! Timing: outputs are registers, three cycles after the slice; one slice per cycle.
//!
//! Invariants:
//! 1. Only payload of outstanding tags is stored, and only in the beats of its request. Nothing of
//!    an unexpected completion is stored; excess dwords of an over-long one are discarded.
//! 2. A completion is as expected if its status is good, it is not poisoned, the hard block reports
//!    no error, lower address and byte count continue where the completion before it ended, and as
//!    many dwords came as its descriptor announces, without exceeding what remains.
//! 3. `finished` is what the hard block reports (request completed); it is a failure if bytes are
//!    missing.
//! 4. A completion whose tag is not outstanding is dropped and pulses `unexpected`, and so is one
//!    with other attributes than its request has (error code 4): the right one may follow. Whether
//!    the tag is outstanding is checked when the completion begins and in each later cycle of it.
//!
//! On error: a completion that is not as expected ends with `failed`; its request fails.
//!
//! Source: PG213, requester completion descriptor.

use crate::read::messages::ReadRecord;
use crate::read::rc_descriptor::{Announced, DescriptorCheck};
use crate::read::rc_lookup::{Found, RcLookup};
use crate::read::rc_split::{Slice, SlicePart};
use crate::read::tag::{Tag, TagEvent, TAG_BITS};
use stream::prelude::*;

/// Place in the reorder memory for one part of a completion.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PlacedPart {
    /// Lanes to write.
    pub mask: Bits<16>,
    /// The part is as expected: it is stored.
    pub stores: Bit,
    /// Lane of the first dword. Lanes below it belong to the next beat.
    pub lane: Bits<4>,
    /// Position in the RC beat minus lane, modulo 16.
    pub rotate: Bits<4>,
    /// Beat of the reorder memory that holds the first dword.
    pub address: Bits<9>,
    /// Beat for the lanes below the first one.
    pub address_next: Bits<9>,
}

/// An RC beat with the places of its dwords.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Placed {
    /// The RC beat.
    pub beat: Bits<512>,
    /// Place of the part whose completion began earlier.
    pub tail: PlacedPart,
    /// Place of the part whose completion begins in this beat.
    pub start: PlacedPart,
}

/// A completion of which more parts are to come.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct OpenCompletion {
    /// The tag is outstanding.
    pub known: Bit,
    /// The completion is as expected so far: its payload is stored.
    pub stores: Bit,
    /// Event that its end will report, unless the end itself fails.
    pub event: TagEvent,
    /// Beat of the reorder memory to which the next dword belongs.
    pub beat: Bits<9>,
    /// Payload dwords that have not come yet.
    pub missing: Bits<11>,
}

/// Places a part of a completion in the beats of its request.
///
/// Timing: combinational.
#[derive(LogicBlock, Default)]
pub struct PartPlace {
    /// The part.
    pub part: Signal<In, SlicePart>,
    /// Beat of the reorder memory that holds its first dword.
    pub beat: Signal<In, Bits<9>>,
    /// The part is present, and its tag is outstanding.
    pub store: Signal<In, Bit>,
    /// The part is as expected.
    pub stores: Signal<In, Bit>,

    /// Place of the part.
    pub placed: Signal<Out, PlacedPart>,
    /// Beat of the dword after the part.
    pub beat_after: Signal<Out, Bits<9>>,

    beat_next: Signal<Local, Bits<9>>,
    lane_end: Signal<Local, Bits<6>>,
    result: Signal<Local, PlacedPart>,
}

impl Logic for PartPlace {
    #[hdl_gen]
    fn update(&mut self) {
        self.beat_next.next = self.beat.val() + 1;
        self.result.next.mask = 0.into();
        if self.store.val() {
            self.result.next.mask = self.part.val().mask;
        }
        self.result.next.stores = self.stores.val();
        self.result.next.lane = self.part.val().lane;
        self.result.next.rotate = self.part.val().rotate;
        self.result.next.address = self.beat.val();
        self.result.next.address_next = self.beat_next.val();
        self.placed.next = self.result.val();

        self.lane_end.next =
            bit_cast::<6, 4>(self.part.val().lane) + bit_cast::<6, 5>(self.part.val().dwords);
        self.beat_after.next =
            self.beat.val() + bit_cast::<9, 2>(self.lane_end.val().get_bits::<2>(4));
    }
}

/// Follows the completion that began in an earlier beat up to its end.
///
/// Timing: combinational from the part to `placed` and `event`; the state of the completion is a
/// register.
#[derive(LogicBlock, Default)]
pub struct TailTrack {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// The next part of the completion is present.
    pub present: Signal<In, Bit>,
    /// The next part of the completion.
    pub part: Signal<In, SlicePart>,
    /// The hard block discontinues the completion.
    pub discontinue: Signal<In, Bit>,
    /// Another completion begins and does not end in the same beat: it is followed from now on.
    pub open: PulseSink<OpenCompletion>,
    /// Tag of the completion that is followed.
    pub tag: Signal<Out, Tag>,
    /// The tag of the completion that is followed is outstanding.
    pub outstanding: Signal<In, Bit>,

    /// Place of the part.
    pub placed: Signal<Out, PlacedPart>,
    /// The completion that is followed ends.
    pub event: PulseSource<TagEvent>,

    place: PartPlace,
    state: DFF<OpenCompletion>,

    known: Signal<Local, Bit>,
    is_short: Signal<Local, Bit>,
    dwords: Signal<Local, Bits<11>>,
    result: Signal<Local, TagEvent>,
    next_state: Signal<Local, OpenCompletion>,
}

impl Logic for TailTrack {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state);
        self.result.next = self.state.q.val().event;
        self.known.next = self.state.q.val().known;
        self.tag.next = self.result.val().tag;
        self.dwords.next = bit_cast::<11, 5>(self.part.val().dwords);
        if (self.state.q.val().missing != self.dwords.val()) | self.discontinue.val() {
            self.result.next.failed = true;
        }
        self.event.valid.next = self.present.val() & self.part.val().ends & self.known.val();
        self.event.payload.next = self.result.val();

        self.place.part.next = self.part.val();
        self.place.beat.next = self.state.q.val().beat;
        self.place.store.next = self.present.val() & self.known.val();
        self.is_short.next = self.dwords.val() <= self.state.q.val().missing;
        self.place.stores.next = self.state.q.val().stores & self.is_short.val();
        self.placed.next = self.place.placed.val();

        self.next_state.next = self.state.q.val();
        self.next_state.next.known = self.known.val() & self.outstanding.val();
        if self.present.val() {
            self.next_state.next.stores = self.state.q.val().stores & self.is_short.val();
            self.next_state.next.beat = self.place.beat_after.val();
            self.next_state.next.missing = self.state.q.val().missing - self.dwords.val();
        }
        if self.open.valid.val() {
            self.next_state.next = self.open.payload.val();
        }
        self.state.d.next = self.next_state.val();
    }
}

/// Verdict on the completion that begins.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Judged {
    /// Place of its part.
    pub placed: PlacedPart,
    /// The completion ends in the same beat.
    pub ends: Bit,
    /// Event that it reports if it ends in this beat.
    pub event: TagEvent,
    /// The completion continues in the next beat.
    pub opens: Bit,
    /// State of the completion if it continues.
    pub open: OpenCompletion,
    /// The tag of the completion is not outstanding.
    pub unexpected: Bit,
}

/// Judges the completion that begins, and counts the bytes of its request.
///
/// Timing: combinational, except for the byte count of two completions of one read in consecutive
/// cycles, which is a register.
#[derive(LogicBlock, Default)]
pub struct StartJudge {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// Look-up result for the completion's read.
    pub found: Signal<In, Found>,
    /// Part of the completion in this beat.
    pub part: Signal<In, SlicePart>,
    /// RC descriptor of the completion.
    pub descriptor: Signal<In, Bits<96>>,
    /// The hard block discontinues the completion.
    pub discontinue: Signal<In, Bit>,
    /// Bytes of the read that have not come after this completion.
    pub progress: Signal<Out, Bits<10>>,
    /// Verdict on the completion.
    pub judged: Signal<Out, Judged>,

    check: DescriptorCheck,
    place: PartPlace,
    left: DFF<Bits<10>>,

    record: Signal<Local, ReadRecord>,
    remaining: Signal<Local, Bits<10>>,
    announcement: Signal<Local, Announced>,
    announced: Signal<Local, Bits<11>>,
    dwords: Signal<Local, Bits<11>>,
    begun: Signal<Local, TagEvent>,
    ended: Signal<Local, TagEvent>,
    is_good: Signal<Local, Bit>,
    next_open: Signal<Local, OpenCompletion>,
    result: Signal<Local, Judged>,
}

impl Logic for StartJudge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, left);
        self.record.next = self.found.val().record;
        self.remaining.next = self.found.val().remaining;
        if self.found.val().follows {
            self.remaining.next = self.left.q.val();
        } else if self.found.val().fresh {
            self.remaining.next = self.record.val().bytes;
        }
        self.check.descriptor.next = self.descriptor.val();
        self.check.announced.next = self.found.val().announced;
        self.check.record.next = self.record.val();
        self.check.remaining.next = self.remaining.val();
        self.left.d.next = self.check.remaining_after.val();
        self.progress.next = self.check.remaining_after.val();

        // What its end will report, now or later.
        self.begun.next.finished = self.descriptor.val().get_bit(30);
        self.begun.next.failed = !self.check.good.val();
        // Error code 9: completion timeout of the hard block.
        self.begun.next.timed_out = self.descriptor.val().get_bits::<4>(12) == 9;
        self.begun.next.tag = self.descriptor.val().get_bits::<TAG_BITS>(64);
        self.announcement.next = self.found.val().announced;
        self.announced.next = self.announcement.val().dwords;
        self.dwords.next = bit_cast::<11, 5>(self.part.val().dwords);
        self.ended.next = self.begun.val();
        if (self.announced.val() != self.dwords.val()) | self.discontinue.val() {
            self.ended.next.failed = true;
        }
        self.is_good.next = self.check.good.val() & (self.dwords.val() <= self.announced.val());
        self.place.part.next = self.part.val();
        self.place.beat.next =
            self.record.val().base + bit_cast::<9, 3>(self.descriptor.val().get_bits::<3>(6));
        self.place.store.next = self.found.val().known;
        self.place.stores.next = self.is_good.val();
        self.next_open.next.known = self.found.val().known;
        self.next_open.next.stores = self.is_good.val();
        self.next_open.next.event = self.begun.val();
        self.next_open.next.beat = self.place.beat_after.val();
        self.next_open.next.missing = self.announced.val() - self.dwords.val();

        self.result.next.placed = self.place.placed.val();
        self.result.next.ends = self.found.val().known & self.part.val().ends;
        self.result.next.event = self.ended.val();
        self.result.next.opens = self.found.val().present & !self.part.val().ends;
        self.result.next.open = self.next_open.val();
        self.result.next.unexpected = self.found.val().present & !self.found.val().known;
        self.judged.next = self.result.val();
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct RcCheck {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// Slices of the RC beats.
    pub slice: PulseSink<Slice>,
    /// Beats with their places in the reorder memory.
    pub placed: PulseSource<Placed>,
    /// The completion that began earlier ends.
    pub event_0: PulseSource<TagEvent>,
    /// The completion that begins in this slice ends in it.
    pub event_1: PulseSource<TagEvent>,
    /// A completion came whose tag is not outstanding.
    pub unexpected: Signal<Out, Bit>,

    /// A read starts.
    pub issue: Signal<In, Bit>,
    /// Tag of the read that starts.
    pub issue_tag: Signal<In, Tag>,
    /// What the read that starts expects.
    pub record: Signal<In, ReadRecord>,
    /// Tag of the completion that begins.
    pub start_tag: Signal<Out, Tag>,
    /// The tag of the completion that begins is outstanding; combinational reply.
    pub start_outstanding: Signal<In, Bit>,
    /// Tag of the completion that continues.
    pub tail_tag: Signal<Out, Tag>,
    /// The tag of the completion that continues is outstanding; combinational reply.
    pub tail_outstanding: Signal<In, Bit>,

    lookup: RcLookup,
    start: StartJudge,
    tail: TailTrack,
    found_valid: DFF<Bit>,
    found_slice: DFF<Slice>,
    judged_valid: DFF<Bit>,
    judged_slice: DFF<Slice>,
    judged: DFF<Judged>,
    placed_valid: DFF<Bit>,
    placed_stage: DFF<Placed>,
    event_0_valid: DFF<Bit>,
    event_0_stage: DFF<TagEvent>,
    event_1_valid: DFF<Bit>,
    event_1_stage: DFF<TagEvent>,
    unexpected_stage: DFF<Bit>,

    looked_up: Signal<Local, SlicePart>,
    tail_part: Signal<Local, SlicePart>,
    next_placed: Signal<Local, Placed>,
}

impl Logic for RcCheck {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, found_valid, found_slice, judged);
        dff_setup!(self, clock, judged_valid, judged_slice);
        dff_setup!(self, clock, placed_valid, placed_stage);
        dff_setup!(self, clock, event_0_valid, event_0_stage);
        dff_setup!(self, clock, event_1_valid, event_1_stage, unexpected_stage);
        clock!(self, clock, lookup, start, tail);

        // First cycle: the read of the completion that begins.
        self.looked_up.next = self.slice.payload.val().start;
        self.lookup.present.next = self.slice.valid.val() & self.looked_up.val().present;
        self.lookup.descriptor.next = self.slice.payload.val().descriptor;
        self.lookup.issue.next = self.issue.val();
        self.lookup.issue_tag.next = self.issue_tag.val();
        self.lookup.record.next = self.record.val();
        self.start_tag.next = self.lookup.tag.val();
        self.lookup.outstanding.next = self.start_outstanding.val();
        self.found_valid.d.next = self.slice.valid.val();
        if self.slice.valid.val() {
            self.found_slice.d.next = self.slice.payload.val();
        }

        // Second cycle: is it as expected?
        self.start.found.next = self.lookup.found.val();
        self.start.part.next = self.found_slice.q.val().start;
        self.start.descriptor.next = self.found_slice.q.val().descriptor;
        self.start.discontinue.next = self.found_slice.q.val().discontinue;
        self.lookup.progress.next = self.start.progress.val();
        self.judged_valid.d.next = self.found_valid.q.val();
        if self.found_valid.q.val() {
            self.judged_slice.d.next = self.found_slice.q.val();
        }
        self.judged.d.next = self.start.judged.val();

        // Third cycle: the earlier completion continues, this one is opened.
        self.tail_part.next = self.judged_slice.q.val().tail;
        self.tail.part.next = self.tail_part.val();
        self.tail.present.next = self.judged_valid.q.val() & self.tail_part.val().present;
        self.tail.discontinue.next = self.judged_slice.q.val().discontinue;
        self.tail_tag.next = self.tail.tag.val();
        self.tail.outstanding.next = self.tail_outstanding.val();
        self.tail.open.valid.next = self.judged.q.val().opens;
        self.tail.open.payload.next = self.judged.q.val().open;

        self.next_placed.next.beat = self.judged_slice.q.val().beat;
        self.next_placed.next.tail = self.tail.placed.val();
        self.next_placed.next.start = self.judged.q.val().placed;
        if self.judged_valid.q.val() {
            self.placed_stage.d.next = self.next_placed.val();
        }
        self.placed_valid.d.next = self.judged_valid.q.val();
        self.event_0_valid.d.next = self.tail.event.valid.val();
        self.event_0_stage.d.next = self.tail.event.payload.val();
        self.event_1_valid.d.next = self.judged.q.val().ends;
        self.event_1_stage.d.next = self.judged.q.val().event;
        self.unexpected_stage.d.next = self.judged.q.val().unexpected;

        self.placed.valid.next = self.placed_valid.q.val();
        self.placed.payload.next = self.placed_stage.q.val();
        self.event_0.valid.next = self.event_0_valid.q.val();
        self.event_0.payload.next = self.event_0_stage.q.val();
        self.event_1.valid.next = self.event_1_valid.q.val();
        self.event_1.payload.next = self.event_1_stage.q.val();
        self.unexpected.next = self.unexpected_stage.q.val();
    }
}
