//! The bus to a card: as an option, and opened.
//!
//! ```text
//!   sim ──────────────► a card in this process
//!   vfio-user:SOCKET ─► one that another process serves (`zeronic sim-card`)
//!   vfio:0000:01:00.0 ► one in a slot of this machine, bound to vfio-pci
//! ```
//! What cannot be opened is an error of one line with the remedy, exit status 2.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use host::driver::error::DriverError;
use host::error::HostError;
use vfio::{CardBus, KernelBus, KernelOpenError, OpenError, SocketBus};

use crate::shared::options::UsageError;

/// A bus, as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BusName {
    /// The simulated card of this process.
    Sim,
    /// A card that outlives it.
    Card(CardName),
}

impl FromStr for BusName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "sim" => Ok(Self::Sim),
            text => text.parse().map(Self::Card),
        }
    }
}

/// Where a card is that outlives this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CardName {
    /// At this socket another process serves it.
    Socket(PathBuf),
    /// At this address on the buses of the machine.
    Slot(String),
}

impl FromStr for CardName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("vfio-user", socket)) if !socket.is_empty() => Ok(Self::Socket(socket.into())),
            Some(("vfio", address)) if !address.is_empty() => Ok(Self::Slot(address.to_owned())),
            None if text == "sim" => Err(format!(
                "'{text}': a card in this process ends with it; serve one with `zeronic sim-card` \
                 and name it by vfio-user:SOCKET"
            )),
            _ => Err(format!("'{text}' is no bus; use vfio-user:SOCKET or vfio:0000:01:00.0")),
        }
    }
}

impl fmt::Display for CardName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CardName::Socket(socket) => write!(f, "vfio-user:{}", socket.display()),
            CardName::Slot(address) => write!(f, "vfio:{address}"),
        }
    }
}

/// Opens a card.
pub fn open(name: &CardName) -> Result<CardBus, UsageError> {
    match name {
        CardName::Socket(socket) => match SocketBus::open(socket) {
            Ok(bus) => Ok(CardBus::Socket(Box::new(bus))),
            Err(error @ OpenError::OtherDevice { .. }) => Err(UsageError(format!(
                "{error}; name the socket of `zeronic sim-card --vfio-user`"
            ))),
            Err(error @ OpenError::OtherBar { .. }) => Err(other_release(&error)),
            Err(OpenError::Client(error)) => Err(UsageError(error.to_string())),
        },
        CardName::Slot(address) => match KernelBus::open(address) {
            Ok(bus) => Ok(CardBus::Slot(Box::new(bus))),
            Err(error @ KernelOpenError::OtherBar { .. }) => Err(other_release(&error)),
            Err(error) => Err(UsageError(error.to_string())),
        },
    }
}

fn other_release(error: &dyn fmt::Display) -> UsageError {
    UsageError(format!("{error}; use a card and a program of one release"))
}

/// Why the card behind a bus that is open is none that this program can use; an error that says
/// something else comes back.
pub fn refusal(error: HostError) -> anyhow::Error {
    match error {
        HostError::Driver(error) => driver_refusal(error),
        error => error.into(),
    }
}

/// The same of an error of the driver.
pub fn driver_refusal(error: DriverError) -> anyhow::Error {
    match error {
        DriverError::Version { .. } => {
            let remedy = "use a card and a program of one release";
            UsageError(format!("{error}; {remedy}")).into()
        }
        DriverError::NotACard(_)
        | DriverError::GoldenImage
        | DriverError::Gone
        | DriverError::NoRuns => UsageError(error.to_string()).into(),
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bus_has_kind_and_place() {
        assert_eq!("sim".parse(), Ok(BusName::Sim));
        let names = ["vfio-user:/tmp/card", "vfio-user:a:b", "vfio:0000:01:00.0"];
        for name in names {
            let card: CardName = name.parse().expect(name);
            assert_eq!(card.to_string(), name);
            assert_eq!(name.parse(), Ok(BusName::Card(card)));
        }
        for wrong in ["", "vfio-user", "vfio-user:", "vfio:", "pci:1", "/tmp/card"] {
            let error = wrong.parse::<BusName>().expect_err(wrong);
            assert!(error.contains("vfio-user:SOCKET") && error.contains("vfio:"), "{error}");
        }
        assert!("sim".parse::<CardName>().is_err_and(|error| error.contains("sim-card")));
    }
}
