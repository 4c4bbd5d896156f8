//! The state of the wire, and what the card does with it.
//!
//! ```text
//!   STATUS ──► WireState          WireSettings ──► MAC_CONTROL, PAUSE_LIMIT
//! ```
//! The card tells owner 0 of each change with an event of flow 0xffff; the state of the wire begins
//! no epoch.
//!
//! Source: `abi::registers`; docs/specification.md, Wire.

use std::time::Duration;

use abi::registers as r;

use super::bus::Bus;
use super::error::{DriverError, Result};
use crate::records::size::SizeError;

/// Time of one cycle of the card.
const CYCLE_NS: u128 = 4;

/// The state of the wire, as the card reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireState {
    /// Frames can leave and arrive.
    pub is_up: bool,
    /// The MAC's clock runs. Without it the fields below are old.
    pub clock_runs: bool,
    /// The MAC's receiver is aligned.
    pub is_aligned: bool,
    /// The receiver sees no signal that it can decode.
    pub local_fault: bool,
    /// The other end receives nothing.
    pub remote_fault: bool,
    /// The other end asks for a pause that the settings allow.
    pub is_paused: bool,
    /// That pause is longer than its limit and ignored.
    pub pause_ignored: bool,
}

impl WireState {
    /// The state in a STATUS word.
    pub fn of_status(status: u32) -> Self {
        let is_set = |bit: u32| status & bit != 0;
        Self {
            is_up: is_set(r::STATUS_WIRE_UP),
            clock_runs: is_set(r::STATUS_MAC_CLOCK),
            is_aligned: is_set(r::STATUS_WIRE_ALIGNED),
            local_fault: is_set(r::STATUS_LOCAL_FAULT),
            remote_fault: is_set(r::STATUS_REMOTE_FAULT),
            is_paused: is_set(r::STATUS_PAUSED),
            pause_ignored: is_set(r::STATUS_PAUSE_IGNORED),
        }
    }

    /// The state in the value of an event of flow 0xffff.
    pub fn of_event(value: u32) -> Self {
        Self::of_status(value << r::STATUS_WIRE_BIT)
    }
}

/// What the card does with the wire. The default is that of a new epoch: sends of a dead wire are
/// dropped and counted, and nobody pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireSettings {
    /// Sends fail as `link_down` while the wire is down.
    pub sends_fail: bool,
    /// The other end is asked to pause while the packet buffer holds `pause_beats` or more.
    pub asks_pause: bool,
    /// Beats of 64 bytes in the packet buffer, of 2,048.
    pub pause_beats: u16,
    /// Pauses that the other end asks for are obeyed.
    pub obeys_pause: bool,
    /// Longest pause that is obeyed: up to 17 s.
    pub pause_limit: Duration,
}

impl Default for WireSettings {
    fn default() -> Self {
        Self {
            sends_fail: false,
            asks_pause: false,
            pause_beats: r::PAUSE_BEATS_START as u16,
            obeys_pause: false,
            pause_limit: Duration::from_nanos(4 * u64::from(r::PAUSE_LIMIT_CYCLES)),
        }
    }
}

impl WireSettings {
    /// Writes the settings. They hold until the next epoch.
    pub(super) fn write(&self, bus: &mut dyn Bus) -> Result<()> {
        let cycles = self.pause_limit.as_nanos() / CYCLE_NS;
        let limit = u32::try_from(cycles).map_err(|_| {
            DriverError::Size(SizeError {
                name: "pause_limit in cycles of 4 ns",
                value: cycles.min(u128::from(u64::MAX)) as u64,
                min: 0,
                max: u64::from(u32::MAX),
            })
        })?;
        let bits = [
            (self.sends_fail, r::MAC_CONTROL_SENDS_FAIL),
            (self.asks_pause, r::MAC_CONTROL_PAUSE_TX),
            (self.obeys_pause, r::MAC_CONTROL_PAUSE_RX),
        ];
        let control = bits.iter().filter(|(is_set, _)| *is_set);
        let control = control.fold(0, |word, (_, bit)| word | bit);
        bus.write_register(r::PAUSE_LIMIT, limit)?;
        bus.write_register(r::PAUSE_BEATS, self.pause_beats.into())?;
        bus.write_register(r::MAC_CONTROL, control)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_tells_what_status_tells() {
        for bit in r::STATUS_WIRE_BIT..r::STATUS_WIRE_BIT + 7 {
            let status = 1 << bit;
            let event = WireState::of_event(status >> r::STATUS_WIRE_BIT);
            assert_eq!(event, WireState::of_status(status));
            assert_ne!(event, WireState::default(), "bit {bit}");
        }
        assert_eq!(WireState::of_status(0xff), WireState::default());
    }
}
