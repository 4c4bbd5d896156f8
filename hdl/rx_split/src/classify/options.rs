//! Finds the timestamp among the TCP options, one byte a cycle.
//!
//! | port | direction | meaning |
//! |---|---|---|
//! | start | in | one pulse: begin with `options`, `option_bytes` |
//! | busy | out | still walking |
//! | found, value | out | TSval of the first timestamp option; hold until the next start |
//!
//! Timing: at most 41 cycles; three for the usual NOP, NOP, timestamp.
//!
//! Invariants:
//! 1. The walk ends at end-of-list, at an option that does not fit, or at the first timestamp of 10
//!    bytes.
//!
//! Source: RFC 9293, 3.1; RFC 7323, 3.2.

use crate::messages::Word32;
use stream::prelude::*;

/// The walk. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Options {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// Begin.
    pub start: Signal<In, Bit>,
    /// The options, first byte in bits 7:0.
    pub options: Signal<In, Bits<320>>,
    /// Their length.
    pub option_bytes: Signal<In, Bits<6>>,

    /// Still walking.
    pub busy: Signal<Out, Bit>,
    /// There is a timestamp.
    pub found: Signal<Out, Bit>,
    /// Its value.
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
        // Bytes of an option behind its first are passed over.
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
            self.skip.d.next = bits::<6>(0);
            self.has_value.d.next = false;
        }
    }
}
