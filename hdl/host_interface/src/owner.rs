//! Blocks that keep something for each owner.

pub mod owner_index;
pub mod owner_registers;
pub mod owner_set;
