//! What a device loads at power-up.
//!
//! ```text
//!   address 0: the golden image ─► jump to the slot ─► sync word? ─► every byte right? ─► image
//!                    ▲                                     └─ no ──────────┴─ no ─┐
//!                    └──────────────── loaded instead, its jump ignored ◄─────────┘
//! ```
//! The device knows bytes by their CRC, this model by comparison with the images there are. Of two
//! chips the head of an image is in the first one; behind it, each byte is spread over both.
//!
//! Source: UG570, chapter 11 (multiboot, fallback, watchdog).

use abi::image::SYNC_WORD;

use crate::flash_chip::FlashChip;

/// Bytes behind the start of the slot in which the device finds a sync word before its watchdog
/// ends the search, at the rate of configuration more than any image has.
const SEARCH_BYTES: u32 = 4 << 20;
/// Where the second sync word of an image for two chips is, behind the first one.
const AGAIN_BYTES: u32 = 0x20;
/// Bytes before that second one in which the bus becomes eight lines wide.
const WIDE_BYTES: u32 = 8;

/// What has been loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Booted {
    /// The golden image.
    Golden,
    /// The image of the slot, by its number among those that there are.
    Image(usize),
    /// None: the device is dead until somebody comes with a cable.
    None,
}

/// Loads an image: `golden` is what the first chip must have at address 0, `slot` the slot in each
/// chip, `images` the data of those that were written.
pub fn boot(chips: &[FlashChip], golden: &[u8], slot: u32, images: &[&[u8]]) -> Booted {
    let is_golden =
        chips.first().is_some_and(|chip| chip.read_range(0, golden.len() as u32) == golden);
    if !is_golden {
        return Booted::None;
    }
    match load(chips, slot, images) {
        Some(image) => Booted::Image(image),
        None => Booted::Golden,
    }
}

/// The image that the device finds behind `slot`.
fn load(chips: &[FlashChip], slot: u32, images: &[&[u8]]) -> Option<usize> {
    let first = chips.first()?;
    let is_sync = |at: u32| first.read_range(at, 4) == SYNC_WORD.to_be_bytes();
    // What is erased holds none; a word may begin in the block before.
    let blocks = first.used_blocks().into_iter();
    let mut places = blocks.flat_map(|block| block.saturating_sub(3)..block + 0x1000);
    let sync = places.find(|at| {
        (slot..slot + SEARCH_BYTES).contains(at) && first.read(*at) == 0xaa && is_sync(*at)
    })?;
    images.iter().position(|image| {
        let offset = image.windows(4).position(|word| word == SYNC_WORD.to_be_bytes());
        // Before the sync word the device looks at nothing but the width of the bus.
        let Some(start) = offset.and_then(|offset| sync.checked_sub(offset as u32)) else {
            return false;
        };
        let head = match chips.len() {
            1 => image.len() as u32,
            _ => sync - start + AGAIN_BYTES - WIDE_BYTES,
        };
        (0..).zip(*image).all(|(place, byte): (u32, &u8)| {
            let found = match place.checked_sub(head) {
                None => first.read(start + place),
                Some(behind) => spread(chips, start + head, behind),
            };
            found == *byte
        })
    })
}

/// Byte number `place` behind `start` of what is spread over two chips.
fn spread(chips: &[FlashChip], start: u32, place: u32) -> u8 {
    // The upper half of a chip's byte is sent first.
    let shift = if place.is_multiple_of(2) { 4 } else { 0 };
    let half = |chip: &FlashChip| chip.read(start + place / 2) >> shift & 0x0f;
    chips.iter().rev().fold(0, |byte, chip| byte << 4 | half(chip))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(kind: u8) -> Vec<u8> {
        let mut image = vec![0xff; 0x50];
        image.extend(SYNC_WORD.to_be_bytes());
        image.extend([kind; 0x1c]);
        image.extend(SYNC_WORD.to_be_bytes());
        image.extend((0..200u8).map(|byte| byte ^ kind));
        image
    }

    #[test]
    fn whole_image_loads_otherwise_golden_one() {
        let (golden, slot) = ([0x5a; 64], 0x10_0000);
        let mut chip = FlashChip::new(16 << 20);
        chip.write_initial(0, &golden);
        let (old, new) = (image(1), image(2));
        let images = [&old[..], &new];
        let booted = |chip: &FlashChip| boot(std::slice::from_ref(chip), &golden, slot, &images);
        assert_eq!(booted(&chip), Booted::Golden);
        chip.write_initial(slot + 256, &new);
        assert_eq!(booted(&chip), Booted::Image(1));
        let mut wrong = chip.clone();
        wrong.write_initial(slot + 256 + new.len() as u32 - 1, &[0]);
        assert_eq!(booted(&wrong), Booted::Golden);
        // No sync word where it was, but one further on.
        wrong.write_initial(slot + 256 + 0x50, &[0xff]);
        assert_eq!(booted(&wrong), Booted::Golden);
        chip.write_initial(63, &[0]);
        assert_eq!(booted(&chip), Booted::None);
    }

    #[test]
    fn two_chips_are_read_after_head() {
        let (golden, slot, old) = ([0x5a; 64], 0x10_0000, image(1));
        let mut chips = vec![FlashChip::new(16 << 20); 2];
        chips[0].write_initial(0, &golden);
        chips[0].write_initial(slot + 256, &old[..0x68]);
        for (pair, at) in old[0x68..].chunks(2).zip(slot + 256 + 0x68..) {
            let (high, low) = (pair[0], pair[1]);
            chips[0].write_initial(at, &[high << 4 | (low & 15)]);
            chips[1].write_initial(at, &[(high & 0xf0) | low >> 4]);
        }
        let booted = |chips: &[FlashChip]| boot(chips, &golden, slot, &[&old]);
        assert_eq!(booted(&chips), Booted::Image(0));
        chips[1].write_initial(slot + 256 + 0x70, &[0xee]);
        assert_eq!(booted(&chips), Booted::Golden);
    }
}
