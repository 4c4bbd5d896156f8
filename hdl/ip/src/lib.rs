//! The user side of the vendor's hard blocks, and the boards that have them.

// The derive macros of rust-hdl generate methods without documentation.
#![allow(missing_docs)]
#![forbid(unsafe_code)]

pub mod axi_lite;
pub mod board;
pub mod cmac;
pub mod keep_count;
pub mod pcie;
