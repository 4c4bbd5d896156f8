//! The Internet checksum (RFC 1071) with the pseudo headers of RFC 9293 and RFC 8200.

/// Ones' complement sum of 16-bit big-endian words; an odd last byte is padded with zero.
pub fn sum(bytes: &[u8]) -> u32 {
    // Words of 32 bits fold to the same sum (RFC 1071, 2 B), and frames are long.
    let (quads, rest) = bytes.as_chunks::<4>();
    let mut total: u64 = quads.iter().map(|quad| u64::from(u32::from_be_bytes(*quad))).sum();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    total += u64::from(u32::from_be_bytes(last));
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    total as u32
}

/// Folds a sum of sums to 16 bits.
pub fn fold(mut total: u32) -> u16 {
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    total as u16
}

/// Sum of the pseudo header: both addresses (4 or 16 bytes each), protocol, length of header and
/// payload.
pub fn pseudo_header(addresses: &[u8], protocol: u8, l4_bytes: usize) -> u32 {
    sum(addresses) + u32::from(protocol) + (l4_bytes as u32 >> 16) + (l4_bytes as u32 & 0xffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn example_of_rfc_1071() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(fold(sum(&bytes)), 0xddf2);
    }

    #[test]
    fn odd_last_byte_is_upper() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4];
        assert_eq!(fold(sum(&bytes)), 0xe605);
        assert_eq!(fold(sum(&bytes[..1])), 0);
        assert_eq!(fold(sum(&bytes[4..])), 0xf400);
    }

    #[test]
    fn every_length_is_the_sum_of_its_words() {
        let bytes: Vec<u8> = (0..100u8).map(|at| at.wrapping_mul(151) ^ 0xa5).collect();
        for length in 0..=bytes.len() {
            let word =
                |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
            let words: u32 = bytes[..length].chunks(2).map(word).sum();
            assert_eq!(sum(&bytes[..length]), u32::from(fold(words)), "{length} bytes");
        }
        assert_eq!(sum(&[0xff; 9000]), 0xffff);
        assert_eq!(sum(&[0; 9000]), 0);
    }
}
