//! Positions of a stream, which headers count modulo 2^32, and offsets, which never wrap.
//!
//! ```text
//!   offset    0 ........ near ........ 2^64      (the first byte of the stream is 0)
//!   position  first ... first + near ...         (modulo 2^32)
//! ```
//! A position alone is one of many offsets. It means the one that is nearest to an offset which is
//! known: up to 2^31 before it, or less than 2^31 behind it.

/// How the positions of one direction of a flow are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positions {
    /// Position of the first byte of the stream.
    pub first: u32,
}

impl Positions {
    /// The position of an offset.
    #[inline]
    pub fn of(self, offset: u64) -> u32 {
        self.first.wrapping_add(offset as u32)
    }

    /// The offset of a position near a known one; `None` before the first byte of the stream.
    #[inline]
    pub fn offset(self, position: u32, near: u64) -> Option<u64> {
        near.checked_add_signed(self.distance_from(position, near).into())
    }

    /// How far a position is beyond a known offset; before it less than 0.
    #[inline]
    pub fn distance_from(self, position: u32, near: u64) -> i32 {
        position.wrapping_sub(self.of(near)) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: u64 = 1 << 31;

    #[test]
    fn position_means_the_nearest_offset() {
        for first in [0, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
            let positions = Positions { first };
            for near in [HALF, HALF + 1, (1 << 32) - 1, 1 << 32, (5 << 32) + 17] {
                for offset in [near - HALF, near - 1, near, near + 1, near + HALF - 1] {
                    assert_eq!(positions.offset(positions.of(offset), near), Some(offset));
                }
                let other = positions.offset(positions.of(near + HALF), near);
                assert_eq!(other, Some(near - HALF), "half the circle is before");
            }
        }
    }

    #[test]
    fn nothing_is_before_the_first_byte() {
        let positions = Positions { first: 100 };
        assert_eq!(positions.offset(99, 0), None);
        assert_eq!(positions.offset(99, 1), None);
        assert_eq!(positions.offset(100, 1), Some(0));
        assert_eq!(positions.distance_from(99, 0), -1);
        assert_eq!(positions.distance_from(101, 0), 1);
        assert_eq!(positions.offset(100 + (1 << 31) - 1, 0), Some(HALF - 1));
        assert_eq!(positions.offset(100 + (1 << 31), 0), None);
    }
}
