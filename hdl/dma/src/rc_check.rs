//! Compares each completion with what its request may expect, and says where its payload is stored.
//!
//! ```text
//!   slice ──►┌─────────┐──► placed   the beat, and for each part: slot, beat, lanes
//!   record ─►│ RcCheck │──► event_0  end of the completion that began earlier
//!            └─────────┘──► event_1  end of the completion that began here
//! ```
//! Timing: outputs are registered; a slice a cycle.
//!
//! Invariants:
//! 1. Only payload of outstanding tags is stored, and only in the slot of its tag.
//! 2. A completion is as expected when its status is good, it is not poisoned, the hard block
//!    reports no error, lower address and byte count continue where the one before ended, and as
//!    many dwords came as its descriptor says, without exceeding what remains.
//! 3. `finished` is the hard block's word (request completed); it is a failure when bytes are
//!    missing.
//! 4. A completion whose tag is not outstanding is dropped and pulses `unexpected`.
//!
//! Source: PG213, requester completion descriptor.

use crate::rc_split::{Slice, SlicePart};
use crate::read_issue::ReadRecord;
use crate::tags::TagEvent;
use stream::prelude::*;

/// Where the part of a completion is stored.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PlacedPart {
    /// Lanes to write.
    pub mask: Bits<16>,
    /// Lane of the first dword; lower lanes belong to the next beat.
    pub lane: Bits<4>,
    /// Position in the beat minus lane, modulo 16.
    pub rotate: Bits<4>,
    /// Tag and beat of the first dword.
    pub address: Bits<9>,
    /// Tag and beat of the lanes below the first one.
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
    /// Its payload is stored.
    pub stored: Bit,
    /// What its end will mean.
    pub event: TagEvent,
    /// Beat of the window that the next dword belongs to.
    pub beat: Bits<3>,
    /// Payload dwords to come.
    pub missing: Bits<11>,
}

/// Judges a descriptor.
#[derive(LogicBlock, Default)]
pub struct DescriptorCheck {
    /// RC descriptor.
    pub descriptor: Signal<In, Bits<96>>,
    /// The request.
    pub record: Signal<In, ReadRecord>,
    /// Bytes of it that have come.
    pub received: Signal<In, Bits<10>>,

    /// As expected.
    pub good: Signal<Out, Bit>,
    /// Bytes that have come with this completion.
    pub received_after: Signal<Out, Bits<10>>,
    /// Payload dwords announced.
    pub dwords: Signal<Out, Bits<11>>,

    remaining: Signal<Local, Bits<10>>,
    address: Signal<Local, Bits<12>>,
    count: Signal<Local, Bits<11>>,
    offset: Signal<Local, Bits<2>>,
    reach: Signal<Local, Bits<13>>,
    bytes: Signal<Local, Bits<13>>,
    remaining_up: Signal<Local, Bits<13>>,
    is_last: Signal<Local, Bit>,
    taken: Signal<Local, Bits<10>>,
    after: Signal<Local, Bits<10>>,
    misses: Signal<Local, Bit>,
    fits: Signal<Local, Bit>,
    clean: Signal<Local, Bit>,
    fields: Signal<Local, Bits<32>>,
}

impl Logic for DescriptorCheck {
    #[hdl_gen]
    fn update(&mut self) {
        self.remaining.next = self.record.val().bytes - self.received.val();
        self.address.next = self.record.val().address + bit_cast::<12, 10>(self.received.val());
        self.fields.next = self.descriptor.val().get_bits::<32>(32);
        self.count.next = self.fields.val().get_bits::<11>(0);
        self.dwords.next = self.count.val();

        // Bytes of this completion: up to the end of its last dword, or of the request.
        self.offset.next = self.descriptor.val().get_bits::<2>(0);
        self.reach.next = bit_cast::<13, 11>(self.count.val()) << 2;
        self.bytes.next = self.reach.val() - bit_cast::<13, 2>(self.offset.val());
        self.is_last.next = self.bytes.val() >= bit_cast::<13, 10>(self.remaining.val());
        self.taken.next = bit_cast::<10, 13>(self.bytes.val());
        if self.is_last.val() {
            self.taken.next = self.remaining.val();
        }
        self.after.next = self.received.val() + self.taken.val();
        self.received_after.next = self.after.val();
        self.remaining_up.next = bit_cast::<13, 10>(self.remaining.val()) + 4;
        self.fits.next = self.count.val().any() & (self.bytes.val() < self.remaining_up.val());

        // Error code, status, poisoned; then address and count; then no byte missing at the end.
        self.clean.next = (self.descriptor.val().get_bits::<4>(12) == 0)
            & (self.fields.val().get_bits::<4>(11) == 0);
        self.misses.next =
            self.descriptor.val().get_bit(30) & (self.after.val() != self.record.val().bytes);
        self.good.next = self.clean.val()
            & self.fits.val()
            & !self.misses.val()
            & (self.descriptor.val().get_bits::<12>(0) == self.address.val())
            & (self.descriptor.val().get_bits::<13>(16)
                == bit_cast::<13, 10>(self.remaining.val()));
    }
}

/// Places a part of a completion in the slot of its tag.
#[derive(LogicBlock, Default)]
pub struct PartPlace {
    /// The part.
    pub part: Signal<In, SlicePart>,
    /// Its tag.
    pub tag: Signal<In, Bits<6>>,
    /// Beat of its first dword.
    pub beat: Signal<In, Bits<3>>,
    /// It is stored.
    pub store: Signal<In, Bit>,

    /// Its place.
    pub placed: Signal<Out, PlacedPart>,
    /// Beat of the dword behind it.
    pub beat_after: Signal<Out, Bits<3>>,

    slot: Signal<Local, Bits<9>>,
    beat_next: Signal<Local, Bits<3>>,
    lane_end: Signal<Local, Bits<6>>,
    result: Signal<Local, PlacedPart>,
}

impl Logic for PartPlace {
    #[hdl_gen]
    fn update(&mut self) {
        self.slot.next = bit_cast::<9, 6>(self.tag.val()) << 3;
        self.beat_next.next = self.beat.val() + 1;
        self.result.next.mask = 0.into();
        if self.store.val() {
            self.result.next.mask = self.part.val().mask;
        }
        self.result.next.lane = self.part.val().lane;
        self.result.next.rotate = self.part.val().rotate;
        self.result.next.address = self.slot.val() | bit_cast::<9, 3>(self.beat.val());
        self.result.next.address_next = self.slot.val() | bit_cast::<9, 3>(self.beat_next.val());
        self.placed.next = self.result.val();

        self.lane_end.next =
            bit_cast::<6, 4>(self.part.val().lane) + bit_cast::<6, 5>(self.part.val().dwords);
        self.beat_after.next =
            self.beat.val() + bit_cast::<3, 2>(self.lane_end.val().get_bits::<2>(4));
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
    pub outstanding: Signal<In, Bits<64>>,

    /// Place of the part.
    pub placed: Signal<Out, PlacedPart>,
    /// The completion ends.
    pub event: PulseSource<TagEvent>,

    place: PartPlace,
    state: DFF<OpenCompletion>,

    known: Signal<Local, Bit>,
    dwords: Signal<Local, Bits<11>>,
    result: Signal<Local, TagEvent>,
    next_state: Signal<Local, OpenCompletion>,
}

impl Logic for TailTrack {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state);
        self.result.next = self.state.q.val().event;
        self.known.next = self.state.q.val().stored
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
        self.place.tag.next = self.result.val().tag;
        self.place.beat.next = self.state.q.val().beat;
        self.place.store.next = self.present.val() & self.known.val();
        self.placed.next = self.place.placed.val();

        self.next_state.next = self.state.q.val();
        self.next_state.next.stored = self.known.val();
        if self.present.val() {
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
#[derive(LogicBlock)]
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
    pub issue_tag: Signal<In, Bits<6>>,
    /// What it expects.
    pub record: Signal<In, ReadRecord>,
    /// Tags that wait for completions.
    pub outstanding: Signal<In, Bits<64>>,

    /// Place of the part.
    pub placed: Signal<Out, PlacedPart>,
    /// The completion ends in the same beat.
    pub event: PulseSource<TagEvent>,
    /// The completion goes on.
    pub open: PulseSource<OpenCompletion>,
    /// It has no request.
    pub unexpected: Signal<Out, Bit>,

    records: LutRam<ReadRecord, 6>,
    progress: LutRam<Bits<10>, 6>,
    check: DescriptorCheck,
    place: PartPlace,
    fresh: DFF<Bits<64>>,

    tag: Signal<Local, Bits<6>>,
    known: Signal<Local, Bit>,
    received: Signal<Local, Bits<10>>,
    dwords: Signal<Local, Bits<11>>,
    begun: Signal<Local, TagEvent>,
    ended: Signal<Local, TagEvent>,
    next_open: Signal<Local, OpenCompletion>,
    issue_mask: Signal<Local, Bits<64>>,
    start_mask: Signal<Local, Bits<64>>,
    one: Constant<Bits<64>>,
    none: Constant<Bits<64>>,
}

impl Default for StartJudge {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            present: Default::default(),
            part: Default::default(),
            descriptor: Default::default(),
            discontinue: Default::default(),
            issue: Default::default(),
            issue_tag: Default::default(),
            record: Default::default(),
            outstanding: Default::default(),
            placed: Default::default(),
            event: Default::default(),
            open: Default::default(),
            unexpected: Default::default(),
            records: Default::default(),
            progress: Default::default(),
            check: Default::default(),
            place: Default::default(),
            fresh: Default::default(),
            tag: Default::default(),
            known: Default::default(),
            received: Default::default(),
            dwords: Default::default(),
            begun: Default::default(),
            ended: Default::default(),
            next_open: Default::default(),
            issue_mask: Default::default(),
            start_mask: Default::default(),
            one: Constant::new(1u64.to_bits()),
            none: Constant::new(0u64.to_bits()),
        }
    }
}

impl Logic for StartJudge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, fresh);
        self.records.clock.next = self.clock.val();
        self.records.write_address.next = self.issue_tag.val();
        self.records.write_data.next = self.record.val();
        self.records.write_enable.next = self.issue.val();
        self.progress.clock.next = self.clock.val();

        // The request of the tag and how much of it has come; tags beyond 63 are nobody's.
        self.tag.next = self.descriptor.val().get_bits::<6>(64);
        self.known.next = self.present.val()
            & self.outstanding.val().get_bit(self.tag.val().index())
            & (self.descriptor.val().get_bits::<2>(70) == 0);
        self.unexpected.next = self.present.val() & !self.known.val();
        self.records.read_address.next = self.tag.val();
        self.progress.read_address.next = self.tag.val();
        self.received.next = self.progress.read_data.val();
        if self.fresh.q.val().get_bit(self.tag.val().index()) {
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
        self.place.tag.next = self.tag.val();
        self.place.beat.next = self.descriptor.val().get_bits::<3>(6);
        self.place.store.next = self.known.val();
        self.placed.next = self.place.placed.val();
        self.next_open.next.stored = self.known.val();
        self.next_open.next.event = self.begun.val();
        self.next_open.next.beat = self.place.beat_after.val();
        self.next_open.next.missing = self.check.dwords.val() - self.dwords.val();
        self.open.valid.next = self.present.val() & !self.part.val().ends;
        self.open.payload.next = self.next_open.val();

        self.issue_mask.next = self.none.val();
        if self.issue.val() {
            self.issue_mask.next = self.one.val() << self.issue_tag.val();
        }
        self.start_mask.next = self.none.val();
        if self.known.val() {
            self.start_mask.next = self.one.val() << self.tag.val();
        }
        self.fresh.d.next = (self.fresh.q.val() | self.issue_mask.val()) & !self.start_mask.val();
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
    pub issue_tag: Signal<In, Bits<6>>,
    /// What it expects.
    pub record: Signal<In, ReadRecord>,
    /// Tags that wait for completions.
    pub outstanding: Signal<In, Bits<64>>,

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
