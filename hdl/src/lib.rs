//! The assembled card: the top block that only connects, and its Verilog.

pub mod ip;
pub mod lint;
pub mod ports;
mod reserved;
