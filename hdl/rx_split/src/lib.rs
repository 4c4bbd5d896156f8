//! Receive: parse, verify, classify, place, split.

// The derive macros of rust-hdl generate methods without documentation.
#![allow(missing_docs)]
#![forbid(unsafe_code)]
