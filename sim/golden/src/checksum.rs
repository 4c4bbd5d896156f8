//! The Internet checksum (RFC 1071) with the pseudo headers of RFC 9293 and RFC 8200.

/// Ones' complement sum of 16-bit big-endian words; an odd last byte is padded with zero.
pub fn sum(bytes: &[u8]) -> u32 {
    let pairs = bytes.chunks_exact(2);
    let odd = pairs.remainder().first().copied().unwrap_or(0);
    let mut total = u64::from(odd) << 8;
    for pair in pairs {
        total += u64::from(u16::from_be_bytes([pair[0], pair[1]]));
    }
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
}
