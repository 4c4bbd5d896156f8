//! The boards: one description of each, the top around the card, and its constraints.
//!
//! ```text
//!   boards ──► description ──┬─► tops ── shell ── PCIe, MAC, card, window
//!                            ├─► tops ── golden: PCIe, window with flash
//!                            └─► xdc: pins, configuration, floorplan
//! ```

// The derive macros of rust-hdl generate methods without documentation.
#![allow(missing_docs)]
#![forbid(unsafe_code)]

pub mod boards;
pub mod card_box;
pub mod description;
pub mod device_side;
pub mod golden;
pub mod mac_side;
pub mod pads;
pub mod pcie_reasons;
pub mod pcie_side;
pub mod placed;
pub mod script;
pub mod shell;
pub mod start_reset;
pub mod tops;
pub mod urams;
pub mod window;
pub mod xdc;
