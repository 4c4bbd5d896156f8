//! Which TCP an end has.

use clap::ValueEnum;
use host::transport::TransportError;

use crate::shared::options::UsageError;
use crate::shared::output::complain;

/// What smoltcp is called.
pub const SMOLTCP: &str = "smoltcp";
/// Port at which a peer of the lab's network listens.
pub const PORT: u16 = 5001;

/// Which TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Stack {
    /// The kernel's where the machine allows it, otherwise smoltcp.
    Auto,
    /// The Linux kernel's, in a network namespace of its own.
    Linux,
    /// smoltcp, in this process.
    Smoltcp,
}

/// The requested stack: falls back to smoltcp where allowed, otherwise an error with the reason.
pub fn choose<T>(
    wish: Stack,
    linux: impl FnOnce() -> Result<T, TransportError>,
    smoltcp: impl FnOnce() -> Result<T, TransportError>,
) -> anyhow::Result<(T, &'static str)> {
    if wish != Stack::Smoltcp {
        match linux() {
            Ok(stack) => return Ok((stack, "Linux kernel TCP")),
            Err(error) if error.is_refusal() && wish == Stack::Auto => {
                complain(&format!("{error}; using smoltcp instead"));
            }
            Err(error) if error.is_refusal() => {
                return Err(UsageError(format!("linux: {error}")).into());
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok((smoltcp()?, SMOLTCP))
}
