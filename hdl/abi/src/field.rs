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
        Field {
            name,
            offset,
            bits,
            meaning,
        }
    }

    /// Largest value that fits.
    pub const fn max(&self) -> u64 {
        if self.bits == 64 {
            u64::MAX
        } else {
            (1 << self.bits) - 1
        }
    }

    /// Reads the field. Panics when the record is too short for it.
    pub fn get(&self, record: &[u8]) -> u64 {
        let mut value = 0u128;
        let first = self.offset / 8;
        let last = (self.offset + self.bits - 1) / 8;
        for index in (first..=last).rev() {
            value = (value << 8) | u128::from(record[index]);
        }
        ((value >> (self.offset % 8)) as u64) & self.max()
    }

    /// Writes the field, leaving its neighbours alone. Panics when `value` does not fit: a caller
    /// that takes values from outside checks them against [`Field::max`] first.
    pub fn set(&self, record: &mut [u8], value: u64) {
        assert!(
            value <= self.max(),
            "{}: {value:#x} needs more than {} bits",
            self.name,
            self.bits
        );
        for bit in 0..self.bits {
            let at = self.offset + bit;
            let mask = 1u8 << (at % 8);
            if (value >> bit) & 1 == 1 {
                record[at / 8] |= mask;
            } else {
                record[at / 8] &= !mask;
            }
        }
    }
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
}
