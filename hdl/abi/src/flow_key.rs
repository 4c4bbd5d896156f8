//! The key that the flow table matches exactly, and its keyed hashes.
//!
//! A key is 48 bytes, taken from the packet in wire order, so that host and parser cannot disagree
//! about endianness.

/// Bytes of a key.
pub const KEY_BYTES: usize = 48;
/// Remote (source) address; IPv4 in the first 4 bytes, the rest zero.
pub const REMOTE_ADDRESS: core::ops::Range<usize> = 0..16;
/// Local (destination) address; IPv4 in the first 4 bytes, the rest zero.
pub const LOCAL_ADDRESS: core::ops::Range<usize> = 16..32;
/// Remote (source) port as on the wire.
pub const REMOTE_PORT: core::ops::Range<usize> = 32..34;
/// Local (destination) port as on the wire.
pub const LOCAL_PORT: core::ops::Range<usize> = 34..36;
/// IP protocol number.
pub const PROTOCOL: usize = 36;
/// IP version (4 or 6) in the lower nibble, header profile in the upper.
pub const FAMILY_PROFILE: usize = 37;
/// Message key of the header profile, zero if the profile has none.
pub const MESSAGE_KEY: core::ops::Range<usize> = 38..46;

/// Bits of one bank's hash secret: a window as long as the key for each of 16 hash bits.
pub const SECRET_BITS: usize = KEY_BYTES * 8 + 16;
/// 32-bit words of one bank's hash secret, least significant first; the last is half used.
pub const SECRET_WORDS: usize = SECRET_BITS.div_ceil(32);

/// Toeplitz hash: bit `i` is the parity of the key under the secret shifted right by `i`.
///
/// `key` bit 0 is bit 0 of byte 0. The bucket is the low `bucket_bits` of the result.
pub fn hash(key: &[u8; KEY_BYTES], secret: &[u32; SECRET_WORDS]) -> u16 {
    let secret_bit = |at: usize| (secret[at / 32] >> (at % 32)) & 1;
    let mut hash = 0u16;
    for i in 0..16 {
        let mut parity = 0;
        for at in 0..KEY_BYTES * 8 {
            parity ^= u32::from((key[at / 8] >> (at % 8)) & 1) & secret_bit(at + i);
        }
        hash |= (parity as u16) << i;
    }
    hash
}
