//! Compares each completion with what its request may expect, and says where its payload is stored.
//!
//! ```text
//!   slice ──►┌─────────┐──► placed   the beat, and for each part: place, lanes
//!   record ─►│ RcCheck │──► event_0  end of the completion that began earlier
//!            └─────────┘──► event_1  end of the completion that began here
//! ```
//! Timing: outputs are registered; a slice a cycle.
//!
//! Invariants:
//! 1. Only payload of outstanding tags is stored, and only in the beats of its request: of a
//!    completion that is not as expected nothing, of one that is longer than it says the rest not.
//! 2. A completion is as expected when its status is good, it is not poisoned, the hard block
//!    reports no error, lower address and byte count continue where the one before ended, and as
//!    many dwords came as its descriptor says, without exceeding what remains.
//! 3. `finished` is the hard block's word (request completed); it is a failure when bytes are
//!    missing.
//! 4. A completion whose tag is not outstanding is dropped and pulses `unexpected`.
//!
//! Source: PG213, requester completion descriptor.

use crate::rc_descriptor::DescriptorCheck;
use crate::rc_split::{Slice, SlicePart};
use crate::read_issue::ReadRecord;
use crate::tags::{Tag, TagEvent, TagSet, TAG_BITS};
use stream::prelude::*;

/// Where the part of a completion is stored.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PlacedPart {
    /// Lanes to write.
    pub mask: Bits<16>,
    /// They belong to the request.
    pub stores: Bit,
    /// Lane of the first dword; lower lanes belong to the next beat.
    pub lane: Bits<4>,
    /// Position in the beat minus lane, modulo 16.
    pub rotate: Bits<4>,
    /// Beat of the memory that holds the first dword.
    pub address: Bits<9>,
    /// Beat of the lanes below the first one.
    pub address_next: Bits<9>,
}

/// A beat with the places of its dwords.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Placed {
    /// The beat.
    pub beat: Bits<512>,
    /// Part of the completion that began earlier.
    pub tail: PlacedPart,
    /// Part of the completion that begins here.
    pub start: PlacedPart,
}

/// A completion of which more is to come.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct OpenCompletion {
    /// Its tag is outstanding.
    pub known: Bit,
    /// It is as expected so far: its payload is stored.
    pub stores: Bit,
    /// What its end will mean.
    pub event: TagEvent,
    /// Beat of the memory that the next dword belongs to.
    pub beat: Bits<9>,
    /// Payload dwords to come.
    pub missing: Bits<11>,
}

/// Places a part of a completion in the beats of its request.
#[derive(LogicBlock, Default)]
pub struct PartPlace {
    /// The part.
    pub part: Signal<In, SlicePart>,
    /// Beat of the memory that holds its first dword.
    pub beat: Signal<In, Bits<9>>,
    /// It is there, and its tag outstanding.
    pub store: Signal<In, Bit>,
    /// It belongs to the request.
    pub stores: Signal<In, Bit>,

    /// Its place.
    pub placed: Signal<Out, PlacedPart>,
    /// Beat of the dword behind it.
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

/// Follows the completion that began in an earlier beat to its end.
#[derive(LogicBlock, Default)]
pub struct TailTrack {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// The next part of the completion is there.
    pub present: Signal<In, Bit>,
    /// The part.
    pub part: Signal<In, SlicePart>,
    /// The hard block gives the completion up.
    pub discontinue: Signal<In, Bit>,
    /// Another completion begins and does not end in the same beat.
    pub open: PulseSink<OpenCompletion>,
    /// Tags that wait for completions.
    pub outstanding: Signal<In, TagSet>,

    /// Place of the part.
    pub placed: Signal<Out, PlacedPart>,
    /// The completion ends.
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
        self.known.next = self.state.q.val().known
            & self
                .outstanding
                .val()
                .get_bit(self.result.val().tag.index());
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
        self.next_state.next.known = self.known.val();
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

/// Judges the completion that begins and counts the bytes of its request.
#[derive(LogicBlock, Default)]
pub struct StartJudge {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// A completion begins.
    pub present: Signal<In, Bit>,
    /// Its part in this beat.
    pub part: Signal<In, SlicePart>,
    /// Its RC descriptor.
    pub descriptor: Signal<In, Bits<96>>,
    /// The hard block gives the completion up.
    pub discontinue: Signal<In, Bit>,

    /// A read starts.
    pub issue: Signal<In, Bit>,
    /// Its tag.
    pub issue_tag: Signal<In, Tag>,
    /// What it expects.
    pub record: Signal<In, ReadRecord>,
    /// Tags that wait for completions.
    pub outstanding: Signal<In, TagSet>,

    /// Place of the part.
    pub placed: Signal<Out, PlacedPart>,
    /// The completion ends in the same beat.
    pub event: PulseSource<TagEvent>,
    /// The completion goes on.
    pub open: PulseSource<OpenCompletion>,
    /// It has no request.
    pub unexpected: Signal<Out, Bit>,

    records: LutRam<ReadRecord, TAG_BITS>,
    progress: LutRam<Bits<10>, TAG_BITS>,
    check: DescriptorCheck,
    place: PartPlace,
    issued: LutRam<Bits<1>, TAG_BITS>,
    started: [LutRam<Bits<1>, TAG_BITS>; 2],

    tag: Signal<Local, Tag>,
    known: Signal<Local, Bit>,
    is_good: Signal<Local, Bit>,
    received: Signal<Local, Bits<10>>,
    dwords: Signal<Local, Bits<11>>,
    begun: Signal<Local, TagEvent>,
    ended: Signal<Local, TagEvent>,
    next_open: Signal<Local, OpenCompletion>,
    is_fresh: Signal<Local, Bit>,
}

impl Logic for StartJudge {
    #[hdl_gen]
    fn update(&mut self) {
        self.records.clock.next = self.clock.val();
        self.records.write_address.next = self.issue_tag.val();
        self.records.write_data.next = self.record.val();
        self.records.write_enable.next = self.issue.val();
        self.progress.clock.next = self.clock.val();

        // The request of the tag and how much of it has come.
        self.tag.next = self.descriptor.val().get_bits::<TAG_BITS>(64);
        self.known.next =
            self.present.val() & self.outstanding.val().get_bit(self.tag.val().index());
        self.unexpected.next = self.present.val() & !self.known.val();
        self.records.read_address.next = self.tag.val();
        self.progress.read_address.next = self.tag.val();
        self.received.next = self.progress.read_data.val();
        if self.is_fresh.val() {
            self.received.next = 0.into();
        }
        self.check.descriptor.next = self.descriptor.val();
        self.check.record.next = self.records.read_data.val();
        self.check.received.next = self.received.val();
        self.progress.write_address.next = self.tag.val();
        self.progress.write_data.next = self.check.received_after.val();
        self.progress.write_enable.next = self.known.val();

        // What its end means, now or later.
        self.begun.next.finished = self.descriptor.val().get_bit(30);
        self.begun.next.failed = !self.check.good.val();
        // Error code 9: the hard block has waited too long.
        self.begun.next.timed_out = self.descriptor.val().get_bits::<4>(12) == 9;
        self.begun.next.tag = self.tag.val();
        self.dwords.next = bit_cast::<11, 5>(self.part.val().dwords);
        self.ended.next = self.begun.val();
        if (self.check.dwords.val() != self.dwords.val()) | self.discontinue.val() {
            self.ended.next.failed = true;
        }
        self.event.valid.next = self.known.val() & self.part.val().ends;
        self.event.payload.next = self.ended.val();
        self.place.part.next = self.part.val();
        self.place.beat.next = self.records.read_data.val().base
            + bit_cast::<9, 3>(self.descriptor.val().get_bits::<3>(6));
        self.place.store.next = self.known.val();
        self.is_good.next = self.check.good.val() & (self.dwords.val() <= self.check.dwords.val());
        self.place.stores.next = self.is_good.val();
        self.placed.next = self.place.placed.val();
        self.next_open.next.known = self.known.val();
        self.next_open.next.stores = self.is_good.val();
        self.next_open.next.event = self.begun.val();
        self.next_open.next.beat = self.place.beat_after.val();
        self.next_open.next.missing = self.check.dwords.val() - self.dwords.val();
        self.open.valid.next = self.present.val() & !self.part.val().ends;
        self.open.payload.next = self.next_open.val();

        // Nothing has come of a read while its two bits differ: the issue makes them, the first
        // completion ends it.
        self.issued.clock.next = self.clock.val();
        self.issued.read_address.next = self.tag.val();
        self.issued.write_address.next = self.issue_tag.val();
        self.issued.write_data.next = !self.started[1].read_data.val();
        self.issued.write_enable.next = self.issue.val();
        self.started[0].read_address.next = self.tag.val();
        self.started[1].read_address.next = self.issue_tag.val();
        for i in 0..2 {
            self.started[i].clock.next = self.clock.val();
            self.started[i].write_address.next = self.tag.val();
            self.started[i].write_data.next = self.issued.read_data.val();
            self.started[i].write_enable.next = self.known.val();
        }
        self.is_fresh.next = self.issued.read_data.val() != self.started[0].read_data.val();
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct RcCheck {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// Slices in.
    pub slice: PulseSink<Slice>,
    /// Places out.
    pub placed: PulseSource<Placed>,
    /// End of the completion that began earlier.
    pub event_0: PulseSource<TagEvent>,
    /// End of the completion that begins here.
    pub event_1: PulseSource<TagEvent>,
    /// A completion without a request.
    pub unexpected: Signal<Out, Bit>,

    /// A read starts.
    pub issue: Signal<In, Bit>,
    /// Its tag.
    pub issue_tag: Signal<In, Tag>,
    /// What it expects.
    pub record: Signal<In, ReadRecord>,
    /// Tags that wait for completions.
    pub outstanding: Signal<In, TagSet>,

    tail: TailTrack,
    start: StartJudge,
    placed_valid: DFF<Bit>,
    placed_stage: DFF<Placed>,
    event_0_valid: DFF<Bit>,
    event_0_stage: DFF<TagEvent>,
    event_1_valid: DFF<Bit>,
    event_1_stage: DFF<TagEvent>,
    unexpected_stage: DFF<Bit>,

    tail_part: Signal<Local, SlicePart>,
    start_part: Signal<Local, SlicePart>,
    next_placed: Signal<Local, Placed>,
}

impl Logic for RcCheck {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            placed_valid,
            placed_stage,
            event_0_valid,
            event_0_stage,
            event_1_valid,
            event_1_stage,
            unexpected_stage
        );
        self.tail_part.next = self.slice.payload.val().tail;
        self.start_part.next = self.slice.payload.val().start;
        self.tail.clock.next = self.clock.val();
        self.tail.part.next = self.tail_part.val();
        self.tail.present.next = self.slice.valid.val() & self.tail_part.val().present;
        self.tail.discontinue.next = self.slice.payload.val().discontinue;
        self.tail.outstanding.next = self.outstanding.val();
        self.tail.open.valid.next = self.start.open.valid.val();
        self.tail.open.payload.next = self.start.open.payload.val();

        self.start.clock.next = self.clock.val();
        self.start.part.next = self.start_part.val();
        self.start.present.next = self.slice.valid.val() & self.start_part.val().present;
        self.start.descriptor.next = self.slice.payload.val().descriptor;
        self.start.discontinue.next = self.slice.payload.val().discontinue;
        self.start.issue.next = self.issue.val();
        self.start.issue_tag.next = self.issue_tag.val();
        self.start.record.next = self.record.val();
        self.start.outstanding.next = self.outstanding.val();

        self.next_placed.next.beat = self.slice.payload.val().beat;
        self.next_placed.next.tail = self.tail.placed.val();
        self.next_placed.next.start = self.start.placed.val();
        self.placed_stage.d.next = self.next_placed.val();
        self.placed_valid.d.next = self.slice.valid.val();
        self.event_0_valid.d.next = self.tail.event.valid.val();
        self.event_0_stage.d.next = self.tail.event.payload.val();
        self.event_1_valid.d.next = self.start.event.valid.val();
        self.event_1_stage.d.next = self.start.event.payload.val();
        self.unexpected_stage.d.next = self.start.unexpected.val();

        self.placed.valid.next = self.placed_valid.q.val();
        self.placed.payload.next = self.placed_stage.q.val();
        self.event_0.valid.next = self.event_0_valid.q.val();
        self.event_0.payload.next = self.event_0_stage.q.val();
        self.event_1.valid.next = self.event_1_valid.q.val();
        self.event_1.payload.next = self.event_1_stage.q.val();
        self.unexpected.next = self.unexpected_stage.q.val();
    }
}
