//! The system under test: the Verilated card in a simulated slot, with the models around it.
//!
//! ```text
//!   host ── Bus ──> bus ──> card: Verilated model, PCIe model, MAC <── wire ── lab: peer
//!                    └────> golden_card: the golden model in its place
//!   xvc: a cable ─► jtag: device, its configuration ─┬─► flash_chip: SPI flash ─► boot
//!   flash_window: the board window without a card ───┘
//!   harness: source, sink, monitor, MAC, traffic       dma_rig: the DMA engines alone
//! ```
#![deny(unsafe_code)]

pub mod boot;
pub mod bus;
pub mod card;
pub mod caught;
pub mod connections;
pub mod coverage;
pub mod direct;
pub mod dma_rig;
pub mod faults;
pub mod flash_chip;
pub mod flash_window;
pub mod golden_card;
pub mod harness;
pub mod hooked_bus;
pub mod joined;
pub mod jtag;
pub mod lab;
pub mod moved;
pub mod network_side;
pub mod null_card;
pub mod null_protocol;
pub mod planted;
pub mod switched;
pub mod xvc;
