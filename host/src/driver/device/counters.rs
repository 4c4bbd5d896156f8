//! The counters of an open card.

use abi::reason::DropReason;

use super::Device;
use crate::driver::bus::Bus;
use crate::driver::counters::{drop_counter, read_counter, read_counters};
use crate::driver::error::Result;

impl<B: Bus> Device<B> {
    /// All counters by name; see [`read_counters`].
    pub fn counters(&mut self) -> Result<Vec<(&'static str, u64)>> {
        let counters = read_counters(&mut self.bus)?;
        Ok(counters.iter().map(|counter| (counter.name, counter.value)).collect())
    }

    /// Packets dropped for this reason since power-up: two reads, where all counters take hundreds.
    pub fn read_drops(&mut self, reason: DropReason) -> Result<u64> {
        read_counter(&mut self.bus, drop_counter(reason))
    }
}
