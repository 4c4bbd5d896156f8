//! The assembled card: the top block, which only connects, and its Verilog.

pub mod card;
pub mod crossings;
pub mod datapath;
pub mod emit;
pub mod ports;
