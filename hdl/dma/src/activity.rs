//! What the requester reports of itself, for counters and peaks.
//!
//! Invariants:
//! 1. Levels are those of the cycle.

use stream::prelude::*;

/// The end that reports.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "ActivitySink"]
pub struct ActivitySource {
    /// Events of requests; those of credits are low: credits are visible outside only.
    pub requests: Signal<Out, RequestEvents>,
    /// Events of reads.
    pub reads: Signal<Out, ReadEvents>,
    /// Latency of the sampled read.
    pub latency: Signal<Out, LatencyEvents>,
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
    /// Events of requests; those of credits are low: credits are visible outside only.
    pub requests: Signal<In, RequestEvents>,
    /// Events of reads.
    pub reads: Signal<In, ReadEvents>,
    /// Latency of the sampled read.
    pub latency: Signal<In, LatencyEvents>,
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
