//! The system under test: the Verilated card in a simulated slot, with the models around it.
//!
//! ```text
//!   host ── Bus ──> bus ──> card: Verilated model, PCIe model, MAC <── wire ── lab: peer
//!                    └────> golden_card: the golden model in its place
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
pub mod golden_card;
pub mod harness;
pub mod hooked_bus;
pub mod lab;
pub mod moved;
pub mod network_side;
pub mod planted;
pub mod switched;
