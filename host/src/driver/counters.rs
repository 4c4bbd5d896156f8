//! Reads the counters of a card.
//!
//! ```text
//!   low word ─► latches the high one ─► 64 bits
//! ```
//! Source: `abi::counters`.

use abi::counters as n;
use abi::reason::{Disposition, DropReason, SendError};

use super::bus::Bus;
use super::error::Result;
use super::read::read;

/// What a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterKind {
    /// Packets by what became of their payload.
    Disposition,
    /// Frames that were dropped.
    Drop,
    /// Sends that failed.
    SendError,
    /// Work or faults of a stage of the card.
    Stage,
    /// The highest level of something in this epoch.
    Peak,
}

/// A counter and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterValue {
    /// What it counts.
    pub kind: CounterKind,
    /// Its name in the contract.
    pub name: &'static str,
    /// What moves it.
    pub meaning: &'static str,
    /// Its value.
    pub value: u64,
}

/// Reads all counters: packets by disposition and by drop reason, failed sends, and those of each
/// stage since power-up; then the peaks of this epoch.
pub fn read_counters(bus: &mut dyn Bus) -> Result<Vec<CounterValue>> {
    let mut places = Vec::new();
    for &code in Disposition::ALL {
        let at = n::COUNTERS_DISPOSITION + 8 * code as u32;
        places.push((CounterKind::Disposition, at, code.name(), code.meaning()));
    }
    for &code in DropReason::ALL {
        places.push((CounterKind::Drop, drop_counter(code), code.name(), code.meaning()));
    }
    for &code in SendError::ALL {
        let at = n::COUNTERS_SEND_ERROR + 8 * code as u32;
        places.push((CounterKind::SendError, at, code.name(), code.meaning()));
    }
    let info = read(bus, n::COUNTERS_INFO)?;
    for (at, counter) in n::stage_counters(info & 0xff, info >> 8 & 0xff) {
        let is_peak = at >= n::COUNTERS_PEAK;
        let kind = if is_peak { CounterKind::Peak } else { CounterKind::Stage };
        places.push((kind, at, counter.name, counter.meaning));
    }
    let value = |(kind, at, name, meaning)| {
        Ok(CounterValue { kind, name, meaning, value: read_counter(bus, at)? })
    };
    places.into_iter().map(value).collect()
}

/// Where the counter of a drop reason lies.
pub(super) fn drop_counter(reason: DropReason) -> u32 {
    n::COUNTERS_DROP + 8 * reason as u32
}

/// Reads one counter.
pub(super) fn read_counter(bus: &mut dyn Bus, offset: u32) -> Result<u64> {
    // Reading the low word latches the high one.
    let low = read(bus, offset)?;
    let high = read(bus, offset + 4)?;
    Ok(u64::from(high) << 32 | u64::from(low))
}
