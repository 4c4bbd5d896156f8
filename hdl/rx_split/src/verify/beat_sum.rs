//! The 16-bit ones' complement sum of a byte range of a frame, beat by beat.
//!
//! ```text
//!  beat ──► mask the range ──► 8 sums of 4 words ──► 2 of 4 ──► accumulate ──► sum
//! ```
//! Words are taken as little endian: the folded sum is the byte-swapped sum of the wire order (RFC
//! 1071, 2 B).
//!
//! Timing: one beat per cycle, latency four cycles, no back-pressure.
//!
//! Invariants:
//! 1. Bytes outside the range count as zero, an odd last byte as the low half of its word.
//! 2. No overflow: 145 beats of 32 words stay below 2^29.
//!
//! Source: RFC 1071.

use crate::messages::RxBeat;
use crate::verify::quarter_sum::QuarterSum;
use crate::verify::range_mask::RangeMask;
use stream::prelude::*;

/// The sum. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct BeatSum {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,

    /// Beats of the frame.
    pub beats: PulseSink<RxBeat>,
    /// Offset of the range's first byte in the frame, with every beat; an even number.
    pub range_start: Signal<In, Bits<8>>,
    /// Offset of the first byte after the range, with every beat.
    pub range_stop: Signal<In, Bits<17>>,
    /// Sum of the range, not folded, four cycles after the frame's last beat.
    pub sum: Signal<Out, Bits<32>>,

    mask: RangeMask,
    masked: MaskedBeat,
    quarter: [QuarterSum; 8],
    total_low: DFF<Bits<21>>,
    total_high: DFF<Bits<21>>,
    accumulator: DFF<Bits<32>>,
    first_1: DFF<Bit>,
    first_2: DFF<Bit>,
    first_3: DFF<Bit>,
    valid_1: DFF<Bit>,
    valid_2: DFF<Bit>,
    valid_3: DFF<Bit>,

    so_far: Signal<Local, Bits<32>>,
    #[value(|word| 16 * word as u64)]
    offsets: [Constant<Bits<9>>; 32],
}

impl Logic for BeatSum {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, total_low, total_high, accumulator);
        dff_setup!(self, clock, first_1, first_2, first_3, valid_1, valid_2, valid_3);
        clock!(self, clock, masked, mask);
        self.sum.next = self.accumulator.q.val();

        self.mask.valid.next = self.beats.valid.val();
        self.mask.first.next = self.beats.payload.val().first;
        self.mask.range_start.next = self.range_start.val();
        self.mask.range_stop.next = self.range_stop.val();
        self.masked.step.next = true;
        self.masked.data.next = self.beats.payload.val().data;
        self.masked.keep.next = self.mask.mask.val();

        // Add.
        for i in 0..8 {
            self.quarter[i].clock.next = self.clock.val();
            self.quarter[i].word_0.next =
                self.masked.result.val().get_bits::<16>(self.offsets[i].val().index());
            self.quarter[i].word_1.next =
                self.masked.result.val().get_bits::<16>(self.offsets[i + 8].val().index());
            self.quarter[i].word_2.next =
                self.masked.result.val().get_bits::<16>(self.offsets[i + 16].val().index());
            self.quarter[i].word_3.next =
                self.masked.result.val().get_bits::<16>(self.offsets[i + 24].val().index());
        }
        self.total_low.d.next = self.quarter[0].sum.val()
            + self.quarter[1].sum.val()
            + self.quarter[2].sum.val()
            + self.quarter[3].sum.val();
        self.total_high.d.next = self.quarter[4].sum.val()
            + self.quarter[5].sum.val()
            + self.quarter[6].sum.val()
            + self.quarter[7].sum.val();

        self.valid_1.d.next = self.beats.valid.val();
        self.valid_2.d.next = self.valid_1.q.val();
        self.valid_3.d.next = self.valid_2.q.val();
        self.first_1.d.next = self.beats.payload.val().first;
        self.first_2.d.next = self.first_1.q.val();
        self.first_3.d.next = self.first_2.q.val();
        self.so_far.next = self.accumulator.q.val();
        if self.first_3.q.val() {
            self.so_far.next = 0.into();
        }
        if self.valid_3.q.val() {
            self.accumulator.d.next = self.so_far.val()
                + bit_cast::<32, 21>(self.total_low.q.val())
                + bit_cast::<32, 21>(self.total_high.q.val());
        }
    }
}
