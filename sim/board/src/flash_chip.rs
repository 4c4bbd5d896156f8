//! A configuration flash chip, MT25QU01G and its family, at the level of SPI bits.
//!
//! ```text
//!   CS# ──► select ──┐   opcode ─► address ─► dummy clocks ─┬─► data out ──► MISO
//!   MOSI ─► clock ───┴─►                                    └─► page in ─┐
//!   CS# high: executes ◄────────────────────────────────────────────────┘
//!                └─► erase or program: busy for a while, then in the cells
//! ```
//! Invariants:
//! 1. An erase or program needs a write enable of its own, whole bytes and its exact address;
//!    otherwise nothing happens, and [`FlashEvent::Refused`] says so.
//! 2. A program turns bits to 0 alone, and stays in its page of 256 bytes.
//! 3. Busy, the chip answers its two status registers alone, and obeys a reset.
//! 4. When power is lost, or a reset comes, whatever ran leaves its own unit in any state, and
//!    nothing else.
//! 5. An erase or program of what the status register protects, or of a locked sector, does not
//!    begin: the write enable stays set, the flag status register says so until it is cleared, and
//!    [`FlashEvent::Protected`].
//!
//! Not modelled: passwords, lock bits that outlive the power, suspended operations, commands on
//! more than one line but the quad read, of which MISO shows line 1. Source: Micron MT25QU01GBBB,
//! data sheet (status register: bits 6, 4:2 block protection, 5 top or bottom; write status
//! register 0x01; sector lock 0xe5, 0xe8; flag status register bits 1, 4, 5, cleared by 0x50).

mod event;
mod memory;
mod protection;
mod times;

use rand::rngs::SmallRng;
use rand::SeedableRng;

pub use event::FlashEvent;
pub use times::FlashTimes;

use memory::{Cells, BLOCK_BYTES, SECTOR_BYTES};
use protection::Protection;

/// Bytes of a page.
const PAGE_BYTES: u32 = 256;
/// Bytes of a die.
const DIE_BYTES: u32 = 64 << 20;

/// What is under way in the cells.
#[derive(Clone, Debug)]
enum CellOperation {
    Erase { address: u32, bytes: u32 },
    Program { page: u32, data: Box<[u8]> },
}

/// Where a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Opcode,
    Address {
        bytes_left: u32,
    },
    Dummy {
        clocks_left: u32,
    },
    /// Cells go out, on so many lines.
    Read {
        lines: u32,
    },
    /// A register goes out, again and again.
    Answer,
    /// The page comes in.
    Page,
    Over,
}

/// A flash chip.
#[derive(Clone, Debug)]
pub struct FlashChip {
    cells: Cells,
    size_bytes: u32,
    times: FlashTimes,
    random: SmallRng,
    now_ns: u64,
    work: Option<(CellOperation, u64)>,
    events: Vec<FlashEvent>,
    /// A worn cell: bits of a byte that read inverted.
    worn: Option<(u32, u8)>,
    write_enabled: bool,
    protection: Protection,
    long_addresses: bool,
    upper_address: u8,
    asleep: bool,
    reset_enabled: bool,

    selected: bool,
    phase: Phase,
    opcode: u8,
    address: u32,
    /// Bits taken since the chip was selected.
    bits_in: u64,
    /// Clocks since the phase of the output began.
    clocks_out: u64,
    shift: u8,
    page: Vec<Option<u8>>,
    page_bytes: u32,
}

impl FlashChip {
    /// An erased chip of so many bytes, with [`FlashTimes::SHORT`].
    ///
    /// # Panics
    /// If the size is no power of two, or less than a sector.
    pub fn new(size_bytes: u32) -> Self {
        assert!(size_bytes.is_power_of_two() && size_bytes >= SECTOR_BYTES);
        Self {
            cells: Cells::default(),
            size_bytes,
            times: FlashTimes::SHORT,
            random: SmallRng::seed_from_u64(u64::from(size_bytes)),
            now_ns: 0,
            work: None,
            events: Vec::new(),
            worn: None,
            write_enabled: false,
            protection: Protection::default(),
            long_addresses: false,
            upper_address: 0,
            asleep: false,
            reset_enabled: false,
            selected: false,
            phase: Phase::Over,
            opcode: 0,
            address: 0,
            bits_in: 0,
            clocks_out: 0,
            shift: 0,
            page: vec![None; PAGE_BYTES as usize],
            page_bytes: 0,
        }
    }

    /// Sets how long it is busy.
    pub fn set_times(&mut self, times: FlashTimes) {
        self.times = times;
    }

    /// Sets what decides how an interrupted operation leaves its unit.
    pub fn set_seed(&mut self, seed: u64) {
        self.random = SmallRng::seed_from_u64(seed);
    }

    /// From now on `mask` of a byte reads inverted.
    pub fn wear(&mut self, address: u32, mask: u8) {
        self.worn = Some((address, mask));
    }

    /// Protects blocks as bits 6, 5 and 4:2 of a status register say, as somebody had done before.
    pub fn protect(&mut self, status: u8) {
        self.protection.set(status);
    }

    /// Locks the sector of an address, as software may until the power goes.
    pub fn lock(&mut self, address: u32) {
        self.protection.lock(address);
    }

    /// The byte of an address, as the cells are.
    pub fn read(&self, address: u32) -> u8 {
        let byte = self.cells.read(address % self.size_bytes);
        match self.worn {
            Some((worn, mask)) if worn == address => byte ^ mask,
            _ => byte,
        }
    }

    /// The bytes of a range, as the cells are.
    pub fn read_range(&self, address: u32, bytes: u32) -> Vec<u8> {
        (0..bytes).map(|place| self.read(address.wrapping_add(place))).collect()
    }

    /// Puts bytes into the cells, as a programmer had before.
    pub fn write_initial(&mut self, address: u32, bytes: &[u8]) {
        for (place, byte) in bytes.iter().enumerate() {
            let address = address.wrapping_add(place as u32) % self.size_bytes;
            self.cells.write(address, *byte);
        }
    }

    /// First addresses of the 4 KiB that are not erased as a whole; sorted.
    pub fn used_blocks(&self) -> Vec<u32> {
        let used = self.cells.used_blocks().filter(|block| {
            let mut bytes = *block..*block + BLOCK_BYTES;
            bytes.any(|address| self.cells.read(address) != 0xff)
        });
        let mut used: Vec<u32> = used.collect();
        used.sort_unstable();
        used
    }

    /// What it was told so far.
    pub fn events(&self) -> &[FlashEvent] {
        &self.events
    }

    /// Whether an erase or program is under way.
    pub fn is_busy(&self) -> bool {
        self.work.is_some()
    }

    /// Lets time go by.
    pub fn pass_ns(&mut self, time_ns: u64) {
        self.now_ns += time_ns;
        if self.work.as_ref().is_some_and(|(_, end)| *end <= self.now_ns) {
            if let Some((work, _)) = self.work.take() {
                self.complete(work);
            }
        }
    }

    /// Takes the power away and gives it back: an operation under way leaves its unit in any state.
    pub fn cut_power(&mut self) {
        self.restart();
        self.selected = false;
        self.phase = Phase::Over;
    }

    /// Chooses the chip (CS# low) or lets it go (CS# high), which carries a command out.
    pub fn select(&mut self, selected: bool) {
        if self.selected && !selected {
            self.carry_out();
        }
        if selected && !self.selected {
            self.phase = Phase::Opcode;
            self.bits_in = 0;
            self.page.fill(None);
            self.page_bytes = 0;
        }
        self.selected = selected;
    }

    /// One SPI clock: takes MOSI at its rising edge; what MISO was then. A line that the chip does
    /// not drive is high.
    pub fn clock(&mut self, mosi: bool) -> bool {
        self.pass_ns(self.times.clock_ns);
        if !self.selected {
            return true;
        }
        let miso = self.output();
        self.bits_in += 1;
        match self.phase {
            Phase::Read { .. } | Phase::Answer => self.clocks_out += 1,
            Phase::Dummy { clocks_left: 1 } => self.begin_read(),
            Phase::Dummy { clocks_left } => {
                self.phase = Phase::Dummy { clocks_left: clocks_left - 1 };
            }
            _ => {
                self.shift = self.shift << 1 | u8::from(mosi);
                if self.bits_in.is_multiple_of(8) {
                    self.take(self.shift);
                }
            }
        }
        miso
    }

    /// The level of MISO.
    fn output(&self) -> bool {
        let bit_of = |byte: u8, clock: u64| byte >> (7 - clock % 8) & 1 == 1;
        match self.phase {
            Phase::Read { lines: 1 } => {
                let place = (self.clocks_out / 8) as u32;
                bit_of(self.read(self.address.wrapping_add(place)), self.clocks_out)
            }
            Phase::Read { .. } => {
                let place = (self.clocks_out / 2) as u32;
                let byte = self.read(self.address.wrapping_add(place));
                // Line 1 has bit 5 of the byte, then bit 1.
                byte >> (5 - 4 * (self.clocks_out % 2)) & 1 == 1
            }
            Phase::Answer => {
                let place = (self.clocks_out / 8) as usize;
                bit_of(self.register(place), self.clocks_out)
            }
            _ => true,
        }
    }

    /// Byte number `place` of the register that the command reads.
    fn register(&self, place: usize) -> u8 {
        let busy = self.is_busy();
        match self.opcode {
            0x05 => u8::from(busy) | u8::from(self.write_enabled) << 1 | self.protection.status(),
            0x70 => {
                u8::from(!busy) << 7 | self.protection.failures() | u8::from(self.long_addresses)
            }
            0xc8 => self.upper_address,
            0x85 => 0xfb,
            0x65 | 0xb5 => 0xff,
            // Vendor, kind (1.8 V), size, then the length and what follows.
            _ => {
                let bits = self.size_bytes.ilog2() as u8;
                let size = if bits < 26 { bits } else { 0x20 + bits - 26 };
                let known = [0x20, 0xbb, size, 0x10, 0x44, 0x00];
                known.get(place).copied().unwrap_or(0)
            }
        }
    }

    /// Takes a whole byte.
    fn take(&mut self, byte: u8) {
        match self.phase {
            Phase::Opcode => self.begin(byte),
            Phase::Address { bytes_left } => {
                self.address = self.address << 8 | u32::from(byte);
                self.phase = Phase::Address { bytes_left: bytes_left - 1 };
                if bytes_left == 1 {
                    self.address %= self.size_bytes;
                    self.end_address();
                }
            }
            Phase::Page => {
                let place = (self.address + self.page_bytes) % PAGE_BYTES;
                self.page[place as usize] = Some(byte);
                self.page_bytes += 1;
            }
            _ => {}
        }
    }

    /// Begins a command.
    fn begin(&mut self, opcode: u8) {
        self.opcode = opcode;
        self.address = 0;
        self.clocks_out = 0;
        self.phase = Phase::Over;
        let while_busy = matches!(opcode, 0x05 | 0x70 | 0x66 | 0x99);
        let while_asleep = opcode == 0xab;
        if (self.is_busy() && !while_busy) || (self.asleep && !while_asleep) {
            // `Over` with an opcode that does nothing.
            if is_change(opcode) {
                self.events.push(FlashEvent::Refused { opcode });
            }
            self.opcode = 0;
            return;
        }
        let short = if self.long_addresses { 4 } else { 3 };
        self.phase = match opcode {
            0x05 | 0x70 | 0x9e | 0x9f | 0xb5 | 0x85 | 0x65 | 0xc8 => Phase::Answer,
            0x13 | 0x0c | 0x6c | 0x12 | 0x21 | 0x5c | 0xdc => Phase::Address { bytes_left: 4 },
            0x03 | 0x0b | 0x6b | 0x02 | 0x20 | 0x52 | 0xd8 | 0xc4 => {
                if short == 3 {
                    self.address = u32::from(self.upper_address);
                }
                Phase::Address { bytes_left: short }
            }
            0xc5 | 0x01 => Phase::Page,
            _ => Phase::Over,
        };
    }

    /// The address is there.
    fn end_address(&mut self) {
        match self.opcode {
            0x03 | 0x13 | 0x0b | 0x0c | 0x6b | 0x6c => {
                let clocks_left = if matches!(self.opcode, 0x03 | 0x13) { 0 } else { 8 };
                self.phase = Phase::Dummy { clocks_left };
                if clocks_left == 0 {
                    self.begin_read();
                }
            }
            0x02 | 0x12 => self.phase = Phase::Page,
            _ => self.phase = Phase::Over,
        }
    }

    fn begin_read(&mut self) {
        let lines = if matches!(self.opcode, 0x6b | 0x6c) { 4 } else { 1 };
        self.phase = Phase::Read { lines };
        self.clocks_out = 0;
    }

    /// CS# rises: carries the command out, if it is whole.
    fn carry_out(&mut self) {
        let whole = self.bits_in >= 8 && self.bits_in.is_multiple_of(8);
        let bytes_in = self.bits_in / 8;
        let opcode = std::mem::take(&mut self.opcode);
        let reset_enabled = std::mem::take(&mut self.reset_enabled);
        if is_change(opcode) {
            return self.change(opcode, whole, bytes_in);
        }
        match (opcode, whole) {
            (0x06, true) => self.write_enabled = true,
            (0x04, true) => self.write_enabled = false,
            (0x00 | 0x05 | 0x70 | 0x9e | 0x9f | 0xb5 | 0x85 | 0x65 | 0xc8, _) => {}
            (0x03 | 0x13 | 0x0b | 0x0c | 0x6b | 0x6c | 0x06 | 0x04, _) => {}
            _ => {
                self.events.push(FlashEvent::Other { opcode });
                match opcode {
                    0x01 if self.write_enabled => {
                        self.page[0].into_iter().for_each(|status| self.protection.set(status));
                        self.write_enabled = false;
                    }
                    0x50 => self.protection.clear_failures(),
                    0xb7 => self.long_addresses = true,
                    0xe9 => self.long_addresses = false,
                    0xc5 if self.write_enabled => {
                        self.upper_address = self.page[0].unwrap_or(self.upper_address);
                        self.write_enabled = false;
                    }
                    0xb9 => self.asleep = true,
                    0xab => self.asleep = false,
                    0x66 => self.reset_enabled = true,
                    0x99 if reset_enabled => self.restart(),
                    _ => {}
                }
            }
        }
    }

    /// Begins an erase or a program.
    fn change(&mut self, opcode: u8, whole: bool, bytes_in: u64) {
        let address_bytes = match opcode {
            0xc7 | 0x60 => 0,
            0x12 | 0x21 | 0x5c | 0xdc => 4,
            _ if self.long_addresses => 4,
            _ => 3,
        };
        let is_program = matches!(opcode, 0x02 | 0x12);
        let is_long_enough = match is_program {
            true => self.page_bytes > 0,
            false => bytes_in == 1 + address_bytes,
        };
        if !whole || !is_long_enough || !self.write_enabled {
            return self.events.push(FlashEvent::Refused { opcode });
        }
        let (unit, time_ns) = match opcode {
            0x02 | 0x12 => (PAGE_BYTES, self.times.program_ns),
            0x20 | 0x21 => (BLOCK_BYTES, self.times.block_ns),
            0x52 | 0x5c => (SECTOR_BYTES / 2, self.times.sector_ns),
            0xd8 | 0xdc => (SECTOR_BYTES, self.times.sector_ns),
            0xc4 => (DIE_BYTES.min(self.size_bytes), self.times.die_ns),
            _ => (self.size_bytes, self.times.die_ns),
        };
        let base = self.address - self.address % unit;
        if self.protection.refuses(base, unit, self.size_bytes, is_program) {
            return self.events.push(FlashEvent::Protected { opcode, address: self.address });
        }
        let (event, work) = if is_program {
            let data = self.page.iter().map(|byte| byte.unwrap_or(0xff)).collect();
            let (address, bytes) = (self.address, self.page_bytes);
            let event = FlashEvent::Program { address, bytes };
            (event, CellOperation::Program { page: base, data })
        } else {
            let (address, bytes) = (base, unit);
            let event = FlashEvent::Erase { address, bytes };
            (event, CellOperation::Erase { address, bytes })
        };
        self.events.push(event);
        self.work = Some((work, self.now_ns + time_ns));
        self.pass_ns(0);
    }

    /// The cells are as they should be.
    fn complete(&mut self, work: CellOperation) {
        self.write_enabled = false;
        match work {
            CellOperation::Erase { address, bytes } => self.cells.erase(address, bytes),
            CellOperation::Program { page, data } => self.cells.program(page, &data),
        }
    }

    /// What power-up and reset have in common.
    fn restart(&mut self) {
        if let Some((work, _)) = self.work.take() {
            let random = &mut self.random;
            match work {
                CellOperation::Erase { address, bytes } => {
                    self.cells.erase_partly(address, bytes, random)
                }
                CellOperation::Program { page, data } => {
                    self.cells.program_partly(page, &data, random)
                }
            }
        }
        self.write_enabled = false;
        self.protection.restart();
        self.long_addresses = false;
        self.upper_address = 0;
        self.asleep = false;
        self.reset_enabled = false;
    }
}

/// Whether a command erases or programs.
fn is_change(opcode: u8) -> bool {
    matches!(opcode, 0x02 | 0x12 | 0x20 | 0x21 | 0x52 | 0x5c | 0xd8 | 0xdc | 0xc4 | 0xc7 | 0x60)
}

#[cfg(test)]
mod tests;
