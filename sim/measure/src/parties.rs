//! The three parties of a run; each judges what it gets.
//!
//! ```text
//!   Peer ── frames ──► MAC ──► card ══ PCIe ══► memory, header queue ──► Host (driver, buffers)
//!     ▲ judges entries and memory       ◄══════ descriptors, payload ◄── Sender (judges frames)
//! ```
//! `sequence` says which packet of a flow comes next, for all three.

pub mod host;
pub mod peer;
pub mod sender;
pub mod sequence;
