//! Driver and control path: bus, control stack, transports, provider library.

pub mod bus;
pub mod control;
mod copier;
pub mod device;
pub mod error;
mod failures;
mod headers;
pub mod memory;
pub mod message;
mod owner;
mod progress;
pub mod provider;
pub mod rings;
pub mod transport;
mod watch;
