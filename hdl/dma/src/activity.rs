//! What the requester reports of itself, for counters and peaks.
//!
//! Invariants:
//! 1. Bit n of an event field is high in each cycle that moves counter n of the group of the same
//!    name in `abi::counters::COUNTER_GROUPS`.
//! 2. Levels are those of the cycle.

use stream::prelude::*;

/// The end that reports.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "ActivitySink"]
pub struct ActivitySource {
    /// Group "requests", but for bits 2 and 3: credits are seen outside.
    pub requests: Signal<Out, Bits<8>>,
    /// Group "reads".
    pub reads: Signal<Out, Bits<8>>,
    /// Group "read latency".
    pub latency: Signal<Out, Bits<8>>,
    /// A read of payload to send failed.
    pub payload_failed: Signal<Out, Bit>,
    /// A flush failed.
    pub flush_failed: Signal<Out, Bit>,
    /// A completion that nobody waits for.
    pub unexpected: Signal<Out, Bit>,
    /// Requests without an answer handed on.
    pub reads_in_flight: Signal<Out, Bits<16>>,
    /// Completion headers that they may need.
    pub completion_headers: Signal<Out, Bits<16>>,
    /// Completion data that they may need, in units of 16 bytes.
    pub completion_data: Signal<Out, Bits<16>>,
    /// Writes inside the hard block.
    pub writes_in_flight: Signal<Out, Bits<16>>,
    /// Beats that wait to be written.
    pub write_beats: Signal<Out, Bits<16>>,
    /// Tags out of use.
    pub tags_quarantined: Signal<Out, Bits<16>>,
}

/// The end that counts.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "ActivitySource"]
pub struct ActivitySink {
    /// Group "requests", but for bits 2 and 3: credits are seen outside.
    pub requests: Signal<In, Bits<8>>,
    /// Group "reads".
    pub reads: Signal<In, Bits<8>>,
    /// Group "read latency".
    pub latency: Signal<In, Bits<8>>,
    /// A read of payload to send failed.
    pub payload_failed: Signal<In, Bit>,
    /// A flush failed.
    pub flush_failed: Signal<In, Bit>,
    /// A completion that nobody waits for.
    pub unexpected: Signal<In, Bit>,
    /// Requests without an answer handed on.
    pub reads_in_flight: Signal<In, Bits<16>>,
    /// Completion headers that they may need.
    pub completion_headers: Signal<In, Bits<16>>,
    /// Completion data that they may need, in units of 16 bytes.
    pub completion_data: Signal<In, Bits<16>>,
    /// Writes inside the hard block.
    pub writes_in_flight: Signal<In, Bits<16>>,
    /// Beats that wait to be written.
    pub write_beats: Signal<In, Bits<16>>,
    /// Tags out of use.
    pub tags_quarantined: Signal<In, Bits<16>>,
}
