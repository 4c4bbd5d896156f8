//! Holds the write that may start next: how it fits into beats, and whether its payload is stored.
//!
//! ```text
//!  sink ─► how does it fit? ─┬─► [held] ─► source
//!                            └───────────► second
//!  written, stores ─► is the last beat stored? ─┬─► [is_stored]      of source
//!                                               └─► [second_ready]   of second
//! ```
//! `source` is the oldest write. `second` is the write that waits at `sink`, so the one after it.
//!
//! Timing: latency one cycle. One write per cycle, or two in one cycle and none in the next.
//! `source`, `is_stored` and `second_ready` are registers; `second` is combinational from `sink`.
//!
//! Invariants:
//! 1. `is_stored` is high from the cycle on in which `written` has passed the last beat of the
//!    write at `source`.
//! 2. `second_ready` is high from one cycle later on, if the second write has waited at `sink` for
//!    as long.
//! 3. It relies on `takes_second` to come with the handshake of `source` only, while
//!    `second_ready` is high.

use crate::messages::RequestTlp;
use stream::prelude::*;

/// Payload dwords in the beat of a start at dword 0: 16 less the descriptor.
const HEAD_DWORDS: u64 = 12;
/// Payload dwords in the beat of a start at dword 8.
const STRADDLED_DWORDS: u64 = 4;
/// Most payload dwords of a last beat in which another TLP can start, at dword 8.
const HALF_DWORDS: u64 = 8;

/// A request, and how it fits into beats: for a start at dword 0 and for one at dword 8
/// (straddled).
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FittedTlp {
    /// The request.
    pub tlp: RequestTlp,
    /// Started at dword 0, it ends in the same beat: at most 12 payload dwords.
    pub fits: Bit,
    /// Payload dwords that remain after the beat of a start at dword 0; undefined if `fits`.
    pub rest: Bits<9>,
    /// Of these at most 8 remain (or none): the next beat has space for another start at dword 8.
    pub leaves_half: Bit,
    /// Position of the first dword that remains after the beat of a start at dword 0.
    pub position: Bits<16>,
    /// Started at dword 8, it ends in the same beat: at most 4 payload dwords.
    pub fits_straddled: Bit,
    /// Payload dwords that remain after the beat of a start at dword 8; undefined if
    /// `fits_straddled`.
    pub rest_straddled: Bits<9>,
    /// Of these at most 8 remain (or none): the next beat has space for another start at dword 8.
    pub leaves_half_straddled: Bit,
    /// Position of the first dword that remains after the beat of a start at dword 8.
    pub position_straddled: Bits<16>,
    /// Number of the dword in which it ends if it fits and starts at dword 0. For a start at dword
    /// 8 add 8, modulo 16.
    pub last_dword: Bits<4>,
}

/// Compares the number of stored beats with the last beat of a write.
///
/// Timing: combinational.
#[derive(LogicBlock, Default)]
pub struct StoredUpTo {
    /// Number of payload beats stored so far, modulo 2^12.
    pub written: Signal<In, Bits<12>>,
    /// Number of the write's last beat.
    pub end_beat: Signal<In, Bits<12>>,
    /// The last beat is stored.
    pub passed: Signal<Out, Bit>,
    /// The last beat is the next one to be stored.
    pub reached: Signal<Out, Bit>,
}

impl Logic for StoredUpTo {
    #[hdl_gen]
    fn update(&mut self) {
        self.reached.next = self.written.val() == self.end_beat.val();
        self.passed.next = !(self.written.val() - self.end_beat.val()).get_bit(11)
            & (self.written.val() != self.end_beat.val());
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ReadyWrite {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the write that is held.
    pub flush: Signal<In, Bit>,

    /// Writes, in job order.
    pub sink: MessageSink<RequestTlp>,
    /// The oldest write, with how it fits into beats.
    pub source: MessageSource<FittedTlp>,
    /// All payload of the write at `source` is stored.
    pub is_stored: Signal<Out, Bit>,
    /// The write after the one at `source`: the one at `sink`.
    pub second: Signal<Out, FittedTlp>,
    /// There is a second write, all of its payload is stored, and its payload begins at a half-beat
    /// boundary: its position is a multiple of 8.
    pub second_ready: Signal<Out, Bit>,
    /// The second write is taken together with the one at `source`, in the same handshake.
    pub takes_second: Signal<In, Bit>,
    /// Number of payload beats stored so far, modulo 2^12.
    pub written: Signal<In, Bits<12>>,
    /// A beat is stored in this cycle.
    pub stores: Signal<In, Bit>,

    full: DFF<Bit>,
    held: DFF<FittedTlp>,
    stored: DFF<Bit>,
    second_was_ready: DFF<Bit>,
    next_end: StoredUpTo,
    held_end: StoredUpTo,

    moves: Signal<Local, Bit>,
    tlp: Signal<Local, RequestTlp>,
    held_tlp: Signal<Local, RequestTlp>,
    fitted: Signal<Local, FittedTlp>,
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
        dff_setup!(self, clock, full, held, stored, second_was_ready);
        self.tlp.next = self.sink.payload.val();
        self.fitted.next.tlp = self.tlp.val();
        self.fitted.next.fits = self.tlp.val().dwords <= self.head_dwords.val();
        self.fitted.next.rest = self.tlp.val().dwords - self.head_dwords.val();
        self.fitted.next.leaves_half = self.tlp.val().dwords <= self.half_dwords.val();
        self.fitted.next.position = self.tlp.val().start + self.head_position.val();
        self.fitted.next.fits_straddled = self.tlp.val().dwords <= self.straddled_dwords.val();
        self.fitted.next.rest_straddled = self.tlp.val().dwords - self.straddled_dwords.val();
        self.fitted.next.leaves_half_straddled =
            self.tlp.val().dwords <= self.half_straddled_dwords.val();
        self.fitted.next.position_straddled = self.tlp.val().start + self.straddled_position.val();
        // The payload follows a descriptor of four dwords.
        self.fitted.next.last_dword = bit_cast::<4, 9>(self.tlp.val().dwords) + 3;

        // Stored: `written` has passed the last beat, or passes it in this cycle.
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
        self.second.next = self.fitted.val();
        self.second_ready.next = self.second_was_ready.q.val();
        self.moves.next = !self.full.q.val() | self.source.ready.val();
        self.sink.ready.next = self.moves.val();
        self.second_was_ready.d.next = self.sink.valid.val()
            & !self.moves.val()
            & self.next_end.passed.val()
            & !self.tlp.val().start.get_bits::<3>(0).any();
        if self.moves.val() {
            self.full.d.next = self.sink.valid.val() & !self.takes_second.val();
            self.held.d.next = self.fitted.val();
            self.stored.d.next =
                self.next_end.passed.val() | (self.next_end.reached.val() & self.stores.val());
        }
        if self.flush.val() {
            self.full.d.next = false;
            self.second_was_ready.d.next = false;
        }
    }
}
