//! Models of what is around the card on its board: flash chips, a cable, the board window.
//!
//! ```text
//!   xvc: a cable ─► jtag: device, its configuration ─┬─► flash_chip: SPI flash ─► boot
//!   flash_window: the board window without a card ───┘
//!     └► board_window: with pins, clocks and mac_core, the MAC's registers before a wire
//! ```
//! `slot`: a card in a slot of a made-up system. No card is simulated here. Tests that join these
//! models with one take it from crate `sim`.

pub mod board_window;
pub mod boot;
pub mod flash_chip;
pub mod flash_window;
pub mod jtag;
pub mod mac_core;
pub mod slot;
pub mod xvc;
