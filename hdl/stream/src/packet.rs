//! The packet stream: bytes of whole packets, up to 64 in a beat.
//!
//! Byte i of a beat is bits `8 i + 7 : 8 i` of `data`.
//!
//! Timing: a beat may be handed over in every cycle.
//!
//! Invariants:
//! 1. A handshake is a rising clock edge with `valid` and `ready` high. While `valid` is high and
//!    `ready` low, every other source signal keeps its value. `valid` never waits for `ready`.
//! 2. `byte_count` is 64 on every beat except the last, and 1 to 64 on the last. Bytes beyond it
//!    are undefined; consumers ignore them.
//! 3. Packets are not interleaved. There are no empty packets.
//! 4. `abort` has a meaning on the last beat only: the packet is invalid. The receiving block
//!    forwards the abort, or drops the packet and counts it.
//! 5. Where a stage needs facts about a packet, they travel as a message, one for each packet in
//!    the same order; the block's head says whether before the first beat or after the last.

use rust_hdl_core::prelude::*;
use rust_hdl_macros::LogicInterface;

/// The end that drives packets.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "PacketSink"]
pub struct PacketSource {
    /// A beat is offered.
    pub valid: Signal<Out, Bit>,
    /// The sink takes the beat.
    pub ready: Signal<In, Bit>,
    /// Bytes of the beat, byte 0 in bits 7:0.
    pub data: Signal<Out, Bits<512>>,
    /// Bytes used, 1 to 64.
    pub byte_count: Signal<Out, Bits<7>>,
    /// Last beat of the packet.
    pub last: Signal<Out, Bit>,
    /// With `last`: the packet is invalid.
    pub abort: Signal<Out, Bit>,
}

/// The end that takes packets.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "PacketSource"]
pub struct PacketSink {
    /// A beat is offered.
    pub valid: Signal<In, Bit>,
    /// The sink takes the beat.
    pub ready: Signal<Out, Bit>,
    /// Bytes of the beat, byte 0 in bits 7:0.
    pub data: Signal<In, Bits<512>>,
    /// Bytes used, 1 to 64.
    pub byte_count: Signal<In, Bits<7>>,
    /// Last beat of the packet.
    pub last: Signal<In, Bit>,
    /// With `last`: the packet is invalid.
    pub abort: Signal<In, Bit>,
}
