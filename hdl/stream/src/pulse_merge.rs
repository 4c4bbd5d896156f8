//! Two pulse streams of which one at most has a pulse in a cycle, as one.
//!
//! Timing: combinational.
//!
//! Invariants:
//! 1. A pulse of `first` goes before one of `second`, which the caller then repeats.

use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock};

use crate::pulse::{PulseSink, PulseSource};

/// The merge. See the module's head.
#[derive(LogicBlock, Default)]
pub struct PulseMerge<T: Synth> {
    /// Goes first.
    pub first: PulseSink<T>,
    /// The other.
    pub second: PulseSink<T>,
    /// Both.
    pub source: PulseSource<T>,
}

impl<T: Synth> Logic for PulseMerge<T> {
    #[hdl_gen]
    fn update(&mut self) {
        self.source.valid.next = self.first.valid.val() | self.second.valid.val();
        self.source.payload.next = self.second.payload.val();
        if self.first.valid.val() {
            self.source.payload.next = self.first.payload.val();
        }
    }
}
