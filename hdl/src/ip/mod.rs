//! The sides of the vendor's hard blocks that face the card.

pub mod cmac;
pub mod keep_count;
