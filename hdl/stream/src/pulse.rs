//! The pulse stream: one struct per cycle that the sink takes at once; there is no back-pressure.
//!
//! Timing: the sink takes the message in the cycle in which `valid` is high.
//!
//! Invariants:
//! 1. Every cycle with `valid` high is one message. The sink must take it.

use rust_hdl_core::prelude::*;
use rust_hdl_macros::LogicInterface;

/// The end that drives pulses.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "PulseSink"]
pub struct PulseSource<T: Synth> {
    /// There is a message in this cycle.
    pub valid: Signal<Out, Bit>,
    /// The message.
    pub payload: Signal<Out, T>,
}

/// The end that takes pulses.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "PulseSource"]
pub struct PulseSink<T: Synth> {
    /// There is a message in this cycle.
    pub valid: Signal<In, Bit>,
    /// The message.
    pub payload: Signal<In, T>,
}
