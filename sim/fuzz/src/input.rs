//! Numbers out of the bytes of a fuzzer.

/// The bytes that are left.
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// All bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether no byte is left.
    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    /// The next bytes, at most `count`.
    pub fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (now, later) = self.0.split_at(count.min(self.0.len()));
        self.0 = later;
        now
    }

    /// The next number of `count` bytes, little-endian; missing bytes are 0.
    pub fn number(&mut self, count: usize) -> u64 {
        let bytes = self.bytes(count);
        bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    }

    /// The next number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.number(2) % limit
    }
}
