//! The bytes of a beat that lie in a byte range of the frame, one bit each.
//!
//! Timing: combinational.
//!
//! Invariants:
//! 1. Bit i is set exactly if byte `64 x beat + i` lies in `range_start..range_stop`.

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
    pub mask: Signal<Out, Bits<64>>,

    index: Signal<Local, Bits<11>>,
    start_beat: Signal<Local, Bits<11>>,
    stop_beat: Signal<Local, Bits<11>>,
    started: Signal<Local, Bits<64>>,
    stopped: Signal<Local, Bits<64>>,
    ones: Constant<Bits<64>>,
    zeros: Constant<Bits<64>>,
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
            started: Default::default(),
            stopped: Default::default(),
            ones: Constant::new(Bits::<64>::mask()),
            zeros: Constant::new(Bits::default()),
        }
    }
}

impl Logic for RangeMask {
    #[hdl_gen]
    fn update(&mut self) {
        // Bytes behind the start, less those behind the stop.
        self.index.next = bit_cast::<11, 8>(self.beat.val());
        self.start_beat.next = bit_cast::<11, 2>(self.range_start.val().get_bits::<2>(6));
        self.stop_beat.next = self.range_stop.val().get_bits::<11>(6);
        self.started.next = self.zeros.val();
        if self.index.val() == self.start_beat.val() {
            self.started.next = self.ones.val() << self.range_start.val().get_bits::<6>(0);
        } else if self.index.val() > self.start_beat.val() {
            self.started.next = self.ones.val();
        }
        self.stopped.next = self.zeros.val();
        if self.index.val() == self.stop_beat.val() {
            self.stopped.next = self.ones.val() << self.range_stop.val().get_bits::<6>(0);
        } else if self.index.val() > self.stop_beat.val() {
            self.stopped.next = self.ones.val();
        }
        self.mask.next = self.started.val() & !self.stopped.val();
    }
}
