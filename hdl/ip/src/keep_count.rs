//! The parities that make the count of bytes which an AXI4-Stream keep mask marks: two levels of
//! logic behind a port.
//!
//! The mask is contiguous from bit 0. Of n such bits, n / 2^b stand at the places 2^b - 1,
//! 2 x 2^b - 1, ...: bit b of n is the parity of the mask there. The parity of 16 places is two
//! levels; bit 0 has four of them and bit 1 two, which are summed behind a register. For any other
//! mask the result is undefined.
//!
//! Timing: combinational.

use stream::prelude::*;

/// Parities: four of bit 0, two of bit 1, one of each bit from 2 to 6.
pub const PARITIES: usize = 11;

/// The places of the mask that belong to a parity.
fn places(index: usize) -> u64 {
    let (bit, part) = match index {
        0..4 => (0, index),
        4..6 => (1, index - 4),
        _ => (index - 4, 0),
    };
    let of_bit = (0..64).filter(|place: &u64| (place + 1).is_multiple_of(1 << bit));
    let chosen = of_bit.skip(16 * part).take(16);
    chosen.fold(0, |mask, place| mask | 1 << place)
}

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct KeepCount {
    /// Keep mask, contiguous from bit 0.
    pub keep: Signal<In, Bits<64>>,
    /// Whether each part of the mask marks an odd number of bytes.
    pub odd: [Signal<Out, Bit>; 11],

    #[value(places)]
    sets: [Constant<Bits<64>>; 11],
}

impl Logic for KeepCount {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..11 {
            self.odd[i].next = (self.keep.val() & self.sets[i].val()).xor();
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
            let odd = |parts: std::ops::Range<usize>| {
                parts.fold(false, |sum, part| sum ^ block.odd[part].val())
            };
            let bits = [odd(0..4), odd(4..6)].into_iter();
            let bits = bits.chain((6..PARITIES).map(|part| odd(part..part + 1)));
            let sum = bits
                .enumerate()
                .map(|(bit, is_set)| u32::from(is_set) << bit);
            assert_eq!(sum.sum::<u32>(), count);
        }
    }
}
