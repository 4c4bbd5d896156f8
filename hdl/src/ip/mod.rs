//! The sides of the vendor's hard blocks that face the card.

pub mod cmac;
mod keep_count;
