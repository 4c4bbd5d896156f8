//! The system under test: the Verilated card in a simulated slot, with the models around it.
//!
//! ```text
//!   host ── Bus ──> bus ──> card: Verilated model, PCIe model, MAC <── wire ── peer (crate lab)
//!   harness: source, sink, monitor, MAC, traffic       dma_rig: the DMA engines alone
//! ```
#![deny(unsafe_code)]

pub mod bus;
pub mod card;
pub mod caught;
pub mod coverage;
pub mod direct;
pub mod dma_rig;
pub mod faults;
pub mod harness;
pub mod moved;
pub mod planted;
pub mod switched;
