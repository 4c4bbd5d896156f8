//! Measures the card at speed, in simulated time, with every byte judged.
//!
//! ```text
//!   Peer ── frames ──► MAC ──► card ══ PCIe ══► memory, header queue ──► Host (driver, buffers)
//!     ▲ judges entries and memory       ◄══════ descriptors, payload ◄── Sender (judges frames)
//! ```
//! | file | what |
//! |---|---|
//! | `scenario.rs`, `check.rs` | what is measured; what can be |
//! | `limits.rs`, `load.rs` | physical limits; what the packets of a scenario cost |
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
mod check;
pub mod content;
pub mod engine_limits;
pub mod engines;
pub mod error;
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
