//! Header profiles: where a protocol over UDP has its position and message key.

use abi::config::PROFILES;
use abi::field::Field;
use abi::profile as field;

use super::size::SizeError;

/// Longest transport header after UDP, bytes.
const HEADER_BYTES_MAX: u64 = 64;
/// Longest position field, bytes.
const POSITION_BYTES_MAX: u64 = 4;
/// Longest message key, bytes.
const KEY_BYTES_MAX: u64 = 8;

/// A protocol over UDP, selected by its destination port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Destination port.
    pub port: u16,
    /// Bytes of the header after UDP; payload follows it.
    pub header_bytes: u8,
    /// Offset and bytes of the big-endian position field in that header.
    pub position: (u8, u8),
    /// Offset and bytes of the message key, which becomes part of the flow key; 0 bytes for none.
    pub message_key: (u8, u8),
}

impl Profile {
    /// The two words of profile register `number`.
    pub fn words(&self, number: u8) -> Result<[u32; 2], SizeError> {
        let header_bytes = u64::from(self.header_bytes);
        let (position, position_bytes) = (u64::from(self.position.0), u64::from(self.position.1));
        let (key, key_bytes) = (u64::from(self.message_key.0), u64::from(self.message_key.1));
        within("profile", number.into(), 1, PROFILES as u64 - 1)?;
        within("profile header_bytes", header_bytes, 1, HEADER_BYTES_MAX)?;
        within("profile position_bytes", position_bytes, 1, POSITION_BYTES_MAX)?;
        within("profile position end", position + position_bytes, 1, header_bytes)?;
        within("profile message_key_bytes", key_bytes, 0, KEY_BYTES_MAX)?;
        within("profile message key end", key + key_bytes, 0, header_bytes)?;
        let word = |fields: &[(Field, u64)]| {
            let mut record = [0; 8];
            fields.iter().for_each(|(at, value)| at.set(&mut record, *value));
            u32::from_le_bytes([record[0], record[1], record[2], record[3]])
        };
        Ok([
            word(&[(field::PORT, self.port.into()), (field::ENABLE, 1)]),
            word(&[
                (field::HEADER_BYTES, header_bytes),
                (field::POSITION_OFFSET, position),
                (field::POSITION_BYTES, position_bytes),
                (field::MESSAGE_KEY_OFFSET, key),
                (field::MESSAGE_KEY_BYTES, key_bytes),
            ]),
        ])
    }
}

fn within(name: &'static str, value: u64, min: u64, max: u64) -> Result<(), SizeError> {
    match (min..=max).contains(&value) {
        true => Ok(()),
        false => Err(SizeError { name, value, min, max }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Profile =
        Profile { port: 7700, header_bytes: 20, position: (8, 4), message_key: (0, 8) };

    #[test]
    fn words_hold_every_field() {
        let words = GOOD.words(1).unwrap();
        assert_eq!(words[0], 1 << 16 | 7700);
        assert_eq!(words[1], 20 | 8 << 8 | 4 << 16 | 8 << 26);
    }

    #[test]
    fn oversized_profile_is_refused_with_number() {
        let refused = |profile: Profile, number| match profile.words(number) {
            Err(SizeError { name, value, .. }) => (name, value),
            other => panic!("{other:?}"),
        };
        assert_eq!(refused(GOOD, 0), ("profile", 0));
        assert_eq!(refused(GOOD, 4), ("profile", 4));
        let header_bytes = 65;
        let long = Profile { header_bytes, ..GOOD };
        assert_eq!(refused(long, 1), ("profile header_bytes", 65));
        let position = (17, 4);
        let outside = Profile { position, ..GOOD };
        assert_eq!(refused(outside, 1), ("profile position end", 21));
        let message_key = (0, 9);
        let wide = Profile { message_key, ..GOOD };
        assert_eq!(refused(wide, 1), ("profile message_key_bytes", 9));
    }
}
