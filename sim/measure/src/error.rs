//! Why a measurement of the card has no figure.

use host::driver::error::DriverError;
use host::error::HostError;
use pcie_sim::IommuError;
use sim::card::CardError;
use verilate::block::BlockError;

use crate::scenario::BadScenario;

/// Why there is no figure.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The scenario cannot be measured.
    #[error(transparent)]
    Scenario(#[from] BadScenario),
    /// The card does not build.
    #[error(transparent)]
    Card(#[from] CardError),
    /// The DMA engines do not build.
    #[error(transparent)]
    Block(#[from] BlockError),
    /// The driver failed.
    #[error(transparent)]
    Host(#[from] HostError),
    /// Application memory cannot be accessed.
    #[error("application memory: {0}")]
    Memory(IommuError),
    /// More flows than the card has, or than its key slots take.
    #[error("the card takes fewer flows than {0}")]
    TooManyFlows(u16),
    /// No progress for too long.
    #[error("{0}: nothing moves any more")]
    Stuck(&'static str),
}

impl From<DriverError> for MeasureError {
    fn from(error: DriverError) -> Self {
        HostError::from(error).into()
    }
}
