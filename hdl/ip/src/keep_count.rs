//! Counts the bytes that an AXI4-Stream keep mask marks, in two levels of logic behind a port.
//!
//! The mask is contiguous from bit 0. Of n such bits, n / 2^b stand at the places 2^b - 1,
//! 2 x 2^b - 1, ...: bit b of n is the parity of the mask there. Up to 36 places are two levels;
//! bit 0 has 64, so its halves stay apart. For any other mask the result is undefined.
//!
//! Timing: combinational.

use stream::prelude::*;

/// Groups of places whose parity is one level.
const GROUPS: usize = 6;
/// Parities: of bits 0 to 6 of the count, and of the upper half of bit 0.
const PARITIES: usize = 8;

/// Of parity and group, `parity + PARITIES * group`: the places of the mask.
fn places(index: usize) -> u64 {
    let (parity, group) = (index % PARITIES, index / PARITIES);
    let is_of = |place: &u64| match parity {
        0 => *place < 32,
        bit if bit < PARITIES - 1 => (place + 1).is_multiple_of(1 << bit),
        _ => *place >= 32,
    };
    let chosen = (0..64).filter(is_of).skip(group * GROUPS).take(GROUPS);
    chosen.fold(0, |mask, place| mask | 1 << place)
}

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct KeepCount {
    /// Keep mask, contiguous from bit 0.
    pub keep: Signal<In, Bits<64>>,
    /// Number of bytes that the mask marks, 0 to 64; bit 0 is wrong if `is_flipped`.
    pub byte_count: Signal<Out, Bits<7>>,
    /// The upper half of the mask marks an odd number of bytes.
    pub is_flipped: Signal<Out, Bit>,

    parts: [Signal<Local, Bit>; 48],
    odd: [Signal<Local, Bit>; 8],
    #[value(places)]
    sets: [Constant<Bits<64>>; 48],
}

impl Logic for KeepCount {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..48 {
            self.parts[i].next = (self.keep.val() & self.sets[i].val()).xor();
        }
        for i in 0..8 {
            self.odd[i].next = self.parts[i].val()
                ^ self.parts[i + 8].val()
                ^ self.parts[i + 16].val()
                ^ self.parts[i + 24].val()
                ^ self.parts[i + 32].val()
                ^ self.parts[i + 40].val();
        }
        self.byte_count.next = bit_cast::<7, 1>(self.odd[0].val().into())
            | (bit_cast::<7, 1>(self.odd[1].val().into()) << 1)
            | (bit_cast::<7, 1>(self.odd[2].val().into()) << 2)
            | (bit_cast::<7, 1>(self.odd[3].val().into()) << 3)
            | (bit_cast::<7, 1>(self.odd[4].val().into()) << 4)
            | (bit_cast::<7, 1>(self.odd[5].val().into()) << 5)
            | (bit_cast::<7, 1>(self.odd[6].val().into()) << 6);
        self.is_flipped.next = self.odd[7].val();
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
            let flipped = usize::from(block.is_flipped.val());
            assert_eq!(block.byte_count.val().index() ^ flipped, count as usize);
        }
    }
}
