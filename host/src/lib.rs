//! Driver and control path: bus, control stack, transports, provider library.

pub mod bus;
pub mod control;
pub mod device;
pub mod error;
mod headers;
mod progress;
pub mod provider;
pub mod rings;
pub mod transport;
