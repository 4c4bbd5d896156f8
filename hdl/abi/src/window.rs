//! The board window: what a board has besides PCIe and wire, in BAR 0 from
//! [`BOARD_WINDOW`](crate::registers::BOARD_WINDOW) on.
//!
//! ```text
//! 0x04_0000  directory          0x04_4000  system monitor     0x05_0000  registers of the
//! 0x04_1000  identity words     0x04_5000  I2C, QSFP module              MAC's core, 64 KiB
//! 0x04_2000  GPIO, LEDs         0x04_6000  configuration flash
//! 0x04_3000  clock counters     0x04_7000  configuration port
//! ```
//! Registers are words of 32 bits. The window is privileged. A program finds its blocks in the
//! directory: [`DIRECTORY_MAGIC`], the number of entries, then [`DIRECTORY_ENTRY_WORDS`] words for
//! each of [`BLOCKS`]: kind, offset in BAR 0, bytes, words in use. A block with no word in use is
//! absent: its place answers with an error, as does every address of the window that is no block's.

use crate::field::Field;

/// First word of the directory: "ZDIR".
pub const DIRECTORY_MAGIC: u32 = 0x5249_445a;
/// Words of an entry of the directory.
pub const DIRECTORY_ENTRY_WORDS: usize = 4;

/// What a block of the window is. Numbers are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// Words that name board and image: [`IDENTITY_BOARD`] and followers.
    Identity = 1,
    /// Pins beside the QSFP module, LEDs: [`GPIO_OUT`] and followers.
    Gpio = 2,
    /// Measured clocks: [`CLOCK_USER`] and followers.
    Clocks = 3,
    /// Temperature and voltages of the device: word n is register n of the system monitor (UG580).
    Monitor = 4,
    /// The bus of the QSFP module: [`I2C_COMMAND`] and followers.
    I2c = 5,
    /// The registers of the MAC's core (PG203): control, status, FEC, statistics.
    Mac = 6,
    /// Configuration flash: [`FLASH_COMMAND`] and followers.
    Flash = 7,
    /// Configuration port of the device (ICAP): [`PORT_COMMAND`] and followers.
    ConfigurationPort = 8,
}

impl BlockKind {
    /// The block of this kind.
    pub const fn block(self) -> WindowBlock {
        let mut number = 0;
        while BLOCKS[number].kind as u32 != self as u32 {
            number += 1;
        }
        BLOCKS[number]
    }
}

/// A block of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowBlock {
    /// What it is.
    pub kind: BlockKind,
    /// Offset in BAR 0, bytes; a multiple of [`WindowBlock::bytes`].
    pub offset: u32,
    /// Its place, bytes.
    pub bytes: u32,
    /// Words in use; 0: the block is absent.
    pub words: u32,
}

/// The blocks, in the order of the directory.
pub const BLOCKS: [WindowBlock; 8] = [
    block(BlockKind::Identity, 0x4_1000, 0x1000, IDENTITY_WORDS),
    block(BlockKind::Gpio, 0x4_2000, 0x1000, GPIO_WORDS),
    block(BlockKind::Clocks, 0x4_3000, 0x1000, CLOCK_WORDS),
    block(BlockKind::Monitor, 0x4_4000, 0x1000, MONITOR_WORDS),
    block(BlockKind::I2c, 0x4_5000, 0x1000, I2C_WORDS),
    block(BlockKind::Mac, 0x5_0000, 0x1_0000, 0x4000),
    block(BlockKind::Flash, 0x4_6000, 0x1000, FLASH_WORDS),
    block(BlockKind::ConfigurationPort, 0x4_7000, 0x1000, PORT_WORDS),
];

const fn block(kind: BlockKind, offset: u32, bytes: u32, words: u32) -> WindowBlock {
    WindowBlock { kind, offset, bytes, words }
}

/// Words of the directory.
pub const DIRECTORY_WORDS: usize = 2 + BLOCKS.len() * DIRECTORY_ENTRY_WORDS;

/// The blocks of a golden image: what it takes to name itself, and to load or replace another.
pub const GOLDEN_BLOCKS: [BlockKind; 4] =
    [BlockKind::Identity, BlockKind::Monitor, BlockKind::Flash, BlockKind::ConfigurationPort];

/// What a golden image has in place of the configuration's name.
pub const GOLDEN_NAME: &str = "golden";

/// The words of the directory of a card.
pub const fn directory() -> [u32; DIRECTORY_WORDS] {
    let mut words = [0; 2 + BLOCKS.len() * DIRECTORY_ENTRY_WORDS];
    words[0] = DIRECTORY_MAGIC;
    words[1] = BLOCKS.len() as u32;
    let mut number = 0;
    while number < BLOCKS.len() {
        let at = 2 + number * DIRECTORY_ENTRY_WORDS;
        words[at] = BLOCKS[number].kind as u32;
        words[at + 1] = BLOCKS[number].offset;
        words[at + 2] = BLOCKS[number].bytes;
        words[at + 3] = BLOCKS[number].words;
        number += 1;
    }
    words
}

/// The words of the directory of a golden image: all but [`GOLDEN_BLOCKS`] are absent.
pub fn golden_directory() -> [u32; DIRECTORY_WORDS] {
    let mut words = directory();
    for (number, block) in BLOCKS.iter().enumerate() {
        if !GOLDEN_BLOCKS.contains(&block.kind) {
            words[2 + (number + 1) * DIRECTORY_ENTRY_WORDS - 1] = 0;
        }
    }
    words
}

/// Identity word: number of the board; `zeronic board list` shows them.
pub const IDENTITY_BOARD: u32 = 0;
/// Identity word: [`crate::ABI_VERSION`] of the image.
pub const IDENTITY_VERSION: u32 = 1;
/// First of [`IDENTITY_CONFIG_WORDS`] identity words: name of the configuration in ASCII, zeros
/// behind it, first byte in bits 7:0.
pub const IDENTITY_CONFIG: u32 = 2;
/// Words of the configuration's name.
pub const IDENTITY_CONFIG_WORDS: usize = 4;
/// First of [`IDENTITY_HASH_WORDS`] identity words: git hash of the sources, its first eight
/// digits in the first word.
pub const IDENTITY_HASH: u32 = 6;
/// Words of the git hash.
pub const IDENTITY_HASH_WORDS: usize = 5;
/// Identity word: when the image was built, seconds since 1970.
pub const IDENTITY_BUILT: u32 = 11;
/// Identity word: the slot of the flash that the image was built for, a [`crate::image::Slot`].
pub const IDENTITY_SLOT: u32 = 12;
/// Words of the identity.
pub const IDENTITY_WORDS: u32 = 13;

/// GPIO word, read and write: the pins driven. See [`GPIO_OUT_MODSELL`] and followers.
pub const GPIO_OUT: u32 = 0;
/// GPIO word, read only: the pins read. See [`GPIO_IN_MODPRSL`] and [`GPIO_IN_INTL`].
pub const GPIO_IN: u32 = 1;
/// GPIO word, read and write: LEDs that are lit besides those that show the card's state.
pub const GPIO_LED: u32 = 2;
/// Words of the GPIO.
pub const GPIO_WORDS: u32 = 3;
/// [`GPIO_OUT`] bit: level of `modsell`; low selects the module on the I2C bus.
pub const GPIO_OUT_MODSELL: Field =
    Field::new("modsell", 0, 1, "Level of modsell; low selects the module on the I2C bus.");
/// [`GPIO_OUT`] bit: level of `resetl`; low resets the module.
pub const GPIO_OUT_RESETL: Field =
    Field::new("resetl", 1, 1, "Level of resetl; low resets the module.");
/// [`GPIO_OUT`] bit: level of `lpmode`; high keeps the module in low power.
pub const GPIO_OUT_LPMODE: Field =
    Field::new("lpmode", 2, 1, "Level of lpmode; high keeps the module in low power.");
/// [`GPIO_OUT`] at power-up and after PERST#: the module is selected and runs.
pub const GPIO_OUT_INITIAL: u32 = 0b010;
/// [`GPIO_IN`] bit: level of `modprsl`; low: a module is there.
pub const GPIO_IN_MODPRSL: Field =
    Field::new("modprsl", 0, 1, "Level of modprsl; low: a module is there.");
/// [`GPIO_IN`] bit: level of `intl`; low: the module wants attention.
pub const GPIO_IN_INTL: Field =
    Field::new("intl", 1, 1, "Level of intl; low: the module wants attention.");
/// [`GPIO_IN`] bit: the board brings these pins to the device.
pub const GPIO_IN_WIRED: Field =
    Field::new("wired", 2, 1, "The board brings these pins to the device.");

/// Clock word, kHz: the PCIe user clock; 250,000, as everything is measured by it.
pub const CLOCK_USER: u32 = 0;
/// Clock word, kHz: the MAC's clock; 0: it stands.
pub const CLOCK_MAC: u32 = 1;
/// Clock word, kHz: the 100 MHz that are made of the free clock, for the MAC's registers and the
/// configuration port.
pub const CLOCK_BASE: u32 = 2;
/// Clock word, kHz: the board's free-running clock.
pub const CLOCK_FREE: u32 = 3;
/// Words of the clock counters.
pub const CLOCK_WORDS: u32 = 4;
/// Resolution of a measured clock, kHz.
pub const CLOCK_STEP_KHZ: u32 = 8;

/// Registers of the system monitor.
pub const MONITOR_WORDS: u32 = 256;

/// I2C word, write: starts an access; see [`I2C_ADDRESS`] and followers. Ignored while one runs.
pub const I2C_COMMAND: u32 = 0;
/// I2C word, read only: see [`I2C_BUSY`] and followers.
pub const I2C_STATUS: u32 = 1;
/// Words of the I2C block.
pub const I2C_WORDS: u32 = 2;
/// [`I2C_COMMAND`]: device. Only a QSFP module and the multiplexers before it are accepted: see
/// [`I2C_ALLOWED`].
pub const I2C_ADDRESS: Field = Field::new(
    "address",
    0,
    7,
    "Device. Only a QSFP module and the multiplexers before it are accepted: see I2C_ALLOWED.",
);
/// [`I2C_COMMAND`]: read a byte; otherwise write.
pub const I2C_READ: Field = Field::new("read", 7, 1, "Read a byte; otherwise write.");
/// [`I2C_COMMAND`]: the byte's place in the device. For a multiplexer: its setting.
pub const I2C_PLACE: Field =
    Field::new("place", 8, 8, "The byte's place in the device. For a multiplexer: its setting.");
/// [`I2C_COMMAND`]: byte to write.
pub const I2C_DATA: Field = Field::new("data", 16, 8, "Byte to write.");
/// [`I2C_COMMAND`]: nothing follows [`I2C_PLACE`]: how a multiplexer is set.
pub const I2C_SHORT: Field =
    Field::new("short", 24, 1, "Nothing follows I2C_PLACE: how a multiplexer is set.");
/// [`I2C_STATUS`] bit: an access runs.
pub const I2C_BUSY: Field = Field::new("busy", 0, 1, "An access runs.");
/// [`I2C_STATUS`] bit: the last access was not acknowledged.
pub const I2C_NO_ANSWER: Field =
    Field::new("no_answer", 1, 1, "The last access was not acknowledged.");
/// [`I2C_STATUS`] bit: the last access named a device that is not accepted, and did not run.
pub const I2C_REFUSED: Field = Field::new(
    "refused",
    2,
    1,
    "The last access named a device that is not accepted, and did not run.",
);
/// [`I2C_STATUS`]: byte of the last read.
pub const I2C_VALUE: Field = Field::new("value", 8, 8, "Byte of the last read.");
/// Devices that the I2C block talks to: the module, and multiplexers at 0x70 to 0x77. Regulators
/// and monitors on the same bus cannot be reached.
pub const I2C_ALLOWED: [u8; 9] = [0x50, 0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77];

/// Flash word, write: starts an operation; see [`FLASH_OPERATION`] and [`FLASH_CHIP`]. A command
/// while one runs is refused, and a program or erase once the configuration port has accepted a
/// load. Reads as the last command.
pub const FLASH_COMMAND: u32 = 0;
/// Flash word, read and write: place of the operation in the chip, bytes. An operation works on
/// the page, the 4 KiB or the 64 KiB that hold it.
pub const FLASH_ADDRESS: u32 = 1;
/// Flash word, read only: see [`FLASH_BUSY`] and followers.
pub const FLASH_STATUS: u32 = 2;
/// Flash word, read only: where the user's slot begins in each chip, bytes. What is below is
/// neither erased nor programmed, whatever is asked.
pub const FLASH_SLOT: u32 = 3;
/// Flash word, read only: size of each chip, bytes.
pub const FLASH_SIZE: u32 = 4;
/// Flash word, read only: chips. With two of them, the head of an image lies in the first; behind
/// it the first holds the low half of each byte and the second the high half.
pub const FLASH_CHIPS: u32 = 5;
/// First of [`FLASH_PAGE_WORDS`] flash words, read and write: the page that was read, or that is to
/// be programmed; first byte in bits 7:0 of the first word. Not to be touched while busy.
pub const FLASH_PAGE: u32 = 64;
/// Words of the page.
pub const FLASH_PAGE_WORDS: u32 = 64;
/// Bytes of a page.
pub const FLASH_PAGE_BYTES: u32 = 4 * FLASH_PAGE_WORDS;
/// Words of the flash block.
pub const FLASH_WORDS: u32 = FLASH_PAGE + FLASH_PAGE_WORDS;
/// [`FLASH_COMMAND`]: what to do, a [`FlashOperation`].
pub const FLASH_OPERATION: Field = Field::new("operation", 0, 3, "What to do: see FlashOperation.");
/// [`FLASH_COMMAND`]: the chip.
pub const FLASH_CHIP: Field = Field::new("chip", 3, 1, "The chip.");
/// [`FLASH_STATUS`] bit: an operation runs. An erase or program goes on in the chip when it has
/// ended: [`FlashOperation::Status`] shows it.
pub const FLASH_BUSY: Field = Field::new(
    "busy",
    0,
    1,
    "An operation runs. An erase or program goes on in the chip when it has ended: operation \
     Status shows it.",
);
/// [`FLASH_STATUS`] bit: the last command was refused and nothing was sent to a chip.
pub const FLASH_REFUSED: Field =
    Field::new("refused", 1, 1, "The last command was refused and nothing was sent to a chip.");
/// [`FLASH_STATUS`]: the chip's status register of the last [`FlashOperation::Status`]; bit 0: it
/// erases or programs.
pub const FLASH_CHIP_STATUS: Field = Field::new(
    "chip_status",
    8,
    8,
    "The chip's status register of the last operation Status; bit 0: it erases or programs.",
);

/// What the flash block can do. Everything else is refused, and so are [`Self::Program`],
/// [`Self::EraseBlock`] and [`Self::EraseSector`] below [`FLASH_SLOT`], and what lies beyond
/// [`FLASH_SIZE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashOperation {
    /// Reads the chip's three bytes of identification into the page (opcode 0x9f).
    Identify = 1,
    /// Reads the chip's status register (opcode 0x05).
    Status = 2,
    /// Reads a page of [`FLASH_PAGE_BYTES`] (opcode 0x13).
    Read = 3,
    /// Programs a page: bits become 0 where the page has 0 (opcodes 0x06 and 0x12).
    Program = 4,
    /// Erases 4 KiB (opcodes 0x06 and 0x21).
    EraseBlock = 5,
    /// Erases 64 KiB (opcodes 0x06 and 0xdc).
    EraseSector = 6,
}

/// Bytes of [`FlashOperation::EraseBlock`].
pub const FLASH_BLOCK_BYTES: u32 = 4 << 10;
/// Bytes of [`FlashOperation::EraseSector`].
pub const FLASH_SECTOR_BYTES: u32 = 64 << 10;

/// Configuration port word, write: a [`PortOperation`]. A command while one runs is refused.
/// Reads as the last command.
pub const PORT_COMMAND: u32 = 0;
/// Configuration port word, read only: see [`PORT_BUSY`] and [`PORT_REFUSED`].
pub const PORT_STATUS: u32 = 1;
/// Configuration port word, read only: BOOTSTS (UG570) of the last [`PortOperation::ReadStatus`].
pub const PORT_BOOT_STATUS: u32 = 2;
/// Configuration port word, write only: both words of [`PORT_KEY_WORDS`], one after the other,
/// allow the next [`PORT_COMMAND`] to load an image. Any other write of the block takes that back.
pub const PORT_KEY: u32 = 3;
/// Words of the configuration port.
pub const PORT_WORDS: u32 = 4;
/// What is written to [`PORT_KEY`] before a command that loads an image: "BOOT" in ASCII, and the
/// same inverted. No single stray write takes the card away.
pub const PORT_KEY_WORDS: [u32; 2] = [0x424f_4f54, 0xbdb0_b0ab];
/// [`PORT_STATUS`] bit: an operation runs. A load has none of its own end: the card is gone.
pub const PORT_BUSY: Field = Field::new(
    "busy",
    0,
    1,
    "An operation runs. A load has none of its own end: the card is gone.",
);
/// [`PORT_STATUS`] bit: the last command was refused.
pub const PORT_REFUSED: Field = Field::new("refused", 1, 1, "The last command was refused.");
/// [`PORT_STATUS`] bit: no image is loaded now, since a flash chip erases or programs, or was told
/// to and has not said since that it has ended: [`FlashOperation::Status`] asks it.
pub const PORT_HELD: Field = Field::new(
    "held",
    2,
    1,
    "No image is loaded now, since a flash chip erases or programs, or was told to and has not \
     said since that it has ended: operation Status asks it.",
);

/// What the configuration port can do. Everything else is refused, and so is a load without
/// [`PORT_KEY`] or while [`PORT_HELD`] is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortOperation {
    /// Loads the golden image that stays; the card leaves the bus. The address is that in a chip,
    /// as for [`Self::BootUser`]; no board has tried either.
    BootGolden = 1,
    /// Loads the image of the user's slot; the card leaves the bus.
    BootUser = 2,
    /// Reads BOOTSTS.
    ReadStatus = 3,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_blocks_are_aligned_and_disjoint() {
        let mut end = crate::registers::BOARD_WINDOW + 0x1000;
        let mut blocks = BLOCKS;
        blocks.sort_by_key(|block| block.offset);
        for block in blocks {
            assert!(block.offset >= end, "{:x}", block.offset);
            assert_eq!(block.offset % block.bytes, 0, "{:x}", block.offset);
            assert!(4 * block.words <= block.bytes, "{:x}", block.offset);
            end = block.offset + block.bytes;
        }
        assert!(end <= crate::registers::BOARD_WINDOW_END);
    }

    #[test]
    fn every_block_is_found_by_kind() {
        for block in BLOCKS {
            assert_eq!(block.kind.block(), block);
        }
    }

    #[test]
    fn directory_describes_the_blocks() {
        let words = directory();
        assert_eq!(words[..2], [DIRECTORY_MAGIC, 8]);
        assert_eq!(words[2..6], [1, 0x4_1000, 0x1000, 13]);
        assert_eq!(words[30..], [8, 0x4_7000, 0x1000, PORT_WORDS]);
    }
}
