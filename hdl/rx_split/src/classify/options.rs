//! Finds the timestamp among the TCP options, one byte per cycle.
//!
//! Timing: at most 41 cycles from `start` to the fall of `busy`; three for the usual NOP, NOP,
//! timestamp.
//!
//! Invariants:
//! 1. The search ends at end-of-list, at an option that does not fit, or at the first timestamp of
//!    10 bytes.
//!
//! Source: RFC 9293, 3.1; RFC 7323, 3.2.

use crate::messages::Word32;
use stream::prelude::*;

/// The search. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Options {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// One pulse: begins the search with `options` and `option_bytes`.
    pub start: Signal<In, Bit>,
    /// TCP options, first byte in bits 7:0, with `start`.
    pub options: Signal<In, Bits<320>>,
    /// Bytes of options, with `start`.
    pub option_bytes: Signal<In, Bits<6>>,

    /// The search is not finished.
    pub busy: Signal<Out, Bit>,
    /// A timestamp was found; holds until the next start.
    pub found: Signal<Out, Bit>,
    /// TSval of the first timestamp option; holds until the next start.
    pub value: Signal<Out, Bits<32>>,

    rest: DFF<Bits<320>>,
    left: DFF<Bits<6>>,
    skip: DFF<Bits<6>>,
    walking: DFF<Bit>,
    has_value: DFF<Bit>,
    timestamp: DFF<Bits<32>>,

    kind: Signal<Local, Bits<8>>,
    length: Signal<Local, Bits<8>>,
    skips: Signal<Local, Bit>,
    left_wide: Signal<Local, Bits<8>>,
    ends: Signal<Local, Bit>,
    word: Signal<Local, Word32>,
    #[value(2)]
    option_bytes_min: Constant<Bits<8>>,
}

impl Logic for Options {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, rest, left, skip, walking, has_value, timestamp);
        self.busy.next = self.walking.q.val();
        self.found.next = self.has_value.q.val();
        self.value.next = self.timestamp.q.val();

        self.kind.next = self.rest.q.val().get_bits::<8>(0);
        self.length.next = self.rest.q.val().get_bits::<8>(8);
        self.word.next.byte0 = self.rest.q.val().get_bits::<8>(16);
        self.word.next.byte1 = self.rest.q.val().get_bits::<8>(24);
        self.word.next.byte2 = self.rest.q.val().get_bits::<8>(32);
        self.word.next.byte3 = self.rest.q.val().get_bits::<8>(40);
        self.left_wide.next = bit_cast::<8, 6>(self.left.q.val());
        self.ends.next = (self.left_wide.val() < self.option_bytes_min.val())
            | (self.length.val() < self.option_bytes_min.val())
            | (self.length.val() > self.left_wide.val());
        if self.kind.val() == 1 {
            self.ends.next = self.left.q.val() == 0;
        }
        if self.kind.val() == 0 {
            self.ends.next = true;
        }
        // Bytes of an option after its first are skipped.
        self.skips.next = self.skip.q.val().any();
        if self.walking.q.val() {
            self.rest.d.next = self.rest.q.val() >> 8;
            self.left.d.next = self.left.q.val() - 1;
            if self.skips.val() {
                self.skip.d.next = self.skip.q.val() - 1;
            } else if self.ends.val() {
                self.walking.d.next = false;
            } else if (self.kind.val() == 8) & (self.length.val() == 10) {
                self.walking.d.next = false;
                self.has_value.d.next = true;
                self.timestamp.d.next = self.word.val().into();
            } else if self.kind.val() != 1 {
                self.skip.d.next = bit_cast::<6, 8>(self.length.val()) - 1;
            }
        }
        if self.start.val() {
            self.rest.d.next = self.options.val();
            self.left.d.next = self.option_bytes.val();
            self.walking.d.next = true;
            self.skip.d.next = 0.into();
            self.has_value.d.next = false;
        }
    }
}
