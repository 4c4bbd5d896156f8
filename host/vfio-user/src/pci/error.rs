//! What a configuration space cannot express, with the number that was wrong.

use thiserror::Error;

/// A configuration space that cannot be.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ConfigError {
    /// A BAR that its address bits cannot express.
    #[error("BAR {index} of {bytes:#x} bytes: a power of 2 from 16 on, below 4 GiB unless 64 bit")]
    BarBytes {
        /// Which one.
        index: usize,
        /// Its length.
        bytes: u64,
    },
    /// A BAR that there is no place for.
    #[error("BAR {0}: there are 6, a 64-bit one takes two, and each is used once")]
    BarIndex(usize),
    /// Too many or no vectors.
    #[error("{0} MSI-X vectors, 1 to 2,048 are possible")]
    Vectors(u16),
    /// A table of MSI-X outside its BAR, or not aligned.
    #[error("MSI-X: {offset:#x} in BAR {bar} is outside of it or no multiple of 8")]
    MsixPlace {
        /// The BAR.
        bar: u8,
        /// Where in it.
        offset: u32,
    },
}
