//! A size that is out of its range.

use thiserror::Error;

/// A size that is not supported, with what is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{name} is {value}, allowed are {min} to {max}")]
pub struct SizeError {
    /// Name of the setting.
    pub name: &'static str,
    /// Value of the setting.
    pub value: u64,
    /// Smallest allowed value.
    pub min: u64,
    /// Largest allowed value.
    pub max: u64,
}
