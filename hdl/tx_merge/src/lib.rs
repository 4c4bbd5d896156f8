//! Send: fetch, gather, segment, merge, checksum.

// The derive macros of rust-hdl generate methods without documentation.
#![allow(missing_docs)]
#![forbid(unsafe_code)]
