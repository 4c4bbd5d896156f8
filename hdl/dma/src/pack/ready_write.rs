//! The write that may start next: what its start leaves of it, and whether its payload is stored.
//!
//! ```text
//!  write_tlp ─► what is left behind a start ─► [write] ─► source
//!  written, stores ─► is the last beat stored? ─┬─► [is_stored]
//!                                               └─► [second_goes]
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | sink | in | writes |
//! | source, is_stored | out | the oldest; all of its payload is stored |
//! | second | out | the write behind it |
//! | second_goes | out | it is there, all of it stored, and begins with a half of a beat |
//! | takes_second | in | that one is taken with the oldest |
//! | written, stores | in | beats of payload stored so far, modulo 2^12; one is stored now |
//! | flush | in | forgets the write |
//!
//! Timing: latency one cycle, one write a cycle, or two in one and none in the next. `source`,
//! `is_stored` and `second_goes` are registers.
//!
//! Invariants:
//! 1. `is_stored` is high from the cycle on in which `written` has passed the write's last beat.
//! 2. `second_goes` is high from the cycle behind that on, if the second write has been there as
//!    long.

use crate::messages::RequestTlp;
use stream::prelude::*;

/// Payload dwords in the beat of a start at dword 0.
const HEAD_DWORDS: u64 = 12;
/// And at dword 8.
const STRADDLED_DWORDS: u64 = 4;
/// Payload dwords of the last beat behind which another start has its place.
const HALF_DWORDS: u64 = 8;

/// A request with what its start leaves of it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PlannedTlp {
    /// The request.
    pub tlp: RequestTlp,
    /// Started at dword 0, it ends in the same beat.
    pub fits: Bit,
    /// Otherwise: payload dwords left.
    pub rest: Bits<9>,
    /// These are at most eight: another request can start in the last beat.
    pub leaves_half: Bit,
    /// And the position of the first of them.
    pub position: Bits<16>,
    /// The same for a start at dword 8.
    pub fits_straddled: Bit,
    /// Likewise.
    pub rest_straddled: Bits<9>,
    /// Likewise.
    pub leaves_half_straddled: Bit,
    /// Likewise.
    pub position_straddled: Bits<16>,
    /// Its last dword, if it fits from dword 0 on; from dword 8 on bit 3 is the other.
    pub last_dword: Bits<4>,
}

/// How far the payload is stored, seen from a write's last beat.
#[derive(LogicBlock, Default)]
pub struct StoredUpTo {
    /// Beats of payload stored so far.
    pub written: Signal<In, Bits<12>>,
    /// The write's last beat.
    pub end_beat: Signal<In, Bits<12>>,
    /// It is stored.
    pub passed: Signal<Out, Bit>,
    /// It is the next one.
    pub reached: Signal<Out, Bit>,

    ahead: Signal<Local, Bits<12>>,
}

impl Logic for StoredUpTo {
    #[hdl_gen]
    fn update(&mut self) {
        self.ahead.next = self.written.val() - self.end_beat.val();
        self.reached.next = self.written.val() == self.end_beat.val();
        self.passed.next =
            !self.ahead.val().get_bit(11) & (self.written.val() != self.end_beat.val());
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ReadyWrite {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets the write.
    pub flush: Signal<In, Bit>,

    /// Writes in.
    pub sink: MessageSink<RequestTlp>,
    /// Writes out.
    pub source: MessageSource<PlannedTlp>,
    /// The payload of the write offered is stored.
    pub is_stored: Signal<Out, Bit>,
    /// The write behind it.
    pub second: Signal<Out, PlannedTlp>,
    /// There is one, its payload is stored and begins with a half of a beat.
    pub second_goes: Signal<Out, Bit>,
    /// It is taken together with the one offered.
    pub takes_second: Signal<In, Bit>,
    /// Beats of payload stored so far.
    pub written: Signal<In, Bits<12>>,
    /// One more is stored in this cycle.
    pub stores: Signal<In, Bit>,

    full: DFF<Bit>,
    held: DFF<PlannedTlp>,
    stored: DFF<Bit>,
    second_stays: DFF<Bit>,
    next_end: StoredUpTo,
    held_end: StoredUpTo,

    moves: Signal<Local, Bit>,
    start: Signal<Local, Bits<16>>,
    tlp: Signal<Local, RequestTlp>,
    held_tlp: Signal<Local, RequestTlp>,
    planned: Signal<Local, PlannedTlp>,
    #[value(HEAD_DWORDS)]
    head_dwords: Constant<Bits<9>>,
    #[value(STRADDLED_DWORDS)]
    straddled_dwords: Constant<Bits<9>>,
    #[value(HEAD_DWORDS + HALF_DWORDS)]
    half_dwords: Constant<Bits<9>>,
    #[value(STRADDLED_DWORDS + HALF_DWORDS)]
    half_straddled_dwords: Constant<Bits<9>>,
    #[value(HEAD_DWORDS)]
    head_position: Constant<Bits<16>>,
    #[value(STRADDLED_DWORDS)]
    straddled_position: Constant<Bits<16>>,
}

impl Logic for ReadyWrite {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, full, held, stored, second_stays);
        self.tlp.next = self.sink.payload.val();
        self.planned.next.tlp = self.tlp.val();
        self.planned.next.fits = self.tlp.val().dwords <= self.head_dwords.val();
        self.planned.next.rest = self.tlp.val().dwords - self.head_dwords.val();
        self.planned.next.leaves_half = self.tlp.val().dwords <= self.half_dwords.val();
        self.planned.next.position = self.tlp.val().start + self.head_position.val();
        self.planned.next.fits_straddled = self.tlp.val().dwords <= self.straddled_dwords.val();
        self.planned.next.rest_straddled = self.tlp.val().dwords - self.straddled_dwords.val();
        self.planned.next.leaves_half_straddled =
            self.tlp.val().dwords <= self.half_straddled_dwords.val();
        self.planned.next.position_straddled = self.tlp.val().start + self.straddled_position.val();
        // Behind a header of four dwords.
        self.planned.next.last_dword = bit_cast::<4, 9>(self.tlp.val().dwords) + 3;

        // Not behind the last beat, and beyond it or about to be.
        self.held_tlp.next = self.held.q.val().tlp;
        self.next_end.written.next = self.written.val();
        self.next_end.end_beat.next = self.tlp.val().end_beat;
        self.held_end.written.next = self.written.val();
        self.held_end.end_beat.next = self.held_tlp.val().end_beat;
        self.stored.d.next =
            self.held_end.passed.val() | (self.held_end.reached.val() & self.stores.val());

        self.source.valid.next = self.full.q.val();
        self.source.payload.next = self.held.q.val();
        self.is_stored.next = self.stored.q.val();
        self.second.next = self.planned.val();
        self.second_goes.next = self.second_stays.q.val();
        self.moves.next = !self.full.q.val() | self.source.ready.val();
        self.sink.ready.next = self.moves.val();
        self.start.next = self.tlp.val().start;
        self.second_stays.d.next = self.sink.valid.val()
            & !self.moves.val()
            & self.next_end.passed.val()
            & !self.start.val().get_bits::<3>(0).any();
        if self.moves.val() {
            self.full.d.next = self.sink.valid.val() & !self.takes_second.val();
            self.held.d.next = self.planned.val();
            self.stored.d.next =
                self.next_end.passed.val() | (self.next_end.reached.val() & self.stores.val());
        }
        if self.flush.val() {
            self.full.d.next = false;
            self.second_stays.d.next = false;
        }
    }
}
