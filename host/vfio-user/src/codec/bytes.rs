//! Fields of a message, read with a check of each length and written one behind the other.
//!
//! Invariants
//! 1. A read beyond the end is an error, never a panic, and moves nothing.
//! 2. Numbers are in the order of the host's bytes, as the specification has it.

use super::error::CodecError;

/// What is left of a payload.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    all: usize,
    left: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { all: bytes.len(), left: bytes }
    }

    /// The next `N` bytes.
    fn array<const N: usize>(&mut self) -> Result<[u8; N], CodecError> {
        let (first, rest) = self.left.split_first_chunk::<N>().ok_or_else(|| self.short(N))?;
        self.left = rest;
        Ok(*first)
    }

    pub(super) fn u16(&mut self) -> Result<u16, CodecError> {
        self.array().map(u16::from_ne_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, CodecError> {
        self.array().map(u32::from_ne_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, CodecError> {
        self.array().map(u64::from_ne_bytes)
    }

    /// The next bytes.
    pub(super) fn take(&mut self, bytes: usize) -> Result<&'a [u8], CodecError> {
        let (first, rest) = self.left.split_at_checked(bytes).ok_or_else(|| self.short(bytes))?;
        self.left = rest;
        Ok(first)
    }

    /// All that is left.
    pub(super) fn rest(self) -> &'a [u8] {
        self.left
    }

    /// Checks that nothing is left.
    pub(super) fn end(self) -> Result<(), CodecError> {
        match self.left.len() {
            0 => Ok(()),
            left => Err(CodecError::TooLong { bytes: self.all, needed: self.all - left }),
        }
    }

    fn short(&self, more: usize) -> CodecError {
        let needed = (self.all - self.left.len()).saturating_add(more);
        CodecError::TooShort { bytes: self.all, needed }
    }
}

/// A payload under construction.
#[derive(Debug, Default)]
pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    pub(super) fn u16(mut self, value: u16) -> Self {
        self.0.extend(value.to_ne_bytes());
        self
    }

    pub(super) fn u32(mut self, value: u32) -> Self {
        self.0.extend(value.to_ne_bytes());
        self
    }

    pub(super) fn u64(mut self, value: u64) -> Self {
        self.0.extend(value.to_ne_bytes());
        self
    }

    pub(super) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }
}
