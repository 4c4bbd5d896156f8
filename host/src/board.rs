//! What is around the card on its board: the flash, and the port that loads an image from it.
//!
//! ```text
//!   image ──► chips: what goes into which chip
//!               └──► update: what is done in which order ─► flash ──┐
//!                                       identity, port ─────────────┴─► Window ─► BAR 0
//!                                                                         └─ resource: sysfs
//! ```
//! Everything here works through [`window::Window`], so a simulated board will do as well.

pub mod chips;
pub mod flash;
pub mod identity;
pub mod port;
pub mod resource;
pub mod update;
pub mod window;
