//! Merges two pulse streams, at most one of which has a pulse in a cycle, into one.
//!
//! Timing: combinational.
//!
//! Invariants:
//! 1. Where both have a pulse in a cycle that of `first` passes; the caller repeats that of
//!    `second`.

use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock};

use crate::pulse::{PulseSink, PulseSource};

/// The merge. See the module's head.
#[derive(LogicBlock, Default)]
pub struct PulseMerge<T: Synth> {
    /// Pulses that always pass.
    pub first: PulseSink<T>,
    /// Pulses that pass in cycles without one of `first`.
    pub second: PulseSink<T>,
    /// The pulses of both.
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
