//! The card on its board: image files, the flash over the board window, and the card as a device of
//! the system, whose image is exchanged while the machine runs.
//!
//! ```text
//!   image ──► chips: what goes into which chip
//!               └──► update: what is done in which order ─► flash ──┐
//!                                       identity, port ─────────────┴─► Window ─► BAR 0
//!   pci: bridge and device while the image is exchanged ─► port           └─ resource: sysfs
//! ```
//! The flash is reached through [`window::Window`] alone, so a simulated board will do as well.
//! What this crate has of the card is `abi::window` and `abi::image`: neither its driver nor its
//! control path is in it, nor it in them.

pub mod chips;
pub mod flash;
pub mod identity;
pub mod image;
pub mod mac;
pub mod pci;
pub mod port;
pub mod resource;
pub mod update;
pub mod window;
