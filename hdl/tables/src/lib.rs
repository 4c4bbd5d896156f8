//! The card's state: flow table, memory-segment lists, memory-region table.

// The derive macros of rust-hdl generate methods without documentation.
#![allow(missing_docs)]
#![forbid(unsafe_code)]
