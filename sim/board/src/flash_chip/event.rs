//! What a flash chip was told: erases, programs, refusals.

/// What a chip was told, as far as it changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashEvent {
    /// An erase began.
    Erase {
        /// First byte.
        address: u32,
        /// How many.
        bytes: u32,
    },
    /// A program began.
    Program {
        /// First byte.
        address: u32,
        /// How many; what goes beyond its page begins it again.
        bytes: u32,
    },
    /// An erase or program that did not run: no write enable, busy, or not as long as it must be.
    Refused {
        /// What it was.
        opcode: u8,
    },
    /// An erase or program that did not run: what it would change is protected.
    Protected {
        /// What it was.
        opcode: u8,
        /// Where.
        address: u32,
    },
    /// Anything else that is no read, no status and no write enable or disable.
    Other {
        /// What it was.
        opcode: u8,
    },
}
