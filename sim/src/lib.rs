//! The system under test: Verilated card, MAC model, drivers, monitors, checkers.
//!
//! ```text
//!   hdl block ── emit ──> Verilog ──> design ──> verilated::Model <── clocks
//!                                                   ▲        │
//!                                    source, mac ───┘        └──> sink, monitor ──> test
//! ```
#![deny(unsafe_code)]

pub mod area;
pub mod bench;
pub mod bus;
pub mod card;
pub mod clocks;
mod compile;
pub mod design;
pub mod direct;
pub mod golden_card;
pub mod lab;
pub mod mac;
pub mod measure;
pub mod monitor;
pub mod payload;
pub mod pcapng;
pub mod pcie_ports;
pub mod planted;
pub mod probe;
pub mod requester;
pub mod shared_beat;
mod shim;
pub mod sink;
pub mod source;
pub mod stall;
pub mod toolchain;
pub mod traffic;
pub mod verilated;
pub mod wave;
pub mod width;
pub mod wire;
