//! The assembled card: the top block that only connects, and its Verilog.

pub mod card_counters;
pub mod csr;
pub mod datapath;
pub mod epochs;
pub mod event_counters;
pub mod host_interface;
pub mod identity;
pub mod ip;
pub mod lint;
pub mod nic;
pub mod peaks;
pub mod ports;
pub mod read_port;
pub mod register_map;
pub mod ring_side;
