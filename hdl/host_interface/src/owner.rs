//! Blocks that serve several owners.

pub mod owner_index;
pub mod owner_registers;
pub mod owner_set;
