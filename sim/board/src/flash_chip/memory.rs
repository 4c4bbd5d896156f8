//! The cells of a flash chip: what was never written is erased and takes no space.
//!
//! ```text
//!   address ──► block of 4 KiB, if anything but 0xff was ever in it ──► byte
//! ```

use ahash::HashMap;
use rand::rngs::SmallRng;
use rand::Rng;

/// Bytes of a block, the smallest unit of an erase.
pub const BLOCK_BYTES: u32 = 4 << 10;
/// Bytes of a sector.
pub const SECTOR_BYTES: u32 = 64 << 10;

/// Cells of a chip.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    blocks: HashMap<u32, Box<[u8]>>,
}

impl Cells {
    /// The byte of an address.
    pub fn read(&self, address: u32) -> u8 {
        let block = self.blocks.get(&(address / BLOCK_BYTES));
        block.map_or(0xff, |block| block[(address % BLOCK_BYTES) as usize])
    }

    /// Replaces the byte of an address.
    pub fn write(&mut self, address: u32, byte: u8) {
        if byte == 0xff && !self.blocks.contains_key(&(address / BLOCK_BYTES)) {
            return;
        }
        let block = self.blocks.entry(address / BLOCK_BYTES);
        let block = block.or_insert_with(|| vec![0xff; BLOCK_BYTES as usize].into());
        block[(address % BLOCK_BYTES) as usize] = byte;
    }

    /// Erases whole blocks.
    pub fn erase(&mut self, address: u32, bytes: u32) {
        let (first, count) = (address / BLOCK_BYTES, bytes / BLOCK_BYTES);
        self.blocks.retain(|block, _| *block < first || *block - first >= count);
    }

    /// Turns bits to 0 where `data` has 0.
    pub fn program(&mut self, address: u32, data: &[u8]) {
        for (address, byte) in (address..).zip(data) {
            self.write(address, self.read(address) & byte);
        }
    }

    /// Leaves a range in any state between before and after an erase, or as it may be after a
    /// program that precedes the erase.
    pub fn erase_partly(&mut self, address: u32, bytes: u32, random: &mut SmallRng) {
        for place in address..address + bytes {
            let old = self.read(place);
            let byte = match random.random_range(0..4) {
                0 => old,
                1 => 0xff,
                2 => old & random.random::<u8>(),
                _ => old | random.random::<u8>(),
            };
            self.write(place, byte);
        }
    }

    /// Leaves a range in any state between before and after a program.
    pub fn program_partly(&mut self, address: u32, data: &[u8], random: &mut SmallRng) {
        for (address, byte) in (address..).zip(data) {
            let kept: u8 = random.random();
            self.write(address, self.read(address) & (byte | kept));
        }
    }

    /// First addresses of the blocks that are in use, in no order.
    pub fn used_blocks(&self) -> impl Iterator<Item = u32> + '_ {
        self.blocks.keys().map(|block| block * BLOCK_BYTES)
    }
}
