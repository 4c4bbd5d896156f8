//! The bytes of a stream: a function of stream and position, so that any piece of it can be judged
//! without a copy.
//!
//! Byte `p` of a stream is byte `p mod 8` of a mixed 64-bit word with number `p / 8`: two positions
//! of one stream, or one position of two, agree only by chance.

/// The content of one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    key: u64,
}

impl Content {
    /// The content named by a seed and a number.
    pub fn new(seed: u64, stream: u64) -> Self {
        let key = mix(seed ^ mix(stream.wrapping_add(1)));
        Self { key }
    }

    fn word(self, number: u64) -> [u8; 8] {
        mix(self.key.wrapping_add(number)).to_le_bytes()
    }

    /// Writes the bytes from `position` on.
    pub fn fill(self, position: u64, into: &mut [u8]) {
        let (mut number, skip) = (position / 8, (position % 8) as usize);
        let head = into.len().min((8 - skip) % 8);
        let (first, rest) = into.split_at_mut(head);
        if head > 0 {
            first.copy_from_slice(&self.word(number)[skip..skip + head]);
            number += 1;
        }
        for piece in rest.chunks_mut(8) {
            piece.copy_from_slice(&self.word(number)[..piece.len()]);
            number += 1;
        }
    }

    /// The index of the first byte that is not what `position` on should hold.
    pub fn first_wrong(self, position: u64, bytes: &[u8], scratch: &mut Vec<u8>) -> Option<usize> {
        scratch.resize(bytes.len(), 0);
        self.fill(position, scratch);
        if scratch == bytes {
            return None;
        }
        bytes.iter().zip(scratch.iter()).position(|(a, b)| a != b)
    }
}

/// The finaliser of MurmurHash3 (Appleby), over a Weyl sequence.
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}

/// Ones' complement sum of 16-bit big-endian words, not folded; an odd last byte counts as high.
pub fn sum_words(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(4);
    let rest = words.remainder();
    let mut total: u64 =
        words.map(|word| u64::from(u32::from_be_bytes([word[0], word[1], word[2], word[3]]))).sum();
    for (at, byte) in rest.iter().enumerate() {
        total += u64::from(*byte) << (8 * (1 - at % 2));
    }
    total
}

/// Folds a sum to the checksum field's value.
pub fn checksum(mut total: u64) -> u16 {
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    !(total as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_piece_agrees_with_the_whole() {
        let content = Content::new(3, 9);
        let mut whole = [0; 100];
        content.fill(40, &mut whole);
        for start in 0..20 {
            for bytes in 0..40 {
                let mut piece = vec![0; bytes];
                content.fill(40 + start as u64, &mut piece);
                assert_eq!(piece, whole[start..start + bytes], "{start} {bytes}");
            }
        }
    }

    #[test]
    fn one_changed_byte_is_located() {
        let content = Content::new(1, 2);
        let mut bytes = [0; 33];
        content.fill(5, &mut bytes);
        let mut scratch = Vec::new();
        assert_eq!(content.first_wrong(5, &bytes, &mut scratch), None);
        bytes[17] ^= 1;
        assert_eq!(content.first_wrong(5, &bytes, &mut scratch), Some(17));
        // Neither another position nor another stream looks like it.
        bytes[17] ^= 1;
        assert!(content.first_wrong(13, &bytes, &mut scratch).is_some());
        let other = Content::new(1, 3);
        assert!(other.first_wrong(5, &bytes, &mut scratch).is_some());
    }

    #[test]
    fn sums_agree_with_the_golden_checksum() {
        let bytes: Vec<u8> = (0..75u8).map(|b| b.wrapping_mul(37)).collect();
        for length in 0..bytes.len() {
            let golden = golden::checksum::fold(golden::checksum::sum(&bytes[..length]));
            assert_eq!(checksum(sum_words(&bytes[..length])), !golden, "{length}");
        }
    }
}
