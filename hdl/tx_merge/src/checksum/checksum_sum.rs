//! Sums the 16-bit words of a frame's beats.
//!
//! ```text
//!  words ──► register ──► 8 sums of 4 ──► 1 sum of 8 ──► accumulate ──► sum, sum_valid
//! ```
//! Timing: one beat per cycle; the sum of a frame comes four cycles after its last beat. All
//! outputs are registers.
//!
//! Invariants:
//! 1. Words are taken with their first byte low: a one's complement sum does not depend on the byte
//!    order (RFC 1071).

use stream::prelude::*;

/// The adder. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ChecksumSum {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops the beats under way and starts the sum at 0.
    pub reset: Signal<In, Bit>,
    /// A beat is there.
    pub valid: Signal<In, Bit>,
    /// Bytes of the beat.
    pub data: Signal<In, Bits<512>>,
    /// Bytes of the beat that are summed, one bit each.
    pub keep: Signal<In, Bits<64>>,
    /// The beat is its frame's last.
    pub last: Signal<In, Bit>,
    /// The sum of a frame is there, for one cycle.
    pub sum_valid: Signal<Out, Bit>,
    /// Sum of the frame's words, with all carries.
    pub sum: Signal<Out, Bits<32>>,

    words: MaskedBeat,
    part_0: DFF<Bits<18>>,
    part_1: DFF<Bits<18>>,
    part_2: DFF<Bits<18>>,
    part_3: DFF<Bits<18>>,
    part_4: DFF<Bits<18>>,
    part_5: DFF<Bits<18>>,
    part_6: DFF<Bits<18>>,
    part_7: DFF<Bits<18>>,
    total: DFF<Bits<21>>,
    kept: DFF<Bits<32>>,
    result: DFF<Bits<32>>,
    result_valid: DFF<Bit>,
    words_valid: DFF<Bit>,
    parts_valid: DFF<Bit>,
    total_valid: DFF<Bit>,
    words_last: DFF<Bit>,
    parts_last: DFF<Bit>,
    total_last: DFF<Bit>,

    with_total: Signal<Local, Bits<32>>,
}

impl Logic for ChecksumSum {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, part_0, part_1, part_2, part_3, part_4, part_5, part_6, part_7);
        dff_setup!(self, clock, total, kept, result, result_valid);
        dff_setup!(self, clock, words_valid, parts_valid, total_valid);
        dff_setup!(self, clock, words_last, parts_last, total_last);
        clock!(self, clock, words);
        self.words.step.next = true;
        self.words.data.next = self.data.val();
        self.words.keep.next = self.keep.val();
        self.part_0.d.next = bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(0))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(16))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(32))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(48));
        self.part_1.d.next = bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(64))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(80))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(96))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(112));
        self.part_2.d.next = bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(128))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(144))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(160))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(176));
        self.part_3.d.next = bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(192))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(208))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(224))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(240));
        self.part_4.d.next = bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(256))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(272))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(288))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(304));
        self.part_5.d.next = bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(320))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(336))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(352))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(368));
        self.part_6.d.next = bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(384))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(400))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(416))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(432));
        self.part_7.d.next = bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(448))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(464))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(480))
            + bit_cast::<18, 16>(self.words.result.val().get_bits::<16>(496));
        self.total.d.next = bit_cast::<21, 18>(self.part_0.q.val())
            + bit_cast::<21, 18>(self.part_1.q.val())
            + bit_cast::<21, 18>(self.part_2.q.val())
            + bit_cast::<21, 18>(self.part_3.q.val())
            + bit_cast::<21, 18>(self.part_4.q.val())
            + bit_cast::<21, 18>(self.part_5.q.val())
            + bit_cast::<21, 18>(self.part_6.q.val())
            + bit_cast::<21, 18>(self.part_7.q.val());

        self.words_valid.d.next = self.valid.val() & !self.reset.val();
        self.words_last.d.next = self.last.val();
        self.parts_valid.d.next = self.words_valid.q.val() & !self.reset.val();
        self.parts_last.d.next = self.words_last.q.val();
        self.total_valid.d.next = self.parts_valid.q.val() & !self.reset.val();
        self.total_last.d.next = self.parts_last.q.val();

        self.with_total.next = self.kept.q.val() + bit_cast::<32, 21>(self.total.q.val());
        self.result.d.next = self.with_total.val();
        self.result_valid.d.next =
            self.total_valid.q.val() & self.total_last.q.val() & !self.reset.val();
        if self.total_valid.q.val() {
            self.kept.d.next = self.with_total.val();
        }
        if self.reset.val() | (self.total_valid.q.val() & self.total_last.q.val()) {
            self.kept.d.next = 0.into();
        }
        self.sum_valid.next = self.result_valid.q.val();
        self.sum.next = self.result.q.val();
    }
}
