//! The bytes of a beat that lie in a byte range of the frame, one bit each.
//!
//! Timing: `mask` is combinational. Where the next beat lies relative to the range is computed with
//! this one, so that no comparison of beat numbers is in the path to the mask.
//!
//! Invariants:
//! 1. Bit i is set exactly if byte `64 x beat + i` lies in `range_start..range_stop`, for the beats
//!    of a frame in order and a range that stays the same within the frame.

use stream::prelude::*;

/// The mask. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RangeMask {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,
    /// There is a beat.
    pub valid: Signal<In, Bit>,
    /// The beat is the first of its frame.
    pub first: Signal<In, Bit>,
    /// Offset of the range's first byte in the frame.
    pub range_start: Signal<In, Bits<8>>,
    /// Offset of the first byte after the range.
    pub range_stop: Signal<In, Bits<17>>,
    /// Bytes of the beat that lie in the range, one bit each.
    pub mask: Signal<Out, Bits<64>>,

    after: DFF<Bits<11>>,
    starts_next: DFF<Bit>,
    started: DFF<Bit>,
    ends_next: DFF<Bit>,
    ended: DFF<Bit>,

    index_after: Signal<Local, Bits<11>>,
    start_beat: Signal<Local, Bits<11>>,
    stop_beat: Signal<Local, Bits<11>>,
    is_at_start: Signal<Local, Bit>,
    is_behind_start: Signal<Local, Bit>,
    is_at_stop: Signal<Local, Bit>,
    is_behind_stop: Signal<Local, Bit>,
    begun: Signal<Local, Bits<64>>,
    stopped: Signal<Local, Bits<64>>,
    #[value(1)]
    second: Constant<Bits<11>>,
    #[value(Bits::<64>::mask())]
    ones: Constant<Bits<64>>,
}

impl Logic for RangeMask {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, after, starts_next, started, ends_next, ended);
        self.start_beat.next = bit_cast::<11, 2>(self.range_start.val().get_bits::<2>(6));
        self.stop_beat.next = self.range_stop.val().get_bits::<11>(6);

        // Where the next beat lies.
        self.index_after.next = self.after.q.val();
        if self.first.val() {
            self.index_after.next = self.second.val();
        }
        if self.valid.val() {
            self.after.d.next = self.index_after.val() + 1;
            self.starts_next.d.next = self.index_after.val() == self.start_beat.val();
            self.started.d.next = self.index_after.val() > self.start_beat.val();
            self.ends_next.d.next = self.index_after.val() == self.stop_beat.val();
            self.ended.d.next = self.index_after.val() > self.stop_beat.val();
        }
        self.is_at_start.next = self.starts_next.q.val();
        self.is_behind_start.next = self.started.q.val();
        self.is_at_stop.next = self.ends_next.q.val();
        self.is_behind_stop.next = self.ended.q.val();
        if self.first.val() {
            self.is_at_start.next = !self.start_beat.val().any();
            self.is_behind_start.next = false;
            self.is_at_stop.next = !self.stop_beat.val().any();
            self.is_behind_stop.next = false;
        }

        // Bytes from the start on, less those from the stop on.
        self.begun.next = 0.into();
        if self.is_at_start.val() {
            self.begun.next = self.ones.val() << self.range_start.val().get_bits::<6>(0);
        } else if self.is_behind_start.val() {
            self.begun.next = self.ones.val();
        }
        self.stopped.next = 0.into();
        if self.is_at_stop.val() {
            self.stopped.next = self.ones.val() << self.range_stop.val().get_bits::<6>(0);
        } else if self.is_behind_stop.val() {
            self.stopped.next = self.ones.val();
        }
        self.mask.next = self.begun.val() & !self.stopped.val();
    }
}
