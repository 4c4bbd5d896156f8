//! A named bit range of a little-endian record.

/// A field of a record: bit `offset` from the record's first bit (bit 0 of byte 0), `bits` wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name as it appears in the manual.
    pub name: &'static str,
    /// First bit, counted from bit 0 of byte 0.
    pub offset: usize,
    /// Width in bits, 1 to 64.
    pub bits: usize,
    /// Meaning and unit in one sentence.
    pub meaning: &'static str,
}

impl Field {
    /// Defines a field; checked at build to be at most 64 bits.
    pub const fn new(
        name: &'static str,
        offset: usize,
        bits: usize,
        meaning: &'static str,
    ) -> Self {
        assert!(bits >= 1 && bits <= 64);
        Field { name, offset, bits, meaning }
    }

    /// Largest value that fits.
    pub const fn max(&self) -> u64 {
        if self.bits == 64 {
            u64::MAX
        } else {
            (1 << self.bits) - 1
        }
    }

    /// The bytes of a record that hold the field: nine at most.
    #[inline]
    const fn bytes(&self) -> core::ops::Range<usize> {
        self.offset / 8..(self.offset + self.bits).div_ceil(8)
    }

    /// Reads the field. Panics when the record is too short for it.
    #[inline]
    pub fn get(&self, record: &[u8]) -> u64 {
        let word = word(&record[self.bytes()]);
        (word >> (self.offset % 8)) as u64 & self.max()
    }

    /// Writes the field, leaving its neighbours alone. Panics when `value` does not fit: a caller
    /// that takes values from outside checks them against [`Field::max`] first.
    #[inline]
    pub fn set(&self, record: &mut [u8], value: u64) {
        if value > self.max() {
            self.refuse(value);
        }
        let bytes = &mut record[self.bytes()];
        let shift = self.offset % 8;
        let others = word(bytes) & !(u128::from(self.max()) << shift);
        let word = others | u128::from(value) << shift;
        bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
    }

    /// Writes the field of a record of words, the least significant first, in which its bits are 0:
    /// a record whose fields are all known needs no memory before it is whole. Panics when `value`
    /// does not fit, or the record is too short.
    #[inline]
    pub fn place(&self, words: &mut [u64], value: u64) {
        if value > self.max() {
            self.refuse(value);
        }
        let (first, shift) = (self.offset / 64, self.offset % 64);
        words[first] |= value << shift;
        if shift + self.bits > 64 {
            words[first + 1] |= value >> (64 - shift);
        }
    }

    #[cold]
    fn refuse(&self, value: u64) -> ! {
        panic!("{}: {value:#x} needs more than {} bits", self.name, self.bits);
    }
}

/// The number that up to 16 bytes hold, the least significant first.
#[inline]
fn word(bytes: &[u8]) -> u128 {
    let mut word = [0; 16];
    word[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_then_get_touches_nothing_else() {
        let field = Field::new("probe", 13, 37, "");
        let mut record = [0xffu8; 8];
        field.set(&mut record, 0x0a_5a5a_5a5a & field.max());
        assert_eq!(field.get(&record), 0x0a_5a5a_5a5a & field.max());
        field.set(&mut record, field.max());
        assert_eq!(record, [0xff; 8]);
    }

    /// The definition, bit by bit.
    fn set_bits(field: &Field, record: &mut [u8], value: u64) {
        for bit in 0..field.bits {
            let at = field.offset + bit;
            let mask = 1u8 << (at % 8);
            match (value >> bit) & 1 {
                1 => record[at / 8] |= mask,
                _ => record[at / 8] &= !mask,
            }
        }
    }

    /// The definition, bit by bit.
    fn get_bits(field: &Field, record: &[u8]) -> u64 {
        (0..field.bits).fold(0, |value, bit| {
            let at = field.offset + bit;
            value | u64::from((record[at / 8] >> (at % 8)) & 1) << bit
        })
    }

    /// Every width at every place of a record that ends with the field's last byte, with values and
    /// neighbours from a fixed random sequence (xorshift64).
    #[test]
    fn fields_agree_with_bitwise_access() {
        let mut state = 0x1234_5678_9abc_def1u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for (offset, bits) in (0..80).flat_map(|offset| (1..=64).map(move |bits| (offset, bits))) {
            let field = Field::new("probe", offset, bits, "");
            let record: Vec<u8> = (0..(offset + bits).div_ceil(8)).map(|_| next() as u8).collect();
            assert_eq!(field.get(&record), get_bits(&field, &record), "{field:?}");
            for value in [0, next() & field.max(), field.max()] {
                let (mut written, mut expected) = (record.clone(), record.clone());
                field.set(&mut written, value);
                set_bits(&field, &mut expected, value);
                assert_eq!(written, expected, "{field:?} = {value:#x}");
                assert_eq!(field.get(&written), value, "{field:?}");
                let (mut words, mut alone) = ([0; 3], [0; 24]);
                field.place(&mut words, value);
                set_bits(&field, &mut alone, value);
                assert_eq!(words.map(u64::to_le_bytes).as_flattened(), alone, "{field:?}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "probe: 0x8 needs more than 3 bits")]
    fn too_large_value_is_refused() {
        Field::new("probe", 5, 3, "").set(&mut [0; 4], 8);
    }

    #[test]
    #[should_panic(expected = "probe: 0x8 needs more than 3 bits")]
    fn too_large_value_is_not_placed() {
        Field::new("probe", 5, 3, "").place(&mut [0; 1], 8);
    }

    #[test]
    #[should_panic(expected = "out of bounds")]
    fn words_ending_within_field_are_refused() {
        Field::new("probe", 60, 5, "").place(&mut [0; 1], 1);
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn record_ending_within_field_is_unwritten() {
        Field::new("probe", 13, 12, "").set(&mut [0; 3], 1);
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn record_ending_within_field_is_unread() {
        Field::new("probe", 13, 12, "").get(&[0; 3]);
    }
}
