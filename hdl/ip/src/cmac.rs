//! Between the ports of the 100G MAC and the card: received frames, frames to send, and the state
//! of the wire.
//!
//! ```text
//!  rx_axis, usr_rx_reset ──► [receive] ──► frames                        (mac_clock)
//!  frames ─► [send guard] ─► AsyncFifo ─► FrameFifo ─► [send port] ─► tx_axis
//!  stat_rx_*, usr_tx_reset ─► [link] ─► state, event of owner 0          (clock)
//!             └── clock ──┘          └────── mac_clock ─────┘
//! ```
//! The receive direction stays in the MAC's clock domain: it crosses in the packet buffer of
//! `rx_split`.
//!
//! Source: PG203 (CMAC UltraScale+), AXI4-Stream user interface.

pub mod link;
pub mod link_control;
pub mod messages;
pub mod pause;
pub mod receive;
pub mod send;
pub mod send_guard;
pub mod send_port;
pub mod wire_registers;
