//! Memory requests to PCIe packets: read and write engines, completer, rings, interrupts.

// The derive macros of rust-hdl generate methods without documentation.
#![allow(missing_docs)]
#![forbid(unsafe_code)]
