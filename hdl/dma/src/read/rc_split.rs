//! Takes the RC stream apart: up to four completions begin in a beat, two are handled in a cycle.
//!
//! ```text
//!   beat  │ tail of A │ B │ head of C │        cycle 1: tail of A and all of B
//!                                              cycle 2: head of C
//!
//!   RC ──► RcHold ──► RcStart, RcTail ──► both parts ──► overlap? ──► slice
//! ```
//! A *slice* is what one cycle handles of a beat: the end (or middle) of the completion that began
//! earlier, and at most one completion that begins here. Both have their own place in the 16 lanes
//! of the reorder memory; if those places overlap, they take one cycle each. The *marks* are the
//! parts of the side band that state where completions start and end.
//!
//! Timing: three registers from RC to the slice. A beat takes as many cycles as completions begin
//! in it (at least one), and one more if the lanes overlap. Completions of 64 bytes or more that
//! end at 64-byte boundaries never begin more than once in a beat and never overlap: full rate.
//!
//! Invariants:
//! 1. Every payload dword leaves in exactly one slice, in order.
//! 2. An epoch's reset keeps the framing (this block has `link_reset` only): the rest of a
//!    completion is still recognised as such.
//!
//! Source: PG213, requester completion interface, 512 bit, straddle with four TLPs.

use stream::prelude::*;

/// A part of a completion inside one beat.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SlicePart {
    /// The part is present.
    pub present: Bit,
    /// The completion ends in this beat.
    pub ends: Bit,
    /// Number of payload dwords in the part, 0 to 16.
    pub dwords: Bits<5>,
    /// Lane of its first payload dword: its address modulo 64, in dwords.
    pub lane: Bits<4>,
    /// Position of the first payload dword in the beat minus lane, modulo 16. Rotating the beat by
    /// it brings each dword to its lane.
    pub rotate: Bits<4>,
    /// Lanes that the part fills.
    pub mask: Bits<16>,
}

/// What one cycle handles of a beat.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Slice {
    /// The RC beat.
    pub beat: Bits<512>,
    /// Part of the completion that began earlier.
    pub tail: SlicePart,
    /// Part of the completion that begins here.
    pub start: SlicePart,
    /// RC descriptor of the completion that begins.
    pub descriptor: Bits<96>,
    /// The hard block discontinues a completion of the beat.
    pub discontinue: Bit,
}

/// Where completions start and end in a beat, as the side band states it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RcMarks {
    /// Completions that begin: one bit for each, in order.
    pub starts: Bits<4>,
    /// Quarter of the beat in which each of them begins: two bits for each.
    pub quarters: Bits<8>,
    /// Completions that end: one bit for each, in order.
    pub ends: Bits<4>,
    /// Number of the last dword of each that ends: four bits for each.
    pub end_at: Bits<16>,
    /// The hard block discontinues a completion of the beat.
    pub discontinue: Bit,
}

/// Lanes that `dwords` dwords fill from `lane` on, modulo 16.
///
/// Timing: combinational.
#[derive(LogicBlock, BlockDefault)]
pub struct LaneMask {
    /// First lane.
    pub lane: Signal<In, Bits<4>>,
    /// Number of dwords, 0 to 16.
    pub dwords: Signal<In, Bits<5>>,
    /// Lanes that are filled, one bit per lane.
    pub mask: Signal<Out, Bits<16>>,

    ones: Signal<Local, Bits<16>>,
    wide: Signal<Local, Bits<32>>,
    #[value(Bits::<16>::mask())]
    all: Constant<Bits<16>>,
}

impl Logic for LaneMask {
    #[hdl_gen]
    fn update(&mut self) {
        self.ones.next = !(self.all.val() << self.dwords.val());
        self.wide.next = bit_cast::<32, 16>(self.ones.val()) << self.lane.val();
        self.mask.next = self.wide.val().get_bits::<16>(0) | self.wide.val().get_bits::<16>(16);
    }
}

/// The part of the completion that began in an earlier beat.
///
/// Timing: combinational.
#[derive(LogicBlock, Default)]
pub struct RcTail {
    /// Marks of the beat. The part uses the first end.
    pub marks: Signal<In, RcMarks>,
    /// The beat contains such a part.
    pub present: Signal<In, Bit>,
    /// Lane of its first dword.
    pub lane: Signal<In, Bits<4>>,
    /// The part.
    pub part: Signal<Out, SlicePart>,

    lanes: LaneMask,
    all_ends: Signal<Local, Bits<4>>,
    end_at: Signal<Local, Bits<16>>,
    ends: Signal<Local, Bit>,
    dwords: Signal<Local, Bits<5>>,
    rotate: Signal<Local, Bits<4>>,
    result: Signal<Local, SlicePart>,
}

impl Logic for RcTail {
    #[hdl_gen]
    fn update(&mut self) {
        // The first end of the beat belongs to it.
        self.all_ends.next = self.marks.val().ends;
        self.end_at.next = self.marks.val().end_at;
        self.ends.next = self.all_ends.val().get_bit(0);
        self.dwords.next = 16.into();
        if self.ends.val() {
            self.dwords.next = bit_cast::<5, 4>(self.end_at.val().get_bits::<4>(0)) + 1;
        }
        self.rotate.next = bits::<4>(0) - self.lane.val();
        self.lanes.lane.next = self.lane.val();
        self.lanes.dwords.next = self.dwords.val();
        self.result.next.present = self.present.val();
        self.result.next.ends = self.ends.val();
        self.result.next.dwords = self.dwords.val();
        self.result.next.lane = self.lane.val();
        self.result.next.rotate = self.rotate.val();
        self.result.next.mask = self.lanes.mask.val();
        self.part.next = self.result.val();
    }
}

/// The part of the completion that begins with the first start that is left in the beat.
///
/// Timing: combinational.
#[derive(LogicBlock, Default)]
pub struct RcStart {
    /// The RC beat.
    pub data: Signal<In, Bits<512>>,
    /// Marks of the beat that are left: those of handled starts are shifted out.
    pub marks: Signal<In, RcMarks>,
    /// The beat begins inside a completion: the first end left belongs to the tail.
    pub is_inside: Signal<In, Bit>,

    /// The part; `present` states that there is a start.
    pub part: Signal<Out, SlicePart>,
    /// RC descriptor of the completion.
    pub descriptor: Signal<Out, Bits<96>>,

    lanes: LaneMask,
    starts: Signal<Local, Bits<4>>,
    quarters: Signal<Local, Bits<8>>,
    ends: Signal<Local, Bits<4>>,
    end_at: Signal<Local, Bits<16>>,
    quarter: Signal<Local, Bits<2>>,
    data_at: Signal<Local, Bits<9>>,
    header: Signal<Local, Bits<96>>,
    ends_here: Signal<Local, Bit>,
    last: Signal<Local, Bits<4>>,
    first: Signal<Local, Bits<5>>,
    dwords: Signal<Local, Bits<5>>,
    lane: Signal<Local, Bits<4>>,
    rotate: Signal<Local, Bits<4>>,
    result: Signal<Local, SlicePart>,
}

impl Logic for RcStart {
    #[hdl_gen]
    fn update(&mut self) {
        self.starts.next = self.marks.val().starts;
        self.quarters.next = self.marks.val().quarters;
        self.ends.next = self.marks.val().ends;
        self.end_at.next = self.marks.val().end_at;

        // Where it starts: the start pointers of PG213 count quarters of the beat.
        self.quarter.next = self.quarters.val().get_bits::<2>(0);
        self.data_at.next = bit_cast::<9, 2>(self.quarter.val()) << 7;
        self.header.next = self.data.val().get_bits::<96>(self.data_at.val().index());

        // Where it ends: the first end belongs to the tail, if there is one in the beat.
        self.ends_here.next = self.ends.val().get_bit(0);
        self.last.next = self.end_at.val().get_bits::<4>(0);
        if self.is_inside.val() {
            self.ends_here.next = self.ends.val().get_bit(1);
            self.last.next = self.end_at.val().get_bits::<4>(4);
        }

        // Payload follows the three dwords of the descriptor.
        self.first.next = (bit_cast::<5, 2>(self.quarter.val()) << 2) + 3;
        self.dwords.next = 16 - self.first.val();
        if self.ends_here.val() {
            self.dwords.next = (bit_cast::<5, 4>(self.last.val()) + 1) - self.first.val();
        }
        self.lane.next = self.header.val().get_bits::<4>(2);
        self.rotate.next = bit_cast::<4, 5>(self.first.val()) - self.lane.val();
        self.lanes.lane.next = self.lane.val();
        self.lanes.dwords.next = self.dwords.val();
        self.result.next.present = self.starts.val().get_bit(0);
        self.result.next.ends = self.ends_here.val();
        self.result.next.dwords = self.dwords.val();
        self.result.next.lane = self.lane.val();
        self.result.next.rotate = self.rotate.val();
        self.result.next.mask = self.lanes.mask.val();
        self.part.next = self.result.val();
        self.descriptor.next = self.header.val();
    }
}

/// Holds an RC beat until its last start is handled; marks of handled starts are shifted out. What
/// comes meanwhile waits in a second place.
///
/// Timing: latency one cycle, as long as nothing waits. `rc_tready` follows a register alone.
#[derive(LogicBlock, Default)]
pub struct RcHold {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The PCIe hard block is in reset: both beats are forgotten.
    pub link_reset: Signal<In, Bit>,

    /// Data of the RC port.
    pub rc_tdata: Signal<In, Bits<512>>,
    /// Side band of the RC port, straddle of four TLPs.
    pub rc_tuser: Signal<In, Bits<161>>,
    /// A beat is offered on the RC port.
    pub rc_tvalid: Signal<In, Bit>,
    /// The beat is taken.
    pub rc_tready: Signal<Out, Bit>,

    /// A beat is held.
    pub held: Signal<Out, Bit>,
    /// Data of the beat that is held.
    pub data: Signal<Out, Bits<512>>,
    /// Marks of the beat that are left.
    pub marks: Signal<Out, RcMarks>,
    /// The first start left is handled, or the beat if no start is left.
    pub step: Signal<In, Bit>,
    /// The beat is finished by the next `step`.
    pub finishes: Signal<Out, Bit>,

    full: DFF<Bit>,
    data_stage: DFF<Bits<512>>,
    marks_stage: DFF<RcMarks>,
    waits: DFF<Bit>,
    data_waiting: DFF<Bits<512>>,
    marks_waiting: DFF<RcMarks>,
    marks_offered: Signal<Local, RcMarks>,
    starts: Signal<Local, Bits<4>>,
    quarters: Signal<Local, Bits<8>>,
    ends: Signal<Local, Bits<4>>,
    end_at: Signal<Local, Bits<16>>,
    is_last: Signal<Local, Bit>,
    has_space: Signal<Local, Bit>,
}

impl Logic for RcHold {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, full, data_stage, marks_stage);
        dff_setup!(self, clock, waits, data_waiting, marks_waiting);
        self.held.next = self.full.q.val();
        self.data.next = self.data_stage.q.val();
        self.marks.next = self.marks_stage.q.val();
        self.starts.next = self.marks_stage.q.val().starts;
        self.quarters.next = self.marks_stage.q.val().quarters;
        self.ends.next = self.marks_stage.q.val().ends;
        self.end_at.next = self.marks_stage.q.val().end_at;
        self.is_last.next = !self.starts.val().get_bit(1);
        self.finishes.next = self.is_last.val();
        self.has_space.next = !self.full.q.val() | (self.step.val() & self.is_last.val());
        self.marks_offered.next.starts = self.rc_tuser.val().get_bits::<4>(64);
        self.marks_offered.next.quarters = self.rc_tuser.val().get_bits::<8>(68);
        self.marks_offered.next.ends = self.rc_tuser.val().get_bits::<4>(76);
        self.marks_offered.next.end_at = self.rc_tuser.val().get_bits::<16>(80);
        self.marks_offered.next.discontinue = self.rc_tuser.val().get_bit(96);

        // While nothing waits the port's beat is taken: into the second place if the first is held.
        self.rc_tready.next = !self.waits.q.val();
        if !self.waits.q.val() {
            self.data_waiting.d.next = self.rc_tdata.val();
            self.marks_waiting.d.next = self.marks_offered.val();
        }
        self.waits.d.next = (self.waits.q.val() | self.rc_tvalid.val()) & !self.has_space.val();
        if self.has_space.val() {
            self.full.d.next = self.waits.q.val() | self.rc_tvalid.val();
            self.data_stage.d.next = self.rc_tdata.val();
            self.marks_stage.d.next = self.marks_offered.val();
            if self.waits.q.val() {
                self.data_stage.d.next = self.data_waiting.q.val();
                self.marks_stage.d.next = self.marks_waiting.q.val();
            }
        } else if self.step.val() {
            self.marks_stage.d.next.starts = self.starts.val() >> 1;
            self.marks_stage.d.next.quarters = self.quarters.val() >> 2;
            self.marks_stage.d.next.ends = self.ends.val() >> 1;
            self.marks_stage.d.next.end_at = self.end_at.val() >> 4;
        }
        if self.link_reset.val() {
            self.full.d.next = false;
            self.waits.d.next = false;
        }
    }
}

/// Passes a tail and a start on: together, or one after the other if they need the same lanes.
///
/// Timing: two registers from `pair` to `slice`; one pair per cycle, two cycles if the lanes
/// overlap.
#[derive(LogicBlock, Default)]
pub struct RcPair {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The PCIe hard block is in reset: the pair is forgotten.
    pub link_reset: Signal<In, Bit>,

    /// Tail and start of a beat; either may be absent.
    pub pair: MessageSink<Slice>,
    /// Slices, in order.
    pub slice: PulseSource<Slice>,

    full: DFF<Bit>,
    stage: DFF<Slice>,
    tail_done: DFF<Bit>,
    slice_valid: DFF<Bit>,
    slice_stage: DFF<Slice>,

    tail: Signal<Local, SlicePart>,
    start: Signal<Local, SlicePart>,
    tail_now: Signal<Local, SlicePart>,
    start_now: Signal<Local, SlicePart>,
    lanes: Signal<Local, Bits<16>>,
    parts: Signal<Local, Bit>,
    has_space: Signal<Local, Bit>,
    next_slice: Signal<Local, Slice>,
}

impl Logic for RcPair {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, full, stage, tail_done, slice_valid, slice_stage);
        self.tail.next = self.stage.q.val().tail;
        self.start.next = self.stage.q.val().start;
        self.lanes.next = self.tail.val().mask & self.start.val().mask;
        self.parts.next = self.full.q.val()
            & !self.tail_done.q.val()
            & self.tail.val().present
            & self.start.val().present
            & self.lanes.val().any();
        self.tail_now.next = self.tail.val();
        self.tail_now.next.present = self.tail.val().present & !self.tail_done.q.val();
        self.start_now.next = self.start.val();
        self.start_now.next.present = self.start.val().present & !self.parts.val();
        self.next_slice.next = self.stage.q.val();
        self.next_slice.next.tail = self.tail_now.val();
        self.next_slice.next.start = self.start_now.val();
        if self.full.q.val() {
            self.slice_stage.d.next = self.next_slice.val();
        }
        self.slice_valid.d.next = self.full.q.val();
        self.slice.valid.next = self.slice_valid.q.val();
        self.slice.payload.next = self.slice_stage.q.val();

        self.tail_done.d.next = self.parts.val();
        self.has_space.next = !self.parts.val();
        self.pair.ready.next = self.has_space.val();
        if self.has_space.val() {
            self.full.d.next = self.pair.valid.val();
            self.stage.d.next = self.pair.payload.val();
        }
        if self.link_reset.val() {
            self.full.d.next = false;
            self.tail_done.d.next = false;
            self.slice_valid.d.next = false;
        }
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct RcSplit {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The PCIe hard block is in reset: beats and framing are forgotten.
    pub link_reset: Signal<In, Bit>,

    /// Data of the RC port.
    pub rc_tdata: Signal<In, Bits<512>>,
    /// Side band of the RC port, straddle of four TLPs.
    pub rc_tuser: Signal<In, Bits<161>>,
    /// A beat is offered on the RC port.
    pub rc_tvalid: Signal<In, Bit>,
    /// The beat is taken.
    pub rc_tready: Signal<Out, Bit>,

    /// Slices, in order.
    pub slice: PulseSource<Slice>,

    beginning: RcStart,
    tail: RcTail,
    hold: RcHold,
    pair: RcPair,
    is_inside: DFF<Bit>,
    tail_done: DFF<Bit>,
    lane: DFF<Bits<4>>,

    start: Signal<Local, SlicePart>,
    tail_part: Signal<Local, SlicePart>,
    has_tail: Signal<Local, Bit>,
    step: Signal<Local, Bit>,
    next_pair: Signal<Local, Slice>,
}

impl Logic for RcSplit {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, is_inside, tail_done, lane);
        clock!(self, clock, hold, pair);
        self.hold.link_reset.next = self.link_reset.val();
        self.hold.rc_tdata.next = self.rc_tdata.val();
        self.hold.rc_tuser.next = self.rc_tuser.val();
        self.hold.rc_tvalid.next = self.rc_tvalid.val();
        self.rc_tready.next = self.hold.rc_tready.val();
        self.beginning.data.next = self.hold.data.val();
        self.beginning.marks.next = self.hold.marks.val();
        self.beginning.is_inside.next = self.is_inside.q.val();
        self.start.next = self.beginning.part.val();

        self.has_tail.next = self.is_inside.q.val() & !self.tail_done.q.val();
        self.tail.marks.next = self.hold.marks.val();
        self.tail.present.next = self.has_tail.val();
        self.tail.lane.next = self.lane.q.val();
        self.tail_part.next = self.tail.part.val();

        self.next_pair.next.beat = self.hold.data.val();
        self.next_pair.next.tail = self.tail_part.val();
        self.next_pair.next.start = self.start.val();
        self.next_pair.next.descriptor = self.beginning.descriptor.val();
        self.next_pair.next.discontinue = self.hold.marks.val().discontinue;
        self.pair.link_reset.next = self.link_reset.val();
        self.pair.pair.payload.next = self.next_pair.val();
        self.pair.pair.valid.next = self.hold.held.val();
        PulseSource::<Slice>::link(&mut self.slice, &mut self.pair.slice);

        self.hold.step.next = self.pair.pair.ready.val();
        self.step.next = self.hold.held.val() & self.pair.pair.ready.val();
        if self.step.val() {
            self.tail_done.d.next = !self.hold.finishes.val();
            if self.start.val().present {
                self.lane.d.next =
                    self.start.val().lane + bit_cast::<4, 5>(self.start.val().dwords);
            } else if self.has_tail.val() {
                self.lane.d.next =
                    self.lane.q.val() + bit_cast::<4, 5>(self.tail_part.val().dwords);
            }
            if self.hold.finishes.val() {
                self.is_inside.d.next = self.is_inside.q.val() & !self.tail_part.val().ends;
                if self.start.val().present {
                    self.is_inside.d.next = !self.start.val().ends;
                }
            }
        }
        if self.link_reset.val() {
            self.is_inside.d.next = false;
            self.tail_done.d.next = false;
        }
    }
}
