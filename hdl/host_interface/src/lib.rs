//! The card's side of the host: registers, rings, completions, interrupts.
//!
//! ```text
//!  CQ ─► completer ─► settings, doorbells ──────────────► all blocks
//!  CC ◄─ completer ◄─ csr: registers, counters, epochs
//!        ring: command and send slots ──────────────────► tables, tx_merge
//!        completion: confirmations, interrupt: MSI-X ───► dma.write
//! ```

// The derive macros of rust-hdl generate methods without documentation.
#![allow(missing_docs)]
#![forbid(unsafe_code)]

pub mod board_window;
pub mod completer;
pub mod completion;
pub mod config_space_reader;
pub mod credit_stalls;
pub mod csr;
pub mod host_interface;
pub mod interrupt;
pub mod messages;
pub mod owner;
pub mod pcie_status;
pub mod ring;
pub mod ring_side;
pub mod small_write;
pub mod write_mux;
