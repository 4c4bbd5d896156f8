//! The message stream: one struct per handshake.
//!
//! Timing: a message may be handed over in every cycle.
//!
//! Invariants:
//! 1. A handshake is a rising clock edge with `valid` and `ready` high.
//! 2. While `valid` is high and `ready` low, `payload` keeps its value.
//! 3. `valid` never waits for `ready`.

use rust_hdl_core::prelude::*;
use rust_hdl_macros::LogicInterface;

/// The end that drives messages.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "MessageSink"]
pub struct MessageSource<T: Synth> {
    /// A message is offered.
    pub valid: Signal<Out, Bit>,
    /// The sink takes the message.
    pub ready: Signal<In, Bit>,
    /// The message.
    pub payload: Signal<Out, T>,
}

/// The end that takes messages.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "MessageSource"]
pub struct MessageSink<T: Synth> {
    /// A message is offered.
    pub valid: Signal<In, Bit>,
    /// The sink takes the message.
    pub ready: Signal<Out, Bit>,
    /// The message.
    pub payload: Signal<In, T>,
}
