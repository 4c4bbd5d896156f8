//! Bytes of a configuration space, of which some bits can be written.
//!
//! Invariants
//! 1. A bit that cannot be written keeps its first value for ever.

/// Length of the configuration space.
pub const CONFIG_BYTES: u64 = 4096;

const BYTES: usize = CONFIG_BYTES as usize;

/// The bytes, the bits that can be written, and the first values.
#[derive(Clone, Debug)]
pub(super) struct Fields {
    bytes: Vec<u8>,
    writable: Vec<u8>,
    first: Vec<u8>,
}

impl Fields {
    pub(super) fn new() -> Self {
        Self { bytes: vec![0; BYTES], writable: vec![0; BYTES], first: vec![0; BYTES] }
    }

    /// Takes what is there as the values of power-up.
    pub(super) fn keep_first(&mut self) {
        self.first.clone_from(&self.bytes);
    }

    pub(super) fn reset(&mut self) {
        self.bytes.clone_from(&self.first);
    }

    pub(super) fn set_u8(&mut self, at: usize, value: u8) {
        self.bytes[at] = value;
    }

    pub(super) fn set_u16(&mut self, at: usize, value: u16) {
        self.bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }

    pub(super) fn set_u32(&mut self, at: usize, value: u32) {
        self.bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    pub(super) fn allow_u8(&mut self, at: usize, bits: u8) {
        self.writable[at] = bits;
    }

    pub(super) fn allow_u16(&mut self, at: usize, bits: u16) {
        self.writable[at..at + 2].copy_from_slice(&bits.to_le_bytes());
    }

    pub(super) fn allow_u32(&mut self, at: usize, bits: u32) {
        self.writable[at..at + 4].copy_from_slice(&bits.to_le_bytes());
    }

    pub(super) fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]])
    }

    pub(super) fn u32(&self, at: usize) -> u32 {
        u32::from(self.u16(at + 2)) << 16 | u32::from(self.u16(at))
    }

    pub(super) fn read(&self, offset: u64, into: &mut [u8]) {
        for (index, byte) in (offset..).zip(into) {
            let place = usize::try_from(index).ok();
            *byte = place.and_then(|place| self.bytes.get(place)).copied().unwrap_or(0);
        }
    }

    pub(super) fn write(&mut self, offset: u64, from: &[u8]) {
        for (index, value) in (offset..).zip(from) {
            let Ok(place) = usize::try_from(index) else { return };
            let Some(byte) = self.bytes.get_mut(place) else { return };
            let bits = self.writable[place];
            *byte = *byte & !bits | *value & bits;
        }
    }

    /// The bits of a byte that can be written.
    #[cfg(test)]
    pub(super) fn writable(&self, at: usize) -> u8 {
        self.writable[at]
    }
}
