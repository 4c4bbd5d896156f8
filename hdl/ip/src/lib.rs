//! The vendor's hard blocks: their user sides, as the card sees them, and the blocks themselves.

// The derive macros of rust-hdl generate methods without documentation.
#![allow(missing_docs)]
#![forbid(unsafe_code)]

pub mod axi_lite;
pub mod board_clock;
pub mod buffers;
pub mod cmac;
pub mod completion_buffer;
pub mod configuration_access;
pub mod keep_count;
pub mod mac_core;
pub mod mac_sides;
pub mod models;
pub mod pcie;
pub mod pcie_core;
pub mod pcie_sides;
pub mod startup;
pub mod system_monitor;
