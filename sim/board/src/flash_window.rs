//! A board window with identity, flash and configuration port, as `abi::window` describes them,
//! before flash chips: for drivers that need no card.
//!
//! ```text
//!   read, write ─► directory, identity
//!               ─► flash: address, command ─► refused? ─► SPI ─► FlashChip
//!               ─► port: key, no chip that changes? ─► boots asked for
//!   cut_after(n) ─ at access n + 1 the power is gone, for the chips as well
//! ```
//! It is written from the words' documentation, not from the block that the card has.

use std::time::Duration;

use abi::registers::{BOARD_WINDOW, BOARD_WINDOW_ACCESSES};
use abi::window::{
    directory, BlockKind, FlashOperation, PortOperation, BLOCKS, FLASH_ADDRESS, FLASH_BLOCK_BYTES,
    FLASH_CHIPS, FLASH_COMMAND, FLASH_PAGE, FLASH_PAGE_BYTES, FLASH_PAGE_WORDS, FLASH_SECTOR_BYTES,
    FLASH_SIZE, FLASH_SLOT, FLASH_STATUS, IDENTITY_BOARD, IDENTITY_CONFIG, IDENTITY_CONFIG_WORDS,
    IDENTITY_HASH, IDENTITY_HASH_WORDS, IDENTITY_SLOT, IDENTITY_WORDS, PORT_BOOT_STATUS,
    PORT_COMMAND, PORT_KEY, PORT_KEY_WORDS, PORT_STATUS,
};
use host_board::window::{Window, WindowError};

use crate::flash_chip::FlashChip;

/// Reads of the status for which an operation is seen as busy.
const BUSY_READS: u32 = 2;
/// What BOOTSTS reads as: valid, no fallback.
const BOOT_STATUS: u32 = 0x0000_0001;

/// An erase or program that a chip was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Accesses of the window before it.
    pub accesses: u64,
    /// The chip.
    pub chip: usize,
    /// First byte of the unit.
    pub address: u32,
}

/// The window.
#[derive(Clone, Debug)]
pub struct FlashWindow {
    chips: Vec<FlashChip>,
    chip_bytes: u32,
    slot: u32,
    identity: [u32; IDENTITY_WORDS as usize],
    address: u32,
    command: u32,
    busy_reads: u32,
    refused: bool,
    chip_status: u8,
    page: [u32; FLASH_PAGE_WORDS as usize],
    /// Chips that were told to change, and have not said since that they have ended.
    changing: Vec<bool>,
    port_command: u32,
    /// Words of the key that were written one after the other.
    keyed: usize,
    port_busy_reads: u32,
    port_refused: bool,
    boots: Vec<PortOperation>,
    /// Writes since the last read: the window holds them in its queue, as far as it can.
    posted: usize,
    accesses: u64,
    accesses_max: u64,
    changes: Vec<Change>,
}

impl FlashWindow {
    /// A board with these chips, each of `chip_bytes`, and the user's slot at `slot` in each.
    pub fn new(board: u32, chips: Vec<FlashChip>, chip_bytes: u32, slot: u32) -> Self {
        let mut identity = [0; IDENTITY_WORDS as usize];
        identity[IDENTITY_BOARD as usize] = board;
        identity[abi::window::IDENTITY_VERSION as usize] = abi::ABI_VERSION;
        identity[IDENTITY_SLOT as usize] = 1;
        Self {
            changing: vec![false; chips.len()],
            chips,
            chip_bytes,
            slot,
            identity,
            address: 0,
            command: 0,
            busy_reads: 0,
            refused: false,
            chip_status: 0,
            page: [0; FLASH_PAGE_WORDS as usize],
            port_command: 0,
            keyed: 0,
            port_busy_reads: 0,
            port_refused: false,
            boots: Vec::new(),
            posted: 0,
            accesses: 0,
            accesses_max: u64::MAX,
            changes: Vec::new(),
        }
    }

    /// The git hash that the image says it has.
    pub fn set_hash(&mut self, words: [u32; IDENTITY_HASH_WORDS]) {
        let from = IDENTITY_HASH as usize;
        self.identity[from..from + IDENTITY_HASH_WORDS].copy_from_slice(&words);
    }

    /// The words of the configuration's name that the image says it has.
    pub fn set_config(&mut self, words: [u32; IDENTITY_CONFIG_WORDS]) {
        let from = IDENTITY_CONFIG as usize;
        self.identity[from..from + IDENTITY_CONFIG_WORDS].copy_from_slice(&words);
    }

    /// The slot that the image says it was built for.
    pub fn set_slot(&mut self, slot: u32) {
        self.identity[IDENTITY_SLOT as usize] = slot;
    }

    /// The chips.
    pub fn chips(&self) -> &[FlashChip] {
        &self.chips
    }

    /// The chips.
    pub fn chips_mut(&mut self) -> &mut [FlashChip] {
        &mut self.chips
    }

    /// Loads that the configuration port was asked for.
    pub fn boots(&self) -> &[PortOperation] {
        &self.boots
    }

    /// Accesses so far.
    pub fn accesses(&self) -> u64 {
        self.accesses
    }

    /// Erases and programs, in order.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Takes the power away after so many more accesses.
    pub fn cut_after(&mut self, accesses: u64) {
        self.accesses_max = self.accesses.saturating_add(accesses);
    }

    fn access(&mut self, offset: u32) -> Result<(), WindowError> {
        if self.accesses >= self.accesses_max {
            for chip in &mut self.chips {
                chip.cut_power();
            }
            return Err(WindowError::Gone { offset });
        }
        self.accesses += 1;
        Ok(())
    }

    /// The block and the word of an offset.
    fn place(&self, offset: u32) -> Option<(BlockKind, u32)> {
        let holds = |block: &&abi::window::WindowBlock| {
            (block.offset..block.offset + 4 * block.words).contains(&offset)
        };
        let block = BLOCKS.iter().find(holds)?;
        Some((block.kind, (offset - block.offset) / 4))
    }

    fn flash_word(&mut self, word: u32) -> u32 {
        match word {
            FLASH_COMMAND => self.command,
            FLASH_ADDRESS => self.address,
            FLASH_STATUS => {
                let busy = u32::from(self.busy_reads > 0);
                self.busy_reads = self.busy_reads.saturating_sub(1);
                busy | u32::from(self.refused) << 1 | u32::from(self.chip_status) << 8
            }
            FLASH_SLOT => self.slot,
            FLASH_SIZE => self.chip_bytes,
            FLASH_CHIPS => self.chips.len() as u32,
            FLASH_PAGE.. => self.page[(word - FLASH_PAGE) as usize],
            _ => 0,
        }
    }

    /// Carries a command of the flash block out.
    fn operate(&mut self, command: u32) {
        self.command = command;
        let chip = (command >> 3 & 1) as usize;
        let unit_bytes = match command & 7 {
            4 => FLASH_PAGE_BYTES,
            5 => FLASH_BLOCK_BYTES,
            6 => FLASH_SECTOR_BYTES,
            _ => FLASH_PAGE_BYTES,
        };
        let place = self.address - self.address % unit_bytes;
        let changes = (4..=6).contains(&(command & 7));
        let has_place = changes || command & 7 == FlashOperation::Read as u32;
        self.refused = self.busy_reads > 0
            || command >> 4 != 0
            || !(1..=6).contains(&(command & 7))
            || chip >= self.chips.len()
            || (has_place && place >= self.chip_bytes)
            || (changes && place < self.slot)
            || (changes && self.is_loading());
        if self.refused {
            return;
        }
        self.busy_reads = BUSY_READS;
        let with_place = |opcode: u8| {
            let mut bytes = vec![opcode];
            bytes.extend(place.to_be_bytes());
            bytes
        };
        match command & 7 {
            1 => {
                let found = self.transfer(chip, &[0x9f], 3);
                self.page[0] = u32::from_le_bytes([found[0], found[1], found[2], 0]);
            }
            2 => {
                self.chip_status = self.transfer(chip, &[0x05], 1)[0];
                self.changing[chip] &= self.chip_status & 1 == 1;
            }
            3 => {
                let found = self.transfer(chip, &with_place(0x13), FLASH_PAGE_BYTES as usize);
                for (word, bytes) in self.page.iter_mut().zip(found.chunks_exact(4)) {
                    *word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
                }
            }
            operation => {
                self.changing[chip] = true;
                self.changes.push(Change { accesses: self.accesses, chip, address: place });
                self.transfer(chip, &[0x06], 0);
                let mut bytes = with_place([0x12, 0x21, 0xdc][operation as usize - 4]);
                if operation == FlashOperation::Program as u32 {
                    bytes.extend(self.page.iter().flat_map(|word| word.to_le_bytes()));
                }
                self.transfer(chip, &bytes, 0);
            }
        }
    }

    /// Whether a load has been accepted that has not taken the card away yet.
    fn is_loading(&self) -> bool {
        self.port_busy_reads > 0 && self.port_command != PortOperation::ReadStatus as u32
    }

    /// A write of the configuration port.
    fn write_port(&mut self, word: u32, value: u32) {
        let keyed = std::mem::take(&mut self.keyed);
        if word == PORT_KEY {
            self.keyed = match value {
                value if value == PORT_KEY_WORDS[0] => 1,
                value if value == PORT_KEY_WORDS[1] && keyed == 1 => 2,
                _ => 0,
            };
        }
        if word != PORT_COMMAND {
            return;
        }
        let loads = [PortOperation::BootGolden, PortOperation::BootUser];
        let load = loads.into_iter().find(|known| *known as u32 == value);
        let may_load = load.is_some() && keyed == 2 && !self.changing.contains(&true);
        let is_allowed = may_load || value == PortOperation::ReadStatus as u32;
        self.port_refused = self.port_busy_reads > 0 || !is_allowed;
        if !self.port_refused {
            self.port_command = value;
            self.port_busy_reads = BUSY_READS;
            self.boots.extend(load);
        }
    }

    fn port_status(&mut self) -> u32 {
        let busy = u32::from(self.port_busy_reads > 0);
        self.port_busy_reads = self.port_busy_reads.saturating_sub(1);
        busy | u32::from(self.port_refused) << 1 | u32::from(self.changing.contains(&true)) << 2
    }

    /// One command of a chip: bytes in, then bytes out.
    fn transfer(&mut self, chip: usize, bytes: &[u8], answer_bytes: usize) -> Vec<u8> {
        let chip = &mut self.chips[chip];
        chip.select(true);
        let mut send = |byte: u8| {
            (0..8)
                .rev()
                .fold(0, |answer, bit| answer << 1 | u8::from(chip.clock(byte >> bit & 1 == 1)))
        };
        for byte in bytes {
            send(*byte);
        }
        let answer = (0..answer_bytes).map(|_| send(0)).collect();
        chip.select(false);
        answer
    }
}

impl Window for FlashWindow {
    fn read(&mut self, offset: u32) -> Result<u32, WindowError> {
        self.access(offset)?;
        self.posted = 0;
        let words = directory();
        if let Some(word) = offset.checked_sub(BOARD_WINDOW) {
            if let Some(value) = words.get(word as usize / 4) {
                return Ok(*value);
            }
        }
        Ok(match self.place(offset) {
            Some((BlockKind::Identity, word)) => self.identity[word as usize],
            Some((BlockKind::Flash, word)) => self.flash_word(word),
            Some((BlockKind::ConfigurationPort, PORT_COMMAND)) => self.port_command,
            Some((BlockKind::ConfigurationPort, PORT_STATUS)) => self.port_status(),
            Some((BlockKind::ConfigurationPort, PORT_BOOT_STATUS)) => BOOT_STATUS,
            Some((BlockKind::ConfigurationPort, _)) => 0,
            // An error on the bus, which the card turns into all ones.
            _ => u32::MAX,
        })
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), WindowError> {
        self.access(offset)?;
        self.posted += 1;
        if self.posted > BOARD_WINDOW_ACCESSES {
            return Ok(());
        }
        match self.place(offset) {
            Some((BlockKind::Flash, FLASH_COMMAND)) => self.operate(value),
            Some((BlockKind::Flash, FLASH_ADDRESS)) => self.address = value,
            Some((BlockKind::Flash, word)) if word >= FLASH_PAGE => {
                self.page[(word - FLASH_PAGE) as usize] = value;
            }
            Some((BlockKind::ConfigurationPort, word)) => self.write_port(word, value),
            _ => {}
        }
        Ok(())
    }

    fn wait(&mut self, time: Duration) {
        for chip in &mut self.chips {
            // Long enough to be seen busy for several looks, whatever the driver waits.
            chip.pass_ns((time.as_nanos() as u64).min(300));
        }
    }
}
