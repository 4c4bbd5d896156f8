//! A card without hardware: the golden card behind the host's [`Bus`](host::driver::bus::Bus), a
//! wire that loses, reorders, repeats and damages, and a peer.
//!
//! ```text
//!   application ─ Provider ─ Bus ─ golden_card ── wire ──► peer
//!                    └ transport     or a simulated one   ◄──
//! ```
//! A [`Machine`](machine::Machine) holds them together, for an exchange or for a test's own steps.
//!
//! It needs neither rust-hdl nor Verilator: a program builds on it in seconds. `sim` puts the
//! Verilated card in the place of the golden one.
#![deny(unsafe_code)]

pub mod exchange;
pub mod frame;
pub mod golden_card;
pub mod hooked_bus;
pub mod machine;
pub mod network_side;
pub mod time;
pub mod wire;
