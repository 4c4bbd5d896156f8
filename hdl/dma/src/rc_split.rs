//! Takes the RC stream apart: up to four completions begin in a beat, two are handled in a cycle.
//!
//! ```text
//!   beat  │ tail of A │ B │ head of C │        cycle 1: tail of A and all of B
//!                                              cycle 2: head of C
//! ```
//! A *slice* is what one cycle handles of a beat: the end (or middle) of the completion that began
//! earlier, and at most one completion that begins here. Both have their own place in the 16 lanes
//! of the reorder memory; when those places overlap, they take a cycle each.
//!
//! Timing: the beat and the slice are registered. A beat takes as many cycles as completions begin
//! in it (at least one), and one more if the lanes overlap. Completions of 64 bytes or more that
//! end at 64-byte boundaries never begin more than once in a beat and never overlap: full rate.
//!
//! Invariants:
//! 1. Every payload dword leaves in exactly one slice, in order.
//! 2. `reset` keeps the framing: the rest of a completion is still recognised as such.
//!
//! Source: PG213, requester completion interface, 512 bit, straddle with four TLPs.

use stream::prelude::*;

/// A part of a completion inside one beat.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SlicePart {
    /// There is such a part.
    pub present: Bit,
    /// The completion ends here.
    pub ends: Bit,
    /// Payload dwords of the part, 0 to 16.
    pub dwords: Bits<5>,
    /// Lane of its first payload dword: its address modulo 64, in dwords.
    pub lane: Bits<4>,
    /// Position in the beat minus lane, modulo 16: turning the beat by it brings each dword to its
    /// lane.
    pub rotate: Bits<4>,
    /// Lanes that it fills.
    pub mask: Bits<16>,
}

/// What one cycle handles.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Slice {
    /// The beat.
    pub beat: Bits<512>,
    /// Goes on with the completion that began earlier.
    pub tail: SlicePart,
    /// Begins a completion.
    pub start: SlicePart,
    /// RC descriptor of the completion that begins.
    pub descriptor: Bits<96>,
    /// The hard block gives the completion up.
    pub discontinue: Bit,
}

/// Lanes that `dwords` dwords fill from `lane` on, going round.
#[derive(LogicBlock, Default)]
pub struct LaneMask {
    /// First lane.
    pub lane: Signal<In, Bits<4>>,
    /// Dwords, 0 to 16.
    pub dwords: Signal<In, Bits<5>>,
    /// One bit per lane.
    pub mask: Signal<Out, Bits<16>>,

    power: Signal<Local, Bits<17>>,
    ones: Signal<Local, Bits<17>>,
    wide: Signal<Local, Bits<32>>,
}

impl Logic for LaneMask {
    #[hdl_gen]
    fn update(&mut self) {
        self.power.next = bits::<17>(1) << self.dwords.val();
        self.ones.next = self.power.val() - 1;
        self.wide.next = bit_cast::<32, 17>(self.ones.val()) << self.lane.val();
        self.mask.next = self.wide.val().get_bits::<16>(0) | self.wide.val().get_bits::<16>(16);
    }
}

/// The part that goes on with the completion that began in an earlier beat.
#[derive(LogicBlock, Default)]
pub struct RcTail {
    /// Side band of the beat.
    pub user: Signal<In, Bits<161>>,
    /// There is such a part.
    pub present: Signal<In, Bit>,
    /// Lane of its first dword.
    pub lane: Signal<In, Bits<4>>,
    /// The part.
    pub part: Signal<Out, SlicePart>,

    lanes: LaneMask,
    ends: Signal<Local, Bit>,
    dwords: Signal<Local, Bits<5>>,
    rotate: Signal<Local, Bits<4>>,
    result: Signal<Local, SlicePart>,
}

impl Logic for RcTail {
    #[hdl_gen]
    fn update(&mut self) {
        // It owns the first end of the beat.
        self.ends.next = self.user.val().get_bit(76);
        self.dwords.next = 16.into();
        if self.ends.val() {
            self.dwords.next = bit_cast::<5, 4>(self.user.val().get_bits::<4>(80)) + 1;
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

/// Finds the part that begins with start number `index` of the beat.
#[derive(LogicBlock, Default)]
pub struct RcStart {
    /// The beat.
    pub data: Signal<In, Bits<512>>,
    /// Its side band.
    pub user: Signal<In, Bits<161>>,
    /// Number of the start.
    pub index: Signal<In, Bits<2>>,
    /// The beat begins inside a completion.
    pub is_inside: Signal<In, Bit>,

    /// The part; `present` says that there is such a start.
    pub part: Signal<Out, SlicePart>,
    /// RC descriptor.
    pub descriptor: Signal<Out, Bits<96>>,

    lanes: LaneMask,
    pointers: Signal<Local, Bits<8>>,
    pointer_at: Signal<Local, Bits<3>>,
    quarter: Signal<Local, Bits<2>>,
    data_at: Signal<Local, Bits<9>>,
    header: Signal<Local, Bits<96>>,
    starts: Signal<Local, Bits<4>>,
    ends: Signal<Local, Bits<5>>,
    end_pointers: Signal<Local, Bits<20>>,
    end_index: Signal<Local, Bits<3>>,
    end_at: Signal<Local, Bits<5>>,
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
        // Where it starts: sop_ptr counts quarters of the beat.
        self.starts.next = self.user.val().get_bits::<4>(64);
        self.pointers.next = self.user.val().get_bits::<8>(68);
        self.pointer_at.next = bit_cast::<3, 2>(self.index.val()) << 1;
        self.quarter.next = self
            .pointers
            .val()
            .get_bits::<2>(self.pointer_at.val().index());
        self.data_at.next = bit_cast::<9, 2>(self.quarter.val()) << 7;
        self.header.next = self.data.val().get_bits::<96>(self.data_at.val().index());

        // Where it ends: ends are numbered in order, the first one may belong to the tail.
        self.ends.next = bit_cast::<5, 4>(self.user.val().get_bits::<4>(76));
        self.end_pointers.next = bit_cast::<20, 16>(self.user.val().get_bits::<16>(80));
        self.end_index.next = bit_cast::<3, 2>(self.index.val());
        if self.is_inside.val() {
            self.end_index.next = bit_cast::<3, 2>(self.index.val()) + 1;
        }
        self.end_at.next = bit_cast::<5, 3>(self.end_index.val()) << 2;
        self.ends_here.next = self.ends.val().get_bit(self.end_index.val().index());
        self.last.next = 15.into();
        if self.ends_here.val() {
            self.last.next = self
                .end_pointers
                .val()
                .get_bits::<4>(self.end_at.val().index());
        }

        // Payload lies behind the three dwords of the descriptor.
        self.first.next = (bit_cast::<5, 2>(self.quarter.val()) << 2) + 3;
        self.dwords.next = (bit_cast::<5, 4>(self.last.val()) + 1) - self.first.val();
        self.lane.next = self.header.val().get_bits::<4>(2);
        self.rotate.next = bit_cast::<4, 5>(self.first.val()) - self.lane.val();
        self.lanes.lane.next = self.lane.val();
        self.lanes.dwords.next = self.dwords.val();
        self.result.next.present = self.starts.val().get_bit(self.index.val().index());
        self.result.next.ends = self.ends_here.val();
        self.result.next.dwords = self.dwords.val();
        self.result.next.lane = self.lane.val();
        self.result.next.rotate = self.rotate.val();
        self.result.next.mask = self.lanes.mask.val();
        self.part.next = self.result.val();
        self.descriptor.next = self.header.val();
    }
}

/// Holds a beat of RC until it is finished.
#[derive(LogicBlock, Default)]
pub struct RcHold {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets the beat.
    pub link_reset: Signal<In, Bit>,

    /// RC data.
    pub rc_tdata: Signal<In, Bits<512>>,
    /// RC side band.
    pub rc_tuser: Signal<In, Bits<161>>,
    /// RC beat is offered.
    pub rc_tvalid: Signal<In, Bit>,
    /// RC beat is taken.
    pub rc_tready: Signal<Out, Bit>,

    /// A beat is held.
    pub held: Signal<Out, Bit>,
    /// Its data.
    pub data: Signal<Out, Bits<512>>,
    /// Its side band.
    pub user: Signal<Out, Bits<161>>,
    /// It is finished in this cycle.
    pub finishes: Signal<In, Bit>,

    full: DFF<Bit>,
    data_stage: DFF<Bits<512>>,
    user_stage: DFF<Bits<161>>,
    has_room: Signal<Local, Bit>,
}

impl Logic for RcHold {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, full, data_stage, user_stage);
        self.held.next = self.full.q.val();
        self.data.next = self.data_stage.q.val();
        self.user.next = self.user_stage.q.val();
        self.has_room.next = !self.full.q.val() | self.finishes.val();
        self.rc_tready.next = self.has_room.val();
        if self.has_room.val() {
            self.full.d.next = self.rc_tvalid.val();
            self.data_stage.d.next = self.rc_tdata.val();
            self.user_stage.d.next = self.rc_tuser.val();
        }
        if self.link_reset.val() {
            self.full.d.next = false;
        }
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct RcSplit {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The hard block is in reset: forgets everything.
    pub link_reset: Signal<In, Bit>,

    /// RC data.
    pub rc_tdata: Signal<In, Bits<512>>,
    /// RC side band.
    pub rc_tuser: Signal<In, Bits<161>>,
    /// RC beat is offered.
    pub rc_tvalid: Signal<In, Bit>,
    /// RC beat is taken.
    pub rc_tready: Signal<Out, Bit>,

    /// Slices out.
    pub slice: PulseSource<Slice>,

    beginning: RcStart,
    tail: RcTail,
    hold: RcHold,
    is_inside: DFF<Bit>,
    index: DFF<Bits<2>>,
    tail_done: DFF<Bit>,
    lane: DFF<Bits<4>>,
    slice_valid: DFF<Bit>,
    slice_stage: DFF<Slice>,

    user: Signal<Local, Bits<161>>,
    starts: Signal<Local, Bits<5>>,
    next_index: Signal<Local, Bits<3>>,
    has_tail: Signal<Local, Bit>,
    start: Signal<Local, SlicePart>,
    overlaps: Signal<Local, Bit>,
    takes_start: Signal<Local, Bit>,
    more: Signal<Local, Bit>,
    finishes: Signal<Local, Bit>,
    next_slice: Signal<Local, Slice>,
}

impl Logic for RcSplit {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, is_inside, index, tail_done, lane);
        dff_setup!(self, clock, slice_valid, slice_stage);
        self.hold.clock.next = self.clock.val();
        self.hold.link_reset.next = self.link_reset.val();
        self.hold.rc_tdata.next = self.rc_tdata.val();
        self.hold.rc_tuser.next = self.rc_tuser.val();
        self.hold.rc_tvalid.next = self.rc_tvalid.val();
        self.rc_tready.next = self.hold.rc_tready.val();
        self.user.next = self.hold.user.val();
        self.beginning.data.next = self.hold.data.val();
        self.beginning.user.next = self.user.val();
        self.beginning.index.next = self.index.q.val();
        self.beginning.is_inside.next = self.is_inside.q.val();

        self.has_tail.next = self.is_inside.q.val() & !self.tail_done.q.val();
        self.tail.user.next = self.user.val();
        self.tail.present.next = self.has_tail.val();
        self.tail.lane.next = self.lane.q.val();

        // A start goes along unless it wants the same lanes.
        self.overlaps.next = self.has_tail.val()
            & ((self.tail.part.val().mask & self.beginning.part.val().mask) != 0);
        self.takes_start.next = self.beginning.part.val().present & !self.overlaps.val();
        self.starts.next = bit_cast::<5, 4>(self.user.val().get_bits::<4>(64));
        self.next_index.next = bit_cast::<3, 2>(self.index.q.val()) + 1;
        self.more.next = self.starts.val().get_bit(self.next_index.val().index());
        self.finishes.next =
            !self.beginning.part.val().present | (self.takes_start.val() & !self.more.val());
        self.start.next = self.beginning.part.val();
        self.start.next.present = self.takes_start.val();

        self.next_slice.next.beat = self.hold.data.val();
        self.next_slice.next.tail = self.tail.part.val();
        self.next_slice.next.start = self.start.val();
        self.next_slice.next.descriptor = self.beginning.descriptor.val();
        self.next_slice.next.discontinue = self.user.val().get_bit(96);
        self.slice_stage.d.next = self.next_slice.val();
        self.slice_valid.d.next = self.hold.held.val();
        self.slice.valid.next = self.slice_valid.q.val();
        self.slice.payload.next = self.slice_stage.q.val();

        self.hold.finishes.next = self.finishes.val();
        if self.hold.held.val() {
            self.tail_done.d.next = true;
            if self.has_tail.val() {
                self.lane.d.next =
                    self.lane.q.val() + bit_cast::<4, 5>(self.tail.part.val().dwords);
            }
            if self.takes_start.val() {
                self.index.d.next = bit_cast::<2, 3>(self.next_index.val());
                self.lane.d.next =
                    self.start.val().lane + bit_cast::<4, 5>(self.start.val().dwords);
            }
            if self.finishes.val() {
                self.index.d.next = 0.into();
                self.tail_done.d.next = false;
                self.is_inside.d.next = self.is_inside.q.val() & !self.tail.part.val().ends;
                if self.takes_start.val() {
                    self.is_inside.d.next = !self.start.val().ends;
                }
            }
        }
        if self.link_reset.val() {
            self.slice_valid.d.next = false;
            self.is_inside.d.next = false;
            self.tail_done.d.next = false;
            self.index.d.next = 0.into();
        }
    }
}
