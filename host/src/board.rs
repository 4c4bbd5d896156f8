//! What is around the card on its board: the flash, over the board window or over a cable.
//!
//! ```text
//!   image ──► chips: what goes into which chip
//! ```

pub mod chips;
