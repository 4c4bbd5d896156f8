//! Measures the card at speed, in simulated time, with every byte judged.
//!
//! ```text
//!   Peer ── frames ──► MAC ──► card ══ PCIe ══► memory, header queue ──► Host (driver, buffers)
//!     ▲ judges entries and memory       ◄══════ descriptors, payload ◄── Sender (judges frames)
//! ```
//! | file | what |
//! |---|---|
//! | `scenario.rs` | what is measured |
//! | `limits.rs`, `load.rs` | what physics allows; what the packets of a scenario cost |
//! | `content.rs`, `frames.rs` | bytes of streams, frames that carry them |
//! | `buffers.rs`, `sequence.rs` | segments of a flow, packets of a flow |
//! | `host.rs` with `host/setup.rs`, `peer.rs`, `sender.rs` | the three parties |
//! | `run.rs`, `latency.rs` | warm-up, measurement, drain, verdict; times port to port |
//! | `engines.rs`, `engine_limits.rs` | the DMA engines without the card around them |
//!
//! Invariants
//! 1. No figure without a verdict: bytes, order, guards, counters and the rules of link and MAC are
//!    judged in every run; one wrong byte makes the run fail, however fast it was.
//! 2. The host's work takes no simulated time; everything that it does over the bus does.
//! 3. Traffic is a function of the scenario, seed included.

pub mod buffers;
pub mod content;
pub mod engine_limits;
pub mod engines;
pub mod frames;
pub mod host;
pub mod latency;
pub mod limits;
pub mod load;
pub mod peer;
pub mod run;
pub mod scenario;
pub mod sender;
pub mod sequence;

use ::host::driver::error::HostError;
use pcie_sim::IommuError;

use crate::bench::BlockError;
use crate::card::CardError;

/// Why there is no figure.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The scenario cannot be measured.
    #[error(transparent)]
    Scenario(#[from] scenario::BadScenario),
    /// The card does not build.
    #[error(transparent)]
    Card(#[from] CardError),
    /// The DMA engines do not build.
    #[error(transparent)]
    Block(#[from] BlockError),
    /// The driver failed.
    #[error(transparent)]
    Host(#[from] HostError),
    /// Application memory is not where it should be.
    #[error("application memory: {0}")]
    Memory(IommuError),
    /// More flows than the card has, or than its key slots take.
    #[error("the card takes fewer flows than {0}")]
    TooManyFlows(u16),
    /// Nothing moves any more.
    #[error("{0}: nothing moves any more")]
    Stuck(&'static str),
}
