//! Words, the unit in which rings are written and read.

use abi::config::METADATA_BYTES;

/// Bytes of a word.
pub const WORD_BYTES: usize = 8;
/// Words of the metadata at the start of a slot.
pub const METADATA_WORDS: usize = METADATA_BYTES / WORD_BYTES;
