//! What one beat of the RQ port holds: the end of one TLP and the start of the next.
//!
//! ```text
//!   dword   0              8              15
//!          │ payload of A ................... │    rest > 16, or no start possible
//!          │ tail of A     │ header B │ 4 of B│    rest <= 8: B starts at dword 8
//!          │ header B │ 12 dwords of B        │    rest = 0: B starts at dword 0
//! ```
//! Timing: combinational.
//!
//! Source: PG213, requester request interface, 512 bit, straddle.

use crate::ready_write::PlannedTlp;
use crate::request::RequestTlp;
use stream::prelude::*;

/// What one beat holds.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Step {
    /// The beat carries payload.
    pub loads: Bit,
    /// Position of the first payload dword of the beat.
    pub window: Bits<16>,
    /// The stored beat behind the one in which it lies.
    pub window_behind: Bits<6>,
    /// A TLP starts in this beat.
    pub starts: Bit,
    /// It starts at dword 8.
    pub straddles: Bit,
    /// Its payload begins with a stored beat instead of behind the tail.
    pub fresh: Bit,
    /// That beat.
    pub fresh_beat: Bits<6>,
    /// RQ descriptor.
    pub header: Bits<128>,
    /// Byte enables of its first dword.
    pub first_be: Bits<4>,
    /// Byte enables of its last dword.
    pub last_be: Bits<4>,
    /// Sequence number.
    pub sequence: Bits<6>,
    /// TLPs that end in this beat: one bit each.
    pub ends: Bits<2>,
    /// Last dword of the first one.
    pub end_0: Bits<4>,
    /// Last dword of the second one.
    pub end_1: Bits<4>,
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct BeatPlan {
    /// Payload dwords of the TLP at hand that are to come; 0: none is at hand.
    pub rest: Signal<In, Bits<9>>,
    /// `rest` is not 0.
    pub is_open: Signal<In, Bit>,
    /// Position of the first of them.
    pub position: Signal<In, Bits<16>>,
    /// A TLP starts: only where `rest` is at most 8.
    pub starts: Signal<In, Bit>,
    /// That TLP.
    pub planned: Signal<In, PlannedTlp>,
    /// Its sequence number.
    pub number: Signal<In, Bits<6>>,

    /// What it holds.
    pub step: Signal<Out, Step>,
    /// `rest` behind this beat.
    pub rest_after: Signal<Out, Bits<9>>,
    /// `is_open` behind this beat.
    pub is_open_after: Signal<Out, Bit>,
    /// `rest` is more than 8 behind this beat: the next one has no room for a start.
    pub is_long_after: Signal<Out, Bit>,
    /// `position` behind this beat.
    pub position_after: Signal<Out, Bits<16>>,

    beyond_16: Signal<Local, Bit>,
    beyond_24: Signal<Local, Bit>,
    is_tail: Signal<Local, Bit>,
    ends_start: Signal<Local, Bit>,
    fits: Signal<Local, Bit>,
    end_dword: Signal<Local, Bits<4>>,
    tlp: Signal<Local, RequestTlp>,
    straddles: Signal<Local, Bit>,
    tail_last: Signal<Local, Bits<9>>,
    start: Signal<Local, Bits<16>>,
    behind_start: Signal<Local, Bits<6>>,
    behind_position: Signal<Local, Bits<6>>,
    result: Signal<Local, Step>,
}

impl Logic for BeatPlan {
    #[hdl_gen]
    fn update(&mut self) {
        // What the TLP at hand leaves free, and what starts there.
        self.beyond_16.next = self.rest.val().get_bits::<4>(5).any()
            | (self.rest.val().get_bit(4) & self.rest.val().get_bits::<4>(0).any());
        self.beyond_24.next = self.rest.val().get_bits::<4>(5).any()
            | ((self.rest.val().get_bits::<2>(3) == 3) & self.rest.val().get_bits::<3>(0).any());
        self.is_tail.next = self.is_open.val() & !self.beyond_16.val();
        self.straddles.next = self.starts.val() & self.is_open.val();
        self.tlp.next = self.planned.val().tlp;
        self.start.next = self.tlp.val().start;
        self.fits.next = self.planned.val().fits;
        self.end_dword.next = self.planned.val().last_dword;
        if self.is_open.val() {
            self.fits.next = self.planned.val().fits_straddled;
            self.end_dword.next = self.planned.val().last_dword + 8;
        }
        self.tail_last.next = self.rest.val() - 1;
        self.ends_start.next = self.starts.val() & self.fits.val();

        self.result.next.loads =
            self.is_open.val() | (self.starts.val() & (self.tlp.val().dwords != 0));
        // Both sums are there before it is known which one is wanted.
        self.behind_start.next = self.start.val().get_bits::<6>(4) + 1;
        self.behind_position.next = self.position.val().get_bits::<6>(4) + 1;
        self.result.next.window = self.start.val();
        self.result.next.window_behind = self.behind_start.val();
        if self.is_open.val() {
            self.result.next.window = self.position.val();
            self.result.next.window_behind = self.behind_position.val();
        }
        self.result.next.starts = self.starts.val();
        self.result.next.straddles = self.straddles.val();
        self.result.next.fresh = self.start.val().get_bits::<4>(0) == 0;
        self.result.next.fresh_beat = self.start.val().get_bits::<6>(4);
        self.result.next.header = self.tlp.val().header;
        self.result.next.first_be = self.tlp.val().first_be;
        self.result.next.last_be = self.tlp.val().last_be;
        self.result.next.sequence = self.number.val();
        self.result.next.ends = bit_cast::<2, 1>(self.ends_start.val().into());
        self.result.next.end_0 = self.end_dword.val();
        self.result.next.end_1 = self.end_dword.val();
        if self.is_tail.val() {
            self.result.next.ends = (bit_cast::<2, 1>(self.ends_start.val().into()) << 1) | 1;
            self.result.next.end_0 = bit_cast::<4, 9>(self.tail_last.val());
        }
        self.step.next = self.result.val();

        // Where nothing is left the position does not matter.
        self.is_open_after.next = self.beyond_16.val();
        self.is_long_after.next = self.beyond_24.val();
        self.rest_after.next = self.rest.val() - 16;
        self.position_after.next = self.position.val() + 16;
        if self.starts.val() {
            self.is_open_after.next = !self.fits.val();
            self.is_long_after.next = !self.planned.val().leaves_half;
            self.rest_after.next = self.planned.val().rest;
            self.position_after.next = self.planned.val().position;
            if self.is_open.val() {
                self.is_long_after.next = !self.planned.val().leaves_half_straddled;
                self.rest_after.next = self.planned.val().rest_straddled;
                self.position_after.next = self.planned.val().position_straddled;
            }
            if self.fits.val() {
                self.rest_after.next = 0.into();
            }
        } else if !self.beyond_16.val() {
            self.rest_after.next = 0.into();
        }
    }
}
