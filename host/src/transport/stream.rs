//! Streams and listeners of a transport: their names, states and measurements.

use std::time::Duration;

/// Names one connection of a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(pub u32);

/// Names one listening port of a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ListenerId(pub u32);

/// State of a connection, as its user sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamState {
    /// The handshake is in progress.
    Connecting,
    /// Open; the fields of [`StreamStatus`] show which halves are.
    Open,
    /// Both halves are closed, or the connection failed.
    Closed,
}

/// Status of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamStatus {
    /// The state of the connection.
    pub state: StreamState,
    /// Bytes accepted in order and not drained yet.
    pub readable_bytes: u64,
    /// Bytes fed and not acknowledged yet.
    pub unacknowledged_bytes: u64,
    /// The peer has closed its sending half, and everything before that was drained.
    pub end_of_stream: bool,
    /// The error number that ended the connection.
    pub error: Option<i32>,
}

/// Result of [`Transport::drain`](super::Transport::drain).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// Bytes drained, in order; 0 when there are none now.
    pub bytes: u64,
    /// The peer has closed its sending half, and no byte is left.
    pub end_of_stream: bool,
}

/// Measurements of a connection; a transport reports 0 for what it does not measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamInfo {
    /// Smoothed round-trip time.
    pub round_trip: Duration,
    /// Present retransmission timeout.
    pub retransmission_timeout: Duration,
    /// Congestion window in packets.
    pub congestion_window_packets: u32,
    /// Largest payload of a sent packet.
    pub mss_bytes: u32,
    /// Packets retransmitted in total.
    pub retransmitted_packets: u32,
    /// Consecutive retransmission timeouts at present.
    pub timeouts: u32,
    /// Payload bytes the peer has acknowledged; SYN and FIN may count as one each.
    pub acknowledged_bytes: u64,
    /// Payload bytes received in order; FIN may count as one.
    pub received_bytes: u64,
}
