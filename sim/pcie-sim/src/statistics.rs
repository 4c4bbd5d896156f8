//! Traffic counters, per direction.

/// Traffic in one direction of the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Direction {
    /// TLPs of every kind.
    pub tlps: u64,
    /// Memory reads.
    pub reads: u64,
    /// Memory writes.
    pub writes: u64,
    /// Completions.
    pub completions: u64,
    /// Bytes of payload.
    pub payload_bytes: u64,
    /// Bytes on the lanes, overhead included.
    pub link_bytes: u64,
}

impl Direction {
    /// Counts one TLP.
    pub(crate) fn count(&mut self, payload: u32, link: u32) {
        self.tlps += 1;
        self.payload_bytes += u64::from(payload);
        self.link_bytes += u64::from(link);
    }
}

/// All counters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Cycles so far.
    pub cycles: u64,
    /// From the card to the host.
    pub upstream: Direction,
    /// From the host to the card.
    pub downstream: Direction,
    /// Share of the usable lane time that was used from the card to the host, 0 to 1.
    pub upstream_utilisation: f64,
    /// Share of the usable lane time that was used from the host to the card, 0 to 1.
    pub downstream_utilisation: f64,
    /// Reads of the card that wait for completions now.
    pub reads_in_flight: u32,
    /// Most reads waiting so far.
    pub reads_in_flight_peak: u32,
    /// Most completion headers in the hard block's receive buffer so far.
    pub completion_headers_peak: u32,
    /// Most completion data there so far, in units of 16 bytes.
    pub completion_data_peak: u32,
    /// Cycles in which the hard block held a request of the card back.
    pub rq_stall_cycles: u64,
    /// Interrupts delivered.
    pub interrupts: u64,
    /// Requests that the host refused.
    pub refusals: u64,
    /// Rules that the card broke.
    pub violations: u64,
}
