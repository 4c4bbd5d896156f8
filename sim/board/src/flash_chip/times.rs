//! How long a flash chip takes.

/// How long a chip is busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashTimes {
    /// One SPI clock, ns.
    pub clock_ns: u64,
    /// Program of a page, ns.
    pub program_ns: u64,
    /// Erase of 4 KiB, ns.
    pub block_ns: u64,
    /// Erase of 32 or 64 KiB, ns.
    pub sector_ns: u64,
    /// Erase of a die or of the chip, ns.
    pub die_ns: u64,
}

impl FlashTimes {
    /// Typical times of the data sheet, at 50 MHz.
    pub const TYPICAL: Self = Self {
        clock_ns: 20,
        program_ns: 120_000,
        block_ns: 50_000_000,
        sector_ns: 150_000_000,
        die_ns: 153_000_000_000,
    };
    /// A few status reads each.
    pub const SHORT: Self =
        Self { clock_ns: 20, program_ns: 1_000, block_ns: 2_000, sector_ns: 3_000, die_ns: 10_000 };
}
