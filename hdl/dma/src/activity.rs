//! The requester's report for counters and peaks: events and levels.
//!
//! Timing: a pulse is one event. A level is the value of the cycle.
//!
//! Source: `abi::counters`, groups "requests" and "reads".

use stream::prelude::*;

/// The end that reports events and levels.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "ActivitySink"]
pub struct ActivitySource {
    /// Events of requests. Those of flow control credits are low here: the credits are seen outside
    /// of the requester only.
    pub requests: Signal<Out, RequestEvents>,
    /// Events of reads.
    pub reads: Signal<Out, ReadEvents>,
    /// Bucket of the latency of a sampled read.
    pub latency: Signal<Out, LatencyEvents>,
    /// A read of payload to send failed.
    pub payload_failed: Signal<Out, Bit>,
    /// A flush read failed.
    pub flush_failed: Signal<Out, Bit>,
    /// A completion came that belongs to no outstanding read.
    pub unexpected: Signal<Out, Bit>,
    /// Read requests that were sent and whose read data have not been delivered.
    pub reads_in_flight: Signal<Out, Bits<16>>,
    /// Completion headers that the reads in flight may still need.
    pub completion_headers: Signal<Out, Bits<16>>,
    /// Completion data that the reads in flight may still need, in units of 16 bytes.
    pub completion_data: Signal<Out, Bits<16>>,
    /// Writes that the hard block has taken and not yet reported as sent.
    pub writes_in_flight: Signal<Out, Bits<16>>,
    /// Payload beats that wait to be written.
    pub write_beats: Signal<Out, Bits<16>>,
    /// Tags that are out of use until reset.
    pub tags_quarantined: Signal<Out, Bits<16>>,
}

/// The end that counts events and records levels.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "ActivitySource"]
pub struct ActivitySink {
    /// Events of requests. Those of flow control credits are low here: the credits are seen outside
    /// of the requester only.
    pub requests: Signal<In, RequestEvents>,
    /// Events of reads.
    pub reads: Signal<In, ReadEvents>,
    /// Bucket of the latency of a sampled read.
    pub latency: Signal<In, LatencyEvents>,
    /// A read of payload to send failed.
    pub payload_failed: Signal<In, Bit>,
    /// A flush read failed.
    pub flush_failed: Signal<In, Bit>,
    /// A completion came that belongs to no outstanding read.
    pub unexpected: Signal<In, Bit>,
    /// Read requests that were sent and whose read data have not been delivered.
    pub reads_in_flight: Signal<In, Bits<16>>,
    /// Completion headers that the reads in flight may still need.
    pub completion_headers: Signal<In, Bits<16>>,
    /// Completion data that the reads in flight may still need, in units of 16 bytes.
    pub completion_data: Signal<In, Bits<16>>,
    /// Writes that the hard block has taken and not yet reported as sent.
    pub writes_in_flight: Signal<In, Bits<16>>,
    /// Payload beats that wait to be written.
    pub write_beats: Signal<In, Bits<16>>,
    /// Tags that are out of use until reset.
    pub tags_quarantined: Signal<In, Bits<16>>,
}
