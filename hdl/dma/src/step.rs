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
    /// Dwords of the TLP that ends before a start at dword 8.
    pub tail: Bits<4>,
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
    /// Position of the first of them.
    pub position: Signal<In, Bits<16>>,
    /// A TLP may start.
    pub offered: Signal<In, Bit>,
    /// That TLP.
    pub planned: Signal<In, PlannedTlp>,
    /// Its sequence number.
    pub number: Signal<In, Bits<6>>,

    /// The beat has room for a start.
    pub can_start: Signal<Out, Bit>,
    /// The beat is not empty.
    pub present: Signal<Out, Bit>,
    /// What it holds.
    pub step: Signal<Out, Step>,
    /// `rest` behind this beat.
    pub rest_after: Signal<Out, Bits<9>>,
    /// `position` behind this beat.
    pub position_after: Signal<Out, Bits<16>>,

    is_open: Signal<Local, Bit>,
    is_tail: Signal<Local, Bit>,
    has_room: Signal<Local, Bit>,
    starts: Signal<Local, Bit>,
    ends_start: Signal<Local, Bit>,
    fits: Signal<Local, Bit>,
    end_dword: Signal<Local, Bits<4>>,
    tlp: Signal<Local, RequestTlp>,
    straddles: Signal<Local, Bit>,
    loads_start: Signal<Local, Bit>,
    tail_last: Signal<Local, Bits<9>>,
    dwords: Signal<Local, Bits<9>>,
    start: Signal<Local, Bits<16>>,
    result: Signal<Local, Step>,
}

impl Logic for BeatPlan {
    #[hdl_gen]
    fn update(&mut self) {
        // What the TLP at hand leaves free, and what starts there.
        self.is_open.next = self.rest.val() != 0;
        self.is_tail.next = self.is_open.val() & (self.rest.val() <= 16);
        self.has_room.next = self.rest.val() <= 8;
        self.can_start.next = self.has_room.val();
        self.starts.next = self.has_room.val() & self.offered.val();
        self.straddles.next = self.starts.val() & self.is_open.val();
        self.present.next = self.is_open.val() | self.starts.val();
        self.tlp.next = self.planned.val().tlp;
        self.dwords.next = self.tlp.val().dwords;
        self.start.next = self.tlp.val().start;
        self.fits.next = self.planned.val().fits;
        self.end_dword.next = self.planned.val().last_dword;
        if self.is_open.val() {
            self.fits.next = self.planned.val().fits_straddled;
            self.end_dword.next = self.planned.val().last_dword + 8;
        }
        self.loads_start.next = self.starts.val() & (self.dwords.val() != 0);
        self.ends_start.next = self.starts.val() & self.fits.val();
        self.tail_last.next = self.rest.val() - 1;

        self.result.next.loads = self.is_open.val() | self.loads_start.val();
        self.result.next.window = self.start.val();
        if self.is_open.val() {
            self.result.next.window = self.position.val();
        }
        self.result.next.tail = bit_cast::<4, 9>(self.rest.val());
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
        self.rest_after.next = self.rest.val() - 16;
        self.position_after.next = self.position.val() + 16;
        if self.starts.val() {
            self.rest_after.next = self.planned.val().rest;
            self.position_after.next = self.planned.val().position;
            if self.is_open.val() {
                self.rest_after.next = self.planned.val().rest_straddled;
                self.position_after.next = self.planned.val().position_straddled;
            }
            if self.fits.val() {
                self.rest_after.next = 0.into();
            }
        } else if self.rest.val() <= 16 {
            self.rest_after.next = 0.into();
        }
    }
}
