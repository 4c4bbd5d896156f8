//! The assembled card: the top block that only connects, and its Verilog.

pub mod card_counters;
pub mod csr;
pub mod epochs;
pub mod event_counters;
pub mod ip;
pub mod lint;
pub mod ports;
