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

/// Values of four key bits, and how many fours a key has.
const NIBBLE_VALUES: usize = 16;
const NIBBLES: usize = KEY_BYTES * 2;

/// Toeplitz hash: bit `i` is the parity of the key under the secret shifted right by `i`.
///
/// `key` bit 0 is bit 0 of byte 0. The bucket is the low `bucket_bits` of the result. This is the
/// definition; [`Secret::hash`] is the same, and faster.
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

/// The hash secret of one bank, and what each four bits of a key add to its hashes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret {
    words: [u32; SECRET_WORDS],
    sums: [[u16; NIBBLE_VALUES]; NIBBLES],
}

impl Secret {
    /// A secret as the card's registers hold it.
    pub fn new(words: [u32; SECRET_WORDS]) -> Self {
        let mut sums = [[0; NIBBLE_VALUES]; NIBBLES];
        for (nibble, sums) in sums.iter_mut().enumerate() {
            for value in 1..NIBBLE_VALUES {
                let bit = value.trailing_zeros() as usize;
                sums[value] = sums[value & (value - 1)] ^ window(&words, 4 * nibble + bit);
            }
        }
        Self { words, sums }
    }

    /// The secret as the card's registers hold it.
    pub fn words(&self) -> &[u32; SECRET_WORDS] {
        &self.words
    }

    /// The hash of a key, as [`hash`] defines it.
    pub fn hash(&self, key: &[u8; KEY_BYTES]) -> u16 {
        let nibbles = key.iter().flat_map(|byte| [byte & 0xf, byte >> 4]);
        self.sums
            .iter()
            .zip(nibbles)
            .fold(0, |hash, (sums, nibble)| hash ^ sums[usize::from(nibble)])
    }
}

impl core::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_tuple("Secret").field(&self.words).finish()
    }
}

/// The 16 bits of a secret that a key bit adds to the hash.
fn window(words: &[u32; SECRET_WORDS], key_bit: usize) -> u16 {
    let at = key_bit / 32;
    let both = u64::from(words[at + 1]) << 32 | u64::from(words[at]);
    (both >> (key_bit % 32)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of a single bit, full keys and random ones, under random secrets (a fixed xorshift64).
    #[test]
    fn secret_hashes_follow_the_definition() {
        let mut state = 0x1234_5678_9abc_def1u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u32
        };
        for _ in 0..4 {
            let words: [u32; SECRET_WORDS] = core::array::from_fn(|_| next());
            let secret = Secret::new(words);
            assert_eq!(secret.words(), &words);
            let single = (0..KEY_BYTES * 8).map(|bit| {
                let mut key = [0; KEY_BYTES];
                key[bit / 8] = 1 << (bit % 8);
                key
            });
            let random = (0..200).map(|_| core::array::from_fn(|_| next() as u8));
            let keys = single.chain([[0; KEY_BYTES], [0xff; KEY_BYTES]]);
            for key in keys.chain(random) {
                assert_eq!(secret.hash(&key), hash(&key, &words), "{key:?}, {words:?}");
            }
        }
    }
}
