//! The real NCCL on a machine without a GPU.
//!
//! ```text
//!   libnccl.so.2 ── its CUDA entries, by its own symbol table ─► jumps to runtime, entries
//!                └─ kernels that it launches ─► queue ─► kernel: rings and messages on the CPU
//! ```
//! For tests alone. NCCL links the CUDA runtime statically and keeps its symbols, so each entry can
//! be overwritten by a jump. What is not replaced says its name and fails. A kernel reads NCCL's
//! own structures: their layouts are in a table by release ([`layout`]), and a release that it does
//! not have is refused.

mod allocations;
mod entries;
mod install;
mod installed;
mod kernel;
mod layout;
mod primitives;
mod queue;
mod runtime;

pub use self::allocations::allocate;
pub use self::install::{install, Library};
pub use self::queue::drain;
