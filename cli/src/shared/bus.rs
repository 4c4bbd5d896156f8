//! The bus to a card: as an option, and opened.
//!
//! ```text
//!   sim ──────────────► a card in this process
//!   vfio-user:SOCKET ─► one that another process serves (`zeronic sim-card`)
//! ```
//! What cannot be opened is an error of one line with the remedy, exit status 2.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use host::driver::error::DriverError;
use host::error::HostError;
use vfio::{OpenError, SocketBus};

use crate::shared::options::UsageError;

/// A bus, as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BusName {
    /// The simulated card of this process.
    Sim,
    /// A card behind a socket.
    VfioUser(PathBuf),
}

impl FromStr for BusName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "sim" => Ok(Self::Sim),
            text => socket(text).map(Self::VfioUser),
        }
    }
}

/// Reads the bus to a card that outlives this process.
pub fn socket(text: &str) -> Result<PathBuf, String> {
    match text.split_once(':') {
        Some(("vfio-user", socket)) if !socket.is_empty() => Ok(socket.into()),
        Some(("vfio", _)) => Err(format!(
            "'{text}': the kernel's VFIO is not supported yet; vfio-user:SOCKET is a card that \
             another process serves"
        )),
        None if text == "sim" => Err(format!(
            "'{text}': a card in this process ends with it; serve one with `zeronic sim-card` and \
             name it by vfio-user:SOCKET"
        )),
        _ => Err(format!("'{text}' is no bus; use vfio-user:SOCKET")),
    }
}

/// Opens the card at a socket.
pub fn open(socket: &Path) -> Result<SocketBus, UsageError> {
    SocketBus::open(socket).map_err(|error| match error {
        OpenError::OtherDevice { .. } => {
            UsageError(format!("{error}; name the socket of `zeronic sim-card --vfio-user`"))
        }
        OpenError::OtherBar { .. } => {
            UsageError(format!("{error}; use a card and a program of one release"))
        }
        OpenError::Client(error) => UsageError(error.to_string()),
    })
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
        DriverError::NotACard(_) | DriverError::GoldenImage | DriverError::Gone => {
            UsageError(error.to_string()).into()
        }
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bus_has_a_kind_and_a_place() {
        assert_eq!("sim".parse(), Ok(BusName::Sim));
        let socket = |text: &str| BusName::VfioUser(text.into());
        assert_eq!("vfio-user:/tmp/card".parse(), Ok(socket("/tmp/card")));
        assert_eq!("vfio-user:a:b".parse(), Ok(socket("a:b")));
        for wrong in ["", "vfio-user", "vfio-user:", "pci:1", "/tmp/card", "vfio:0000:01:00.0"] {
            let error = wrong.parse::<BusName>().expect_err(wrong);
            assert!(error.contains("vfio-user:SOCKET"), "{error}");
        }
        assert!(super::socket("sim").is_err_and(|error| error.contains("sim-card")));
    }
}
