//! What can be wrong with an input.

use thiserror::Error;

/// Why nothing is computed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ModelError {
    /// A number outside its range.
    #[error("{what} is {value}; it goes from {least} to {most} {unit}")]
    OutOfRange {
        /// The number's name.
        what: &'static str,
        /// What was given.
        value: f64,
        /// Least that is taken.
        least: f64,
        /// Most that is taken.
        most: f64,
        /// Its unit, or nothing.
        unit: &'static str,
    },
    /// A name that the table does not have.
    #[error("no {kind} {name:?}; known: {known}")]
    Unknown {
        /// Path, host, load, transport or source.
        kind: &'static str,
        /// What was given.
        name: String,
        /// All names, separated by commas.
        known: String,
    },
    /// A table that does not follow its own rules.
    #[error("{table}: {message}")]
    Table {
        /// The file.
        table: &'static str,
        /// What is wrong and what to do.
        message: String,
    },
}
