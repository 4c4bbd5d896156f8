//! Which blocks run under random inputs, and when.

pub mod differences;

use rust_hdl_core::prelude::*;

/// Changes of inputs, each followed by a clock edge.
pub const STEPS: usize = 400;

/// When a block runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// In every run.
    Always,
    /// With `ZERONIC_LONG=1`.
    Long,
}

/// When a block of the registry runs: a leaf shares a model with others, another has its own.
pub fn run_time_of(_entry: &blocks::Entry, block: &dyn Block) -> When {
    match blocks::is_leaf(block) {
        true => When::Always,
        false => When::Long,
    }
}
