//! What of an image goes into which flash chip.
//!
//! ```text
//!   one chip    pad, data
//!   two chips   first   pad, head of the data, low halves of the rest
//!               second  pad, 0xff,             high halves of the rest
//!
//!   rest        bytes 2j, 2j + 1 ──► one byte of each chip, 2j in its upper four bits
//! ```
//! A device with two chips reads the head over one line of the first one, up to the command that
//! makes its bus eight lines wide; from there it reads both, four lines each, and looks for the
//! sync word again. The pad is [`SLOT_PAD_BYTES`] in each chip: the address of a jump is that in
//! the chip.
//!
//! Source: UG570, chapter 2 (SPI x8); the layout of Corundum's `utils/mqnic-fw.c`.

use abi::image::{SLOT_PAD_BYTES, SYNC_WORD};
use thiserror::Error;

/// Bytes at the start of the data that lie whole in the first of two chips.
pub const HEAD_BYTES: usize = 0x68;

/// Where data for two chips have their sync word, and have it again.
const SYNC_OFFSETS: [usize; 2] = [0x50, 0x70];

/// Why data do not fit the chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ChipsError {
    /// The data were made for another width of the bus.
    #[error("no sync word at byte 0x{offset:x} of the data: they are not for two chips (SPIx8)")]
    NoSync {
        /// Where it was looked for.
        offset: usize,
    },
    /// Boards have one chip or two.
    #[error("{chips} flash chips, boards have 1 or 2")]
    Count {
        /// How many were asked for.
        chips: u32,
    },
    /// The slot is smaller.
    #[error("{needed} bytes of each chip, the slot has {room}")]
    Large {
        /// Bytes that the image takes in a chip.
        needed: u64,
        /// Bytes of the slot in a chip.
        room: u64,
    },
}

/// The contents of the slot in each chip, from the slot's first byte on; `room` is the bytes of the
/// slot in a chip.
pub fn slot_contents(data: &[u8], chips: u32, room: u64) -> Result<Vec<Vec<u8>>, ChipsError> {
    let pad = vec![0xff; SLOT_PAD_BYTES as usize];
    let contents = match chips {
        1 => vec![[&pad, data].concat()],
        2 => {
            for offset in SYNC_OFFSETS {
                if data.get(offset..offset + 4) != Some(&SYNC_WORD.to_be_bytes()[..]) {
                    return Err(ChipsError::NoSync { offset });
                }
            }
            let (head, rest) = data.split_at(HEAD_BYTES);
            let halves = |shift: u32| {
                let pairs = rest.chunks(2).map(move |pair| {
                    let half = |byte: Option<&u8>| byte.unwrap_or(&0xff) >> shift & 0x0f;
                    half(pair.first()) << 4 | half(pair.get(1))
                });
                pairs.collect::<Vec<u8>>()
            };
            let nothing = [0xff; HEAD_BYTES];
            vec![[&pad, head, &halves(0)].concat(), [&pad, &nothing[..], &halves(4)].concat()]
        }
        _ => return Err(ChipsError::Count { chips }),
    };
    let needed = contents.iter().map(Vec::len).max().unwrap_or(0) as u64;
    if needed > room {
        return Err(ChipsError::Large { needed, room });
    }
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(bytes: usize) -> Vec<u8> {
        let mut data: Vec<u8> = (0..bytes).map(|place| (place * 7) as u8).collect();
        for offset in SYNC_OFFSETS {
            data[offset..offset + 4].copy_from_slice(&SYNC_WORD.to_be_bytes());
        }
        data
    }

    #[test]
    fn one_chip_has_padded_data() {
        let contents = slot_contents(&data(1000), 1, 1256).expect("fits");
        assert_eq!(contents.len(), 1);
        assert!(contents[0][..256].iter().all(|byte| *byte == 0xff));
        assert_eq!(contents[0][256..], data(1000));
    }

    #[test]
    fn two_chips_share_after_head() {
        for bytes in [1000, 1001] {
            let data = data(bytes);
            let contents = slot_contents(&data, 2, 1 << 20).expect("fits");
            let [first, second] = &contents[..] else {
                panic!("{} chips", contents.len());
            };
            assert_eq!(first.len(), 256 + 0x68 + (bytes - 0x68).div_ceil(2));
            assert_eq!(first.len(), second.len());
            assert_eq!(first[256..256 + 0x68], data[..0x68]);
            assert!(second[..256 + 0x68].iter().all(|byte| *byte == 0xff));
            let at = 256 + 0x68 + 100;
            let pair = (data[0x68 + 200], data[0x68 + 201]);
            assert_eq!(first[at], (pair.0 & 15) << 4 | (pair.1 & 15));
            assert_eq!(second[at], pair.0 & 0xf0 | pair.1 >> 4);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let large = ChipsError::Large { needed: 1256, room: 1255 };
        assert_eq!(slot_contents(&data(1000), 1, 1255), Err(large));
        assert_eq!(slot_contents(&data(1000), 3, 1 << 20), Err(ChipsError::Count { chips: 3 }));
        for offset in SYNC_OFFSETS {
            let mut narrow = data(1000);
            narrow[offset] = 0;
            assert_eq!(slot_contents(&narrow, 2, 1 << 20), Err(ChipsError::NoSync { offset }));
        }
    }
}
