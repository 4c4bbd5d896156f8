//! Measures the card at speed, in simulated time, and the host in its own, with every byte judged.
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
//! | `run.rs` | warm-up, measurement, drain, verdict |
//! | `latency.rs`, `latencies.rs` | times port to port |
//! | `engines.rs`, `engine_limits.rs` | the DMA engines without the card around them |
//! | `null_card.rs`, `null_protocol.rs` | the contract alone, under a host that is measured |
//! | `joined.rs` | two hosts and their cards on a wire |
//! | `goodput.rs` | our own TCP from a card to a peer, over a wire with delay and loss |
//! | `connections.rs` | as many connections as there are flows |
//!
//! Invariants
//! 1. No figure without a verdict: bytes, order, guards, counters and the rules of link and MAC are
//!    judged in every run; one wrong byte makes the run fail, however fast it was.
//! 2. The host's work takes no simulated time; everything that it does over the bus does.
//! 3. Traffic is a function of the scenario, seed included.

mod check;
pub mod connections;
pub mod cpu;
pub mod dma;
pub mod doorbell;
pub mod error;
pub mod host;
pub mod joined;
pub mod latency;
pub mod limits;
pub mod load;
pub mod loss;
pub mod networks;
pub mod null_card;
pub mod null_protocol;
pub mod packets;
pub mod parties;
pub mod run;
pub mod scenario;
pub mod speed;
pub mod throughput;
pub mod timing;
