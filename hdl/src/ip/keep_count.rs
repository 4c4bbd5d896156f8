//! Counts the bytes that an AXI4-Stream keep mask marks.
//!
//! Timing: combinational, six steps. The mask is contiguous from bit 0, so it is halved instead of
//! counting ones; of any other mask the result is some count from 0 to 64.

use stream::prelude::*;

/// From `tkeep` of 64 bits to a byte count.
#[derive(LogicBlock, Default)]
pub struct KeepCount {
    /// The mask.
    pub keep: Signal<In, Bits<64>>,
    /// Bytes it marks, 0 to 64.
    pub byte_count: Signal<Out, Bits<7>>,

    keep_32: Signal<Local, Bits<32>>,
    count_32: Signal<Local, Bits<7>>,
    keep_16: Signal<Local, Bits<16>>,
    count_16: Signal<Local, Bits<7>>,
    keep_8: Signal<Local, Bits<8>>,
    count_8: Signal<Local, Bits<7>>,
    keep_4: Signal<Local, Bits<4>>,
    count_4: Signal<Local, Bits<7>>,
    keep_2: Signal<Local, Bits<2>>,
    count_2: Signal<Local, Bits<7>>,
}

impl Logic for KeepCount {
    #[hdl_gen]
    fn update(&mut self) {
        self.keep_32.next = self.keep.val().get_bits::<32>(0);
        self.count_32.next = bits::<7>(0);
        if self.keep.val().get_bit(31) {
            self.keep_32.next = self.keep.val().get_bits::<32>(32);
            self.count_32.next = bits::<7>(32);
        }
        self.keep_16.next = self.keep_32.val().get_bits::<16>(0);
        self.count_16.next = self.count_32.val();
        if self.keep_32.val().get_bit(15) {
            self.keep_16.next = self.keep_32.val().get_bits::<16>(16);
            self.count_16.next = self.count_32.val() | bits::<7>(16);
        }
        self.keep_8.next = self.keep_16.val().get_bits::<8>(0);
        self.count_8.next = self.count_16.val();
        if self.keep_16.val().get_bit(7) {
            self.keep_8.next = self.keep_16.val().get_bits::<8>(8);
            self.count_8.next = self.count_16.val() | bits::<7>(8);
        }
        self.keep_4.next = self.keep_8.val().get_bits::<4>(0);
        self.count_4.next = self.count_8.val();
        if self.keep_8.val().get_bit(3) {
            self.keep_4.next = self.keep_8.val().get_bits::<4>(4);
            self.count_4.next = self.count_8.val() | bits::<7>(4);
        }
        self.keep_2.next = self.keep_4.val().get_bits::<2>(0);
        self.count_2.next = self.count_4.val();
        if self.keep_4.val().get_bit(1) {
            self.keep_2.next = self.keep_4.val().get_bits::<2>(2);
            self.count_2.next = self.count_4.val() | bits::<7>(2);
        }
        self.byte_count.next = self.count_2.val();
        if self.keep.val().get_bit(63) {
            self.byte_count.next = bits::<7>(64);
        } else if self.keep_2.val().get_bit(0) {
            self.byte_count.next = self.count_2.val() | bits::<7>(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contiguous_mask_is_counted() {
        let mut block = KeepCount::default();
        block.connect_all();
        for count in 0..=64_u32 {
            let mask = if count == 64 {
                u64::MAX
            } else {
                (1 << count) - 1
            };
            block.keep.next = mask.into();
            assert!(simulate(&mut block, 10));
            assert_eq!(block.byte_count.val().index(), count as usize);
        }
    }

    #[test]
    fn verilog_is_unambiguous() {
        crate::ports::emit(&mut KeepCount::default(), "keep_count").expect("emits");
    }
}
