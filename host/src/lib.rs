//! Driver and control path: bus, control stack, transports, provider library.

pub mod transport;
