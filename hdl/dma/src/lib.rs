//! Memory requests to PCIe packets: the read and the write engine behind the requester port.

// The derive macros of rust-hdl generate methods without documentation.
#![allow(missing_docs)]
#![forbid(unsafe_code)]

pub mod activity;
pub mod byte_enables;
pub mod cut;
pub mod messages;
pub mod pack;
pub mod read;
pub mod requester;
pub mod write;
