//! Configuration data of an UltraScale+ device, as far as they say what device they are for.
//!
//! ```text
//!   ff .. ff   000000bb 11220044   ff .. ff   aa995566   ...   30018001 IDCODE   ...
//!              width of the bus               sync word        write of register 12
//! ```
//! Source: UG570, chapter 9.

use abi::image::SYNC_WORD;

/// Where the sync word must begin, bytes from the start.
pub(super) const SYNC_WITHIN_BYTES: usize = 4096;

/// Words behind the sync word in which the first IDCODE must be.
const IDCODE_WITHIN_WORDS: usize = 1024;

/// Packet that writes one word into the register IDCODE.
const WRITE_IDCODE: u32 = 0x3001_8001;

/// Bits of an IDCODE that number the revision of the silicon.
pub const IDCODE_REVISION: u32 = 0xf000_0000;

/// Where the sync word begins, bytes from the start of the data.
pub fn sync_offset_bytes(data: &[u8]) -> Option<usize> {
    let head = &data[..data.len().min(SYNC_WITHIN_BYTES)];
    head.windows(4).position(|word| word == SYNC_WORD.to_be_bytes())
}

/// The IDCODE that the device checks before it takes the data; `None` where they do not say it near
/// their start.
pub fn idcode(data: &[u8]) -> Option<u32> {
    let from = sync_offset_bytes(data)? + 4;
    let words = data[from..].chunks_exact(4).take(IDCODE_WITHIN_WORDS);
    let words = words.filter_map(|word| word.try_into().ok());
    let mut words = words.map(u32::from_be_bytes);
    words.find(|word| *word == WRITE_IDCODE)?;
    words.next()
}

/// Whether two parts are one device in one package: speed grade and temperature range, behind the
/// second `-`, make no other image.
pub fn same_device(part: &str, other: &str) -> bool {
    let device = |part: &str| {
        let mut words = part.split('-').map(str::to_ascii_lowercase);
        (words.next(), words.next())
    };
    device(part) == device(other)
}
