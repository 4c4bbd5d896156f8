//! What drives a network plugin as NCCL does, without NCCL and without a GPU.
//!
//! ```text
//!   nccl-driver ─► driver: random legal orders ─► Net: one of five versions ─► plugin
//!   nccl-cpu ────► the real NCCL, its CUDA entries replaced, a kernel on the CPU ─► plugin
//! ```
#![deny(unsafe_code)]

#[allow(unsafe_code, reason = "entries and structures are those of C")]
pub mod cpu;
pub mod driver;
#[allow(unsafe_code, reason = "a plugin is a table of functions of C")]
pub mod net;
