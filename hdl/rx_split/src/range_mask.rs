//! The bytes of a beat that lie in a byte range of the frame, as a mask over the beat's bits.
//!
//! Timing: combinational.
//!
//! Invariants:
//! 1. Bit i is set exactly if byte `64 x beat + i / 8` lies in `range_start..range_stop`.

use stream::prelude::*;

/// The mask. See the module's head.
#[derive(LogicBlock)]
pub struct RangeMask {
    /// Number of the beat in its frame.
    pub beat: Signal<In, Bits<8>>,
    /// First byte of the range.
    pub range_start: Signal<In, Bits<8>>,
    /// First byte behind the range.
    pub range_stop: Signal<In, Bits<17>>,
    /// The mask.
    pub mask: Signal<Out, Bits<512>>,

    index: Signal<Local, Bits<11>>,
    start_beat: Signal<Local, Bits<11>>,
    stop_beat: Signal<Local, Bits<11>>,
    start_shift: Signal<Local, Bits<9>>,
    stop_shift: Signal<Local, Bits<9>>,
    start_mask: Signal<Local, Bits<512>>,
    stop_mask_inverse: Signal<Local, Bits<512>>,
    stop_mask: Signal<Local, Bits<512>>,
    ones: Constant<Bits<512>>,
    zeros: Constant<Bits<512>>,
}

impl Default for RangeMask {
    fn default() -> Self {
        Self {
            beat: Default::default(),
            range_start: Default::default(),
            range_stop: Default::default(),
            mask: Default::default(),
            index: Default::default(),
            start_beat: Default::default(),
            stop_beat: Default::default(),
            start_shift: Default::default(),
            stop_shift: Default::default(),
            start_mask: Default::default(),
            stop_mask_inverse: Default::default(),
            stop_mask: Default::default(),
            ones: Constant::new(!Bits::<512>::from(0)),
            zeros: Constant::new(0u64.to_bits()),
        }
    }
}

impl Logic for RangeMask {
    #[hdl_gen]
    fn update(&mut self) {
        // All ones between the range's first and last beat, cut in those two.
        self.index.next = bit_cast::<11, 8>(self.beat.val());
        self.start_beat.next = bit_cast::<11, 2>(self.range_start.val().get_bits::<2>(6));
        self.stop_beat.next = self.range_stop.val().get_bits::<11>(6);
        self.start_shift.next = bit_cast::<9, 6>(self.range_start.val().get_bits::<6>(0)) << 3;
        self.stop_shift.next = bit_cast::<9, 6>(self.range_stop.val().get_bits::<6>(0)) << 3;
        self.start_mask.next = self.ones.val();
        if self.index.val() == self.start_beat.val() {
            self.start_mask.next = self.ones.val() << self.start_shift.val();
        } else if self.index.val() < self.start_beat.val() {
            self.start_mask.next = self.zeros.val();
        }
        self.stop_mask_inverse.next = self.zeros.val();
        if self.index.val() == self.stop_beat.val() {
            self.stop_mask_inverse.next = self.ones.val() << self.stop_shift.val();
        } else if self.index.val() > self.stop_beat.val() {
            self.stop_mask_inverse.next = self.ones.val();
        }
        self.stop_mask.next = !self.stop_mask_inverse.val();
        self.mask.next = self.start_mask.val() & self.stop_mask.val();
    }
}
