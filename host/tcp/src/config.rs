//! What a user of the engine may choose, with the defaults of the standards.
//!
//! Invariants
//! 1. Every number has its unit in its name; the default is the one of the clause beside it.
//! 2. [`Config::private_wire`] is for two ends that belong to one owner: what it changes is listed
//!    there and nowhere else.

/// Nanoseconds of a millisecond.
pub const MS_NS: u64 = 1_000_000;
/// Nanoseconds of a second.
pub const S_NS: u64 = 1_000_000_000;

/// Which congestion controller a connection has (RFC 5681, 3; RFC 5033).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Law {
    /// CUBIC with HyStart++ (RFC 9438, RFC 9406).
    #[default]
    Cubic,
    /// DCTCP, which wants [`Ecn::Exact`] (RFC 8257).
    Dctcp,
    /// A model of the path's rate and delay, blind to light loss (draft-ietf-ccwg-bbr).
    Model,
}

/// How explicit congestion notification is used (RFC 3168). AccECN is never negotiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not offered, and refused.
    #[default]
    Off,
    /// ECE from the first mark until CWR (RFC 3168, 6.1.3).
    Classic,
    /// ECE exactly for what was marked (RFC 8257, 3.2). Both ends must have it.
    Exact,
}

/// The sizes that path MTU discovery may choose between (RFC 4821, 7.2), counted as an MSS is: the
/// packet less the fixed IP and TCP headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathMtuLimits {
    /// What is taken for granted (RFC 4821, 7.2: search_low).
    pub base_bytes: u32,
    /// The most that is tried (RFC 4821, 7.2: search_high).
    pub most_bytes: u32,
}

/// The settings of a connection (RFC 9293, 3.9).
#[derive(Clone, Debug)]
pub struct Config {
    /// MSS that is announced: the largest payload plus options that is taken (RFC 9293, 3.7.1).
    pub mss_bytes: u16,
    /// MSS of a peer that announces none (RFC 9293, 3.7.1: 536 for IPv4, 1220 for IPv6).
    pub peer_mss_bytes: u16,
    /// Window scale that is announced, up to 14 (RFC 7323, 2.3).
    pub window_scale: u8,
    /// Whether SACK is offered (RFC 2018, 2).
    pub is_sack_offered: bool,
    /// Whether timestamps are offered (RFC 7323, 3.2).
    pub is_timestamps_offered: bool,
    /// Tick of the timestamp clock (RFC 7323, 4.1 asks for 1 ms to 1 s).
    pub timestamp_tick_ns: u64,
    /// ECN (RFC 3168).
    pub ecn: Ecn,
    /// Congestion controller (RFC 5681).
    pub law: Law,
    /// Shortest retransmission timeout (RFC 6298, 2.4; 200 ms as Linux has it).
    pub rto_min_ns: u64,
    /// Timeout before the first measurement (RFC 6298, 2.1).
    pub rto_initial_ns: u64,
    /// Longest timeout (RFC 6298, 2.5: at least 60 s).
    pub rto_max_ns: u64,
    /// How long an acknowledgement may wait (RFC 9293, 3.8.6.3: less than 500 ms).
    pub ack_delay_ns: u64,
    /// How long the peer's may wait, for the tail probe (RFC 8985, 7.2: WCDelAckT).
    pub peer_ack_delay_ns: u64,
    /// Timeouts of a SYN before the connection is given up (RFC 9293, 3.8.3: R2).
    pub syn_timeouts_max: u32,
    /// Timeouts of data or unanswered probes before it is given up (RFC 9293, 3.8.3: R2).
    pub timeouts_max: u32,
    /// 2 MSL: how long TIME-WAIT lasts (RFC 9293, 3.6.1).
    pub time_wait_ns: u64,
    /// Challenge ACKs that a connection sends in a second (RFC 5961, 7).
    pub challenges_max: u32,
    /// Most payload of one outgoing header: the card cuts it into segments.
    pub chunk_bytes_max: u32,
    /// Path MTU discovery by probes; `None` for a path whose MTU is known (RFC 4821).
    pub path_mtu: Option<PathMtuLimits>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mss_bytes: 1460,
            peer_mss_bytes: 536,
            window_scale: 8,
            is_sack_offered: true,
            is_timestamps_offered: true,
            timestamp_tick_ns: MS_NS,
            ecn: Ecn::Off,
            law: Law::Cubic,
            rto_min_ns: 200 * MS_NS,
            rto_initial_ns: S_NS,
            rto_max_ns: 60 * S_NS,
            ack_delay_ns: 40 * MS_NS,
            peer_ack_delay_ns: 200 * MS_NS,
            syn_timeouts_max: 6,
            timeouts_max: 15,
            time_wait_ns: 60 * S_NS,
            challenges_max: 10,
            chunk_bytes_max: 65_536,
            path_mtu: None,
        }
    }
}

impl Config {
    /// For a wire whose both ends belong to one owner: timeouts of 1 ms instead of 200 (RFC 6298,
    /// 2.4 asks for 1 s), acknowledgements that wait for 100 us, timestamps of 1 us (RFC 7323, 4.1
    /// asks for 1 ms), and the controller that takes light loss for noise.
    pub fn private_wire() -> Self {
        Self {
            timestamp_tick_ns: 1_000,
            law: Law::Model,
            rto_min_ns: MS_NS,
            ack_delay_ns: 100_000,
            peer_ack_delay_ns: 200_000,
            ..Self::default()
        }
    }
}
