//! Memory requests to PCIe packets: the read engine and the write engine on the requester interface
//! of the PCIe hard block.

// The derive macros of rust-hdl generate methods without documentation.
#![allow(missing_docs)]
#![forbid(unsafe_code)]

pub mod activity;
pub mod byte_enables;
pub mod cutter;
pub mod last_job;
pub mod messages;
pub mod packer;
pub mod read;
pub mod requester;
pub mod write;
