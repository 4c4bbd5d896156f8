//! A card that a command names: its bus, opened, and what it says of itself.

use std::path::PathBuf;
use std::time::Duration;

use abi::registers as r;
use abi::ABI_VERSION;
use anyhow::Result;
use clap::Args;
use host::driver::bus::Bus;
use host::driver::error::DriverError;
use host::driver::look::{look, CardLook};
use host_board::window::{Window, WindowError};
use vfio::CardBus;

use crate::shared::bus::{self, driver_refusal, CardName};
use crate::shared::options::UsageError;
use crate::shared::output::{json_file, ResultFile};

/// Which card, and where the figures go.
#[derive(Debug, Args)]
pub struct CardArguments {
    /// Bus to the card: vfio-user:SOCKET where another process serves it (`zeronic sim-card`),
    /// vfio:0000:01:00.0 where it is in that slot
    #[arg(long, value_name = "BUS")]
    bus: CardName,
    /// Write what is found as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl CardArguments {
    /// Opens the bus.
    pub fn open(&self) -> Result<CardBus, UsageError> {
        bus::open(&self.bus)
    }

    /// The name of the bus.
    pub fn name(&self) -> String {
        self.bus.to_string()
    }

    /// The slot that it names, if it is one.
    pub fn slot(&self) -> Option<&str> {
        match &self.bus {
            CardName::Slot(address) => Some(address),
            CardName::Socket(_) => None,
        }
    }

    /// The file for what is found.
    pub fn json(&self) -> Result<Option<ResultFile>, UsageError> {
        json_file(self.json.as_deref())
    }
}

/// Looks at a card of this contract; one that is gone, or that is none, is an error.
pub fn look_at(card: &mut CardBus) -> Result<CardLook> {
    let found = look(card).map_err(driver_refusal)?;
    let error = match found.id {
        r::GOLDEN_ID_VALUE => DriverError::GoldenImage,
        r::ID_VALUE if found.version >> 16 == ABI_VERSION >> 16 => return Ok(found),
        r::ID_VALUE => DriverError::Version { card: found.version, host: ABI_VERSION },
        id => DriverError::NotACard(id),
    };
    Err(driver_refusal(error))
}

/// A version of the contract in words.
pub fn contract(version: u32) -> String {
    format!("{}.{}", version >> 16, version & 0xffff)
}

/// The board window of a card behind a bus.
pub struct BusWindow<'a>(pub &'a mut CardBus);

impl BusWindow<'_> {
    fn failed(error: impl std::error::Error + Send + Sync + 'static) -> WindowError {
        let error = std::io::Error::other(error);
        WindowError::System { what: "the bus".to_owned(), error }
    }
}

impl Window for BusWindow<'_> {
    fn read(&mut self, offset: u32) -> Result<u32, WindowError> {
        self.0.read_register(offset).map_err(Self::failed)
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), WindowError> {
        self.0.write_register(offset, value).map_err(Self::failed)
    }

    fn wait(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contract_has_two_numbers() {
        assert_eq!(contract(0x0001_000a), "1.10");
    }
}
