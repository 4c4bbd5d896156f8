//! Why the cost of the control stack has no figure.

use std::io;

use host::driver::bus::BusError;
use thiserror::Error;

pub use crate::null_card::rig::RigError;

/// Why there is no figure.
#[derive(Debug, Error)]
pub enum StackError {
    /// The rig stopped.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// A register of the card cannot be read or written.
    #[error(transparent)]
    Bus(#[from] BusError),
    /// The system refused a process, a thread or a socket.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The card's thread has ended by a panic.
    #[error("the card's thread has panicked")]
    CardPanicked,
    /// Valgrind failed.
    #[error("valgrind, {work}: {said}")]
    Valgrind {
        /// The workload.
        work: &'static str,
        /// What it said.
        said: String,
    },
    /// Valgrind saw none of the calls.
    #[error("valgrind, {work}: nothing was counted")]
    NothingCounted {
        /// The workload.
        work: &'static str,
    },
}

/// With the error of this measurement, unless said otherwise.
pub type Result<T, E = StackError> = std::result::Result<T, E>;
