//! What is connected to a model: drivers, sinks, monitors, and what they carry.
//!
//! ```text
//!   source, mac ──> verilated::Model ──> sink, monitor ──> test
//! ```

pub mod agent;
pub mod bench;
pub mod capture;
pub mod capture_error;
mod link;
pub mod mac;
pub mod mac_pins;
pub mod monitor;
pub mod payload;
pub mod pcapng;
pub mod pcie_ports;
pub mod probe;
pub mod sink;
pub mod source;
pub mod stall;
pub mod traffic;
mod unpack;
