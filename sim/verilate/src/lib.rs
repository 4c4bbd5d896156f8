//! Makes models from Verilog: pinned tools, compiled designs, running models, clocks, waveforms.
//!
//! ```text
//!   Verilog ──> design ──> verilated::Model <── clocks ──> wave
//!      │          └─ toolchain, shim, compile
//!      └──────> area: LUTs, memories, longest paths
//! ```
#![deny(unsafe_code)]

pub mod area;
pub mod block;
pub mod clocks;
mod compile;
mod debian;
pub mod design;
pub mod error;
pub mod icarus;
mod install;
mod library;
pub mod options;
pub mod shared;
mod shim;
pub mod slang;
pub mod toolchain;
pub mod verilated;
pub mod wave;
pub mod width;
