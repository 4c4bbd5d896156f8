//! Why CPU time has no figure.

use std::io;

use host::transport::TransportError;
use thiserror::Error;

pub use crate::joined::JoinedError;
pub use crate::null_card::rig::RigError;

/// Why there is no figure.
#[derive(Debug, Error)]
pub enum CpuError {
    /// The rig of the null card stopped.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// The two joined hosts stopped.
    #[error(transparent)]
    Joined(#[from] JoinedError),
    /// The machine forbids what the kernel's TCP needs.
    #[error("the kernel's TCP needs network namespaces: {0}")]
    Refused(TransportError),
    /// The kernel's side failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The system refused a socket.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The system does not say how busy it is.
    #[error("/proc/stat")]
    NoStatistics(#[source] io::Error),
    /// It says so in another way.
    #[error("/proc/stat: no line of all cores")]
    OtherStatistics,
    /// The kernel's connection has ended.
    #[error("the kernel's connection has ended")]
    Ended,
    /// The kernel brought other bytes than were sent.
    #[error("kernel: sum {found} instead of {expected}")]
    WrongSum {
        /// Sum of what came.
        found: u64,
        /// Sum of what was sent.
        expected: u64,
    },
    /// The sender's thread has ended by a panic.
    #[error("the sender panicked")]
    SenderPanicked,
    /// The card's thread has ended by a panic.
    #[error("the card's thread has panicked")]
    CardPanicked,
    /// No byte has arrived.
    #[error("nothing was moved")]
    NothingMoved,
}

impl CpuError {
    /// An error of the kernel's side, told apart from what this machine forbids.
    pub(super) fn of_kernel(error: TransportError) -> Self {
        match error.is_refusal() {
            true => Self::Refused(error),
            false => Self::Transport(error),
        }
    }
}

/// With the error of this measurement, unless said otherwise.
pub type Result<T, E = CpuError> = std::result::Result<T, E>;
