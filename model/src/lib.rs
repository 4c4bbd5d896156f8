//! What a stream costs on each data path, and how far that is from published measurements.
//!
//! ```text
//!   paths.toml ─────► Table ──┐
//!                             ├─► evaluate ──► Cost: cores, memory, PCIe, latency, goodput
//!   Setup (sliders) ──────────┘                  │
//!   published.toml ─► Series ── half of it ──► fit, the rest ──► errors
//! ```
//! No I/O: both tables are part of the crate.

pub mod cost;
pub mod document;
pub mod error;
pub mod fit;
pub mod page;
pub mod pcie;
pub mod published;
pub mod setup;
pub mod table;
pub mod validate;
pub mod wire;
