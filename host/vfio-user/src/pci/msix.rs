//! The capability of MSI-X: how many vectors, where table and pending bits are.

use super::bar::Bar;
use super::error::ConfigError;
use super::fields::Fields;

const CONTROL: usize = 2;
const CONTROL_ENABLE: u16 = 1 << 15;
const CONTROL_MASK: u16 = 1 << 14;
const VECTORS_MAX: u16 = 2048;
const ENTRY_BYTES: u64 = 16;

/// MSI-X of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Msix {
    /// How many vectors.
    pub vectors: u16,
    /// The BAR with both.
    pub bar: u8,
    /// Where in it the table begins.
    pub table: u32,
    /// Where in it the pending bits begin.
    pub pending: u32,
}

impl Msix {
    pub(super) fn check(&self, bars: &[Bar]) -> Result<(), ConfigError> {
        if !(1..=VECTORS_MAX).contains(&self.vectors) {
            return Err(ConfigError::Vectors(self.vectors));
        }
        let found = bars.iter().find(|bar| bar.index == usize::from(self.bar));
        let bar_bytes = found.map_or(0, |bar| bar.bytes);
        let vectors = u64::from(self.vectors);
        for (offset, bytes) in
            [(self.table, vectors * ENTRY_BYTES), (self.pending, vectors.div_ceil(64) * 8)]
        {
            if offset % 8 != 0 || u64::from(offset) + bytes > bar_bytes {
                return Err(ConfigError::MsixPlace { bar: self.bar, offset });
            }
        }
        Ok(())
    }

    pub(super) fn place(&self, fields: &mut Fields, at: usize) {
        fields.set_u8(at, 0x11);
        fields.set_u16(at + CONTROL, self.vectors - 1);
        fields.allow_u16(at + CONTROL, CONTROL_ENABLE | CONTROL_MASK);
        fields.set_u32(at + 4, self.table | u32::from(self.bar));
        fields.set_u32(at + 8, self.pending | u32::from(self.bar));
    }

    pub(super) fn is_enabled(fields: &Fields, at: usize) -> bool {
        let control = fields.u16(at + CONTROL);
        control & (CONTROL_ENABLE | CONTROL_MASK) == CONTROL_ENABLE
    }
}
