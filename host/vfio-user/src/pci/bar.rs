//! Memory BARs: their length is told by the bits that cannot be written.

use super::error::ConfigError;
use super::fields::Fields;

/// BARs of an endpoint.
pub const BARS: usize = 6;

const FIRST_BAR: usize = 0x10;
const BAR_64_BIT: u32 = 2 << 1;
const BAR_PREFETCHABLE: u32 = 1 << 3;
/// The bits of an address that say what kind of BAR it is.
const BAR_KIND: u32 = 0xf;
/// The least that a memory BAR can have.
const BAR_BYTES_MIN: u64 = 16;

/// A memory BAR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Which one, 0 to 5.
    pub index: usize,
    /// Its length.
    pub bytes: u64,
    /// It may lie above 4 GiB, and takes the next index as well.
    pub is_64_bit: bool,
    /// Reads have no side effects.
    pub is_prefetchable: bool,
}

impl Bar {
    /// Where it begins on the bus.
    pub(super) fn address(&self, fields: &Fields) -> u64 {
        let at = FIRST_BAR + 4 * self.index;
        let low = u64::from(fields.u32(at) & !BAR_KIND);
        match self.is_64_bit {
            true => u64::from(fields.u32(at + 4)) << 32 | low,
            false => low,
        }
    }
}

/// Places a BAR behind others.
pub(super) fn place_bar(fields: &mut Fields, others: &[Bar], bar: &Bar) -> Result<(), ConfigError> {
    let Bar { index, bytes, is_64_bit, is_prefetchable } = *bar;
    let takes = |bar: &Bar| bar.index..bar.index + 1 + usize::from(bar.is_64_bit);
    let own = takes(bar);
    let is_taken = others.iter().any(|other| {
        let other = takes(other);
        other.start < own.end && own.start < other.end
    });
    if own.end > BARS || is_taken {
        return Err(ConfigError::BarIndex(index));
    }
    let is_too_long = !is_64_bit && bytes > 1 << 31;
    if !bytes.is_power_of_two() || bytes < BAR_BYTES_MIN || is_too_long {
        return Err(ConfigError::BarBytes { index, bytes });
    }
    let at = FIRST_BAR + 4 * index;
    let writable = !(bytes - 1);
    let kind = if is_64_bit { BAR_64_BIT } else { 0 };
    let prefetchable = if is_prefetchable { BAR_PREFETCHABLE } else { 0 };
    fields.set_u32(at, kind | prefetchable);
    fields.allow_u32(at, writable as u32);
    if is_64_bit {
        fields.allow_u32(at + 4, (writable >> 32) as u32);
    }
    Ok(())
}
