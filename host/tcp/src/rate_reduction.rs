//! Proportional rate reduction: how much may be sent for each acknowledgement while a loss is
//! being repaired.
//!
//! Invariants
//! 1. At the end of the repair at most `threshold` bytes are in flight, and in the middle what is
//!    sent is in proportion to what is delivered.
//! 2. The first repetition is never held up (RFC 9937, 6: force a fast retransmit).
//!
//! Source: RFC 9937, 6 (PRR-CRB and PRR-SSRB, chosen by whether the ACK is safe).

/// The state of one repair (RFC 9937, 6).
#[derive(Clone, Debug)]
pub struct RateReduction {
    /// RecoverFS.
    flight_bytes: u64,
    /// prr_delivered.
    delivered_bytes: u64,
    /// prr_out.
    sent_bytes: u64,
    window_bytes: u64,
}

/// What one acknowledgement says to a repair (RFC 9937, 6).
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// DeliveredData.
    pub delivered_bytes: u64,
    /// Pipe after it.
    pub in_flight_bytes: u64,
    /// ssthresh.
    pub threshold_bytes: u64,
    /// Whether it moved SND.UNA and said of no further loss (safeACK).
    pub is_safe: bool,
    /// Largest segment.
    pub mss_bytes: u64,
}

impl RateReduction {
    /// Starts a repair with this much outstanding (RFC 9937, 6: RecoverFS).
    pub fn new(flight_bytes: u64, window_bytes: u64) -> Self {
        let flight_bytes = flight_bytes.max(1);
        Self { flight_bytes, delivered_bytes: 0, sent_bytes: 0, window_bytes }
    }

    /// On each acknowledgement (RFC 9937, 6).
    pub fn acknowledge(&mut self, it: &Progress) {
        self.delivered_bytes += it.delivered_bytes;
        let mut more_bytes = if it.in_flight_bytes > it.threshold_bytes {
            let share = u128::from(self.delivered_bytes) * u128::from(it.threshold_bytes);
            let due_bytes = share.div_ceil(u128::from(self.flight_bytes)) as u64;
            due_bytes.saturating_sub(self.sent_bytes)
        } else {
            let conserved_bytes = self.delivered_bytes.saturating_sub(self.sent_bytes);
            let mut more_bytes = conserved_bytes.max(it.delivered_bytes);
            if it.is_safe {
                more_bytes += it.mss_bytes;
            }
            more_bytes.min(it.threshold_bytes - it.in_flight_bytes)
        };
        if self.sent_bytes == 0 {
            more_bytes = more_bytes.max(it.mss_bytes);
        }
        self.window_bytes = it.in_flight_bytes + more_bytes;
    }

    /// On each transmission (RFC 9937, 6: prr_out).
    pub fn send(&mut self, bytes: u64) {
        self.sent_bytes += bytes;
    }

    /// cwnd during the repair (RFC 9937, 6).
    pub fn window_bytes(&self) -> u64 {
        self.window_bytes
    }
}
