//! Hosts, links and switches in discrete events: the TCP engine on a simulated network.
//!
//! ```text
//!   flow ─► host: engine, CPU, card queue ─ link ─► switch: shared buffer, marks ─ link ─► host
//!                                           loss, reordering, duplication, delay
//! ```
//! There is no payload. A packet carries the true stream offset of its payload beside the header,
//! as a card would find it by position; [`memory::Memory`] holds that what the receiver says it
//! took lies at exactly that offset, inside of what was granted, and is new.
//!
//! Invariants
//! 1. Packets sent and doubled = delivered + lost, with a reason each + under way
//!    ([`network::Network::under_way`] counts the last where they are).
//! 2. The same parameters give the same run: nothing here or in the engine reads a clock, and each
//!    link draws from a generator of its own.
//! 3. Times are picoseconds from the start of the run; costs are those of `docs/bench.md`.

#![forbid(unsafe_code)]

pub mod counts;
pub mod flow;
pub mod host;
pub mod link;
pub mod measure;
pub mod memory;
pub mod network;
pub mod packet;
pub mod schedule;
pub mod switch;
pub mod topology;
pub mod units;

pub use network::Network;
pub use topology::Topology;
