//! Plans one beat of the RQ port: the end of one TLP and the start of the next.
//!
//! ```text
//!   dword   0              8              15
//!          │ payload of A ................... │    rest > 16, or no start possible
//!          │ tail of A     │ header B │ 4 of B│    rest <= 8: B starts at dword 8
//!          │ header B │ 12 dwords of B        │    rest = 0: B starts at dword 0
//!          │ header B │ 4 of B│ header C │ 4 of│    and C at dword 8, if B ends before
//! ```
//! `rest` is what remains of the open TLP A: payload dwords that no earlier beat holds. All inputs
//! describe the state before the beat, the outputs `..._after` the state after it. A tail is the
//! last beat of an open TLP.
//!
//! Timing: combinational.
//!
//! Source: PG213, requester request interface, 512 bit, straddle.

use crate::messages::RequestTlp;
use crate::packer::ready_write::FittedTlp;
use stream::prelude::*;

/// Plan of one beat: what the packer places in it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct BeatPlan {
    /// The beat carries payload.
    pub loads: Bit,
    /// Position of the first payload dword of the beat.
    pub window: Bits<16>,
    /// Place of the beat after the one that holds the first dword: `(window / 16 + 1) mod 64`.
    pub window_behind: Bits<6>,
    /// A TLP starts at dword 0.
    pub starts_front: Bit,
    /// A TLP starts at dword 8.
    pub starts_rear: Bit,
    /// The payload of the TLP at dword 8 begins at a half-beat boundary of the payload memory: its
    /// position is a multiple of 8. Otherwise it directly follows the tail in the window.
    pub begins_half: Bit,
    /// Number of that half beat: `position / 8`, so bit 0 is set for the second half of its beat.
    pub half: Bits<7>,
    /// RQ descriptor of the TLP that starts at dword 0.
    pub front_header: Bits<128>,
    /// RQ descriptor of the TLP that starts at dword 8.
    pub rear_header: Bits<128>,
    /// Byte enables of the first dword of the first TLP that starts in the beat.
    pub first_be: Bits<4>,
    /// Byte enables of the last dword of the first TLP that starts in the beat.
    pub last_be: Bits<4>,
    /// Sequence number of the first TLP that starts in the beat.
    pub sequence: Bits<6>,
    /// Byte enables of the first dword of the second TLP that starts in the beat.
    pub second_first_be: Bits<4>,
    /// Byte enables of the last dword of the second TLP that starts in the beat.
    pub second_last_be: Bits<4>,
    /// Sequence number of the second TLP that starts in the beat.
    pub second_sequence: Bits<6>,
    /// TLPs that end in the beat: bit 0 for the first, bit 1 for the second.
    pub ends: Bits<2>,
    /// Number of the dword in which the first TLP ends, if bit 0 of `ends` is set.
    pub end_0: Bits<4>,
    /// Number of the dword in which the second TLP ends, if bit 1 of `ends` is set.
    pub end_1: Bits<4>,
}

/// State after a beat: what remains of the TLP that is open then.
///
/// Timing: combinational.
#[derive(LogicBlock, Default)]
pub struct AfterBeat {
    /// Payload dwords of the open TLP that no earlier beat holds; 0 if none is open.
    pub rest: Signal<In, Bits<9>>,
    /// A TLP is open: `rest` is not 0.
    pub is_open: Signal<In, Bit>,
    /// Position of the first of the remaining dwords.
    pub position: Signal<In, Bits<16>>,
    /// A TLP starts in this beat: at dword 8 if one is open, otherwise at dword 0.
    pub starts: Signal<In, Bit>,
    /// The TLP that starts.
    pub fitted: Signal<In, FittedTlp>,
    /// A second write starts at dword 8 of the same beat.
    pub pairs: Signal<In, Bit>,
    /// The second write.
    pub second: Signal<In, FittedTlp>,

    /// `rest` exceeds this beat: more than 16 dwords remain.
    pub beyond_16: Signal<Out, Bit>,
    /// The TLP that starts, if one does, ends in this beat.
    pub fits: Signal<Out, Bit>,
    /// `rest` after this beat.
    pub rest_after: Signal<Out, Bits<9>>,
    /// `is_open` after this beat.
    pub is_open_after: Signal<Out, Bit>,
    /// More than 8 dwords remain after this beat: no TLP can start in the next one.
    pub is_long_after: Signal<Out, Bit>,
    /// `position` after this beat; undefined if no TLP is open then.
    pub position_after: Signal<Out, Bits<16>>,

    exceeds: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
}

impl Logic for AfterBeat {
    #[hdl_gen]
    fn update(&mut self) {
        self.exceeds.next = self.rest.val().get_bits::<4>(5).any()
            | (self.rest.val().get_bit(4) & self.rest.val().get_bits::<4>(0).any());
        self.beyond_16.next = self.exceeds.val();
        self.ends.next = self.fitted.val().fits;
        if self.is_open.val() {
            self.ends.next = self.fitted.val().fits_straddled;
        }
        self.fits.next = self.ends.val();

        // If nothing remains the position is ignored.
        self.is_open_after.next = self.exceeds.val();
        self.is_long_after.next = self.rest.val().get_bits::<4>(5).any()
            | ((self.rest.val().get_bits::<2>(3) == 3) & self.rest.val().get_bits::<3>(0).any());
        self.rest_after.next = self.rest.val() - 16;
        self.position_after.next = self.position.val() + 16;
        if self.starts.val() {
            self.is_open_after.next = !self.ends.val();
            self.is_long_after.next = !self.fitted.val().leaves_half;
            self.rest_after.next = self.fitted.val().rest;
            self.position_after.next = self.fitted.val().position;
            if self.is_open.val() {
                self.is_long_after.next = !self.fitted.val().leaves_half_straddled;
                self.rest_after.next = self.fitted.val().rest_straddled;
                self.position_after.next = self.fitted.val().position_straddled;
            }
            if self.ends.val() {
                self.rest_after.next = 0.into();
            }
        } else if !self.exceeds.val() {
            self.rest_after.next = 0.into();
        }
        if self.pairs.val() {
            self.is_open_after.next = !self.second.val().fits_straddled;
            self.is_long_after.next = !self.second.val().leaves_half_straddled;
            self.rest_after.next = self.second.val().rest_straddled;
            self.position_after.next = self.second.val().position_straddled;
            if self.second.val().fits_straddled {
                self.rest_after.next = 0.into();
            }
        }
    }
}

/// Bits of an RQ descriptor in which two writes can differ: address, dwords, ordering.
const WRITE_BITS: u128 = ((1 << 75) - 1) | (1 << 125);

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct BeatPlanner {
    /// Payload dwords of the open TLP that no earlier beat holds; 0 if none is open.
    pub rest: Signal<In, Bits<9>>,
    /// A TLP is open: `rest` is not 0.
    pub is_open: Signal<In, Bit>,
    /// Position of the first of the remaining dwords.
    pub position: Signal<In, Bits<16>>,
    /// A TLP starts in this beat: at dword 8 if one is open, otherwise at dword 0. Allowed only if
    /// `rest` is at most 8.
    pub starts: Signal<In, Bit>,
    /// The TLP that starts.
    pub fitted: Signal<In, FittedTlp>,
    /// Sequence number of the TLP that starts.
    pub number: Signal<In, Bits<6>>,
    /// A second TLP starts at dword 8: a write, as the first. Allowed only if the first starts at
    /// dword 0 and ends before dword 8, and the payload of the second begins at a half-beat
    /// boundary.
    pub pairs: Signal<In, Bit>,
    /// The second TLP.
    pub second: Signal<In, FittedTlp>,

    /// Plan of this beat.
    pub plan: Signal<Out, BeatPlan>,
    /// `rest` after this beat.
    pub rest_after: Signal<Out, Bits<9>>,
    /// `is_open` after this beat.
    pub is_open_after: Signal<Out, Bit>,
    /// More than 8 dwords remain after this beat: no TLP can start in the next one.
    pub is_long_after: Signal<Out, Bit>,
    /// `position` after this beat; undefined if no TLP is open then.
    pub position_after: Signal<Out, Bits<16>>,

    after: AfterBeat,
    is_tail: Signal<Local, Bit>,
    ends_start: Signal<Local, Bit>,
    end_dword: Signal<Local, Bits<4>>,
    tlp: Signal<Local, RequestTlp>,
    second_tlp: Signal<Local, RequestTlp>,
    rear_header: Signal<Local, Bits<128>>,
    rear_start: Signal<Local, Bits<16>>,
    second_number: Signal<Local, Bits<5>>,
    start: Signal<Local, Bits<16>>,
    behind_start: Signal<Local, Bits<6>>,
    behind_position: Signal<Local, Bits<6>>,
    result: Signal<Local, BeatPlan>,
    #[value(WRITE_BITS.to_bits::<128>())]
    write_bits: Constant<Bits<128>>,
}

impl Logic for BeatPlanner {
    #[hdl_gen]
    fn update(&mut self) {
        // What the open TLP leaves free, and what starts there.
        self.after.rest.next = self.rest.val();
        self.after.is_open.next = self.is_open.val();
        self.after.position.next = self.position.val();
        self.after.starts.next = self.starts.val();
        self.after.fitted.next = self.fitted.val();
        self.after.pairs.next = self.pairs.val();
        self.after.second.next = self.second.val();
        self.is_tail.next = self.is_open.val() & !self.after.beyond_16.val();
        self.tlp.next = self.fitted.val().tlp;
        self.start.next = self.tlp.val().start;
        self.end_dword.next = self.fitted.val().last_dword;
        if self.is_open.val() {
            self.end_dword.next = self.fitted.val().last_dword + 8;
        }
        self.ends_start.next = self.starts.val() & self.after.fits.val();

        self.result.next.loads =
            self.is_open.val() | (self.starts.val() & (self.tlp.val().dwords != 0));
        // Both sums are made before it is known which one is needed.
        self.behind_start.next = self.start.val().get_bits::<6>(4) + 1;
        self.behind_position.next = self.position.val().get_bits::<6>(4) + 1;
        self.result.next.window = self.start.val();
        self.result.next.window_behind = self.behind_start.val();
        if self.is_open.val() {
            self.result.next.window = self.position.val();
            self.result.next.window_behind = self.behind_position.val();
        }
        self.second_tlp.next = self.second.val().tlp;
        self.rear_header.next = self.tlp.val().header;
        self.rear_start.next = self.start.val();
        if self.pairs.val() {
            self.rear_start.next = self.second_tlp.val().start;
            self.rear_header.next = (self.tlp.val().header & !self.write_bits.val())
                | (self.second_tlp.val().header & self.write_bits.val());
        }
        self.second_number.next = bit_cast::<5, 6>(self.number.val()) + 1;
        self.result.next.starts_front = self.starts.val() & !self.is_open.val();
        self.result.next.starts_rear = (self.starts.val() & self.is_open.val()) | self.pairs.val();
        self.result.next.begins_half = self.rear_start.val().get_bits::<3>(0) == 0;
        self.result.next.half = self.rear_start.val().get_bits::<7>(3);
        self.result.next.front_header = self.tlp.val().header;
        self.result.next.rear_header = self.rear_header.val();
        self.result.next.second_first_be = self.second_tlp.val().first_be;
        self.result.next.second_last_be = self.second_tlp.val().last_be;
        self.result.next.second_sequence = bit_cast::<6, 5>(self.second_number.val());
        self.result.next.first_be = self.tlp.val().first_be;
        self.result.next.last_be = self.tlp.val().last_be;
        self.result.next.sequence = self.number.val();
        self.result.next.ends = bit_cast::<2, 1>(self.ends_start.val().into());
        self.result.next.end_0 = self.end_dword.val();
        self.result.next.end_1 = self.end_dword.val();
        if self.is_tail.val() {
            self.result.next.ends = (bit_cast::<2, 1>(self.ends_start.val().into()) << 1) | 1;
            self.result.next.end_0 = bit_cast::<4, 9>(self.rest.val() - 1);
        }
        if self.pairs.val() {
            self.result.next.ends =
                (bit_cast::<2, 1>(self.second.val().fits_straddled.into()) << 1) | 1;
            self.result.next.end_1 = self.second.val().last_dword + 8;
        }
        self.plan.next = self.result.val();

        self.rest_after.next = self.after.rest_after.val();
        self.is_open_after.next = self.after.is_open_after.val();
        self.is_long_after.next = self.after.is_long_after.val();
        self.position_after.next = self.after.position_after.val();
    }
}
