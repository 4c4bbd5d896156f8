//! Recent acknowledgement: what was sent before something that has come is late or lost.
//!
//! Invariants
//! 1. Transmissions are compared by their number, which is exact where two have the same time.
//! 2. The window for reordering is 0 until reordering was seen while a loss is being repaired or
//!    three segments came beyond a hole; it grows with each round of D-SACKs and falls back after
//!    16 repairs without.
//!
//! Source: RFC 8985, 5.2, 6.2 and its step 4.

use crate::rtt::Rtt;

const PERSISTENCE: u32 = 16;
/// Segments beyond a hole that make it a loss if nothing was ever reordered (RFC 5681, 3.2).
const DUPLICATES: u64 = 3;

/// The RACK state of a connection (RFC 8985, 5.2).
#[derive(Clone, Debug)]
pub struct Rack {
    transmission: u64,
    rtt_ns: u64,
    is_reordering_seen: bool,
    /// RACK.reo_wnd_mult.
    multiple: u64,
    /// RACK.reo_wnd_persist.
    persistence: u32,
    /// RACK.dsack_round: no second D-SACK counts before this offset is acknowledged.
    round_end: Option<u64>,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            transmission: 0,
            rtt_ns: 0,
            is_reordering_seen: false,
            multiple: 1,
            persistence: PERSISTENCE,
            round_end: None,
        }
    }
}

impl Rack {
    /// A transmission has come, after a time that is less than the shortest round trip only if it
    /// was its predecessor that came (RFC 8985, 6.2 step 2).
    pub fn deliver(&mut self, transmission: u64, is_repeated: bool, rtt_ns: u64, rtt: &Rtt) {
        let is_of_predecessor = is_repeated && rtt.min_ns().is_some_and(|min_ns| rtt_ns < min_ns);
        if transmission > self.transmission && !is_of_predecessor {
            self.transmission = transmission;
            self.rtt_ns = rtt_ns;
        }
    }

    /// Whether a transmission was before the last one that has come (RFC 8985, 6.2 step 5).
    pub fn is_after(&self, transmission: u64) -> bool {
        self.transmission > transmission
    }

    /// RACK.rtt (RFC 8985, 5.2).
    pub fn rtt_ns(&self) -> u64 {
        self.rtt_ns
    }

    /// Reordering was seen (RFC 8985, 6.2 step 3).
    pub fn note_reordering(&mut self) {
        self.is_reordering_seen = true;
    }

    /// A D-SACK came while everything before `next` was sent (RFC 8985, 6.2 step 4).
    pub fn note_duplicate(&mut self, next: u64) {
        if self.round_end.is_none() {
            self.round_end = Some(next);
            self.multiple += 1;
            self.persistence = PERSISTENCE;
        }
    }

    /// Everything before `una` is acknowledged (RFC 8985, 6.2 step 4).
    pub fn acknowledge(&mut self, una: u64) {
        self.round_end = self.round_end.filter(|end| una < *end);
    }

    /// A loss is repaired (RFC 8985, 6.2 step 4).
    pub fn recover(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
        if self.persistence == 0 {
            self.persistence = PERSISTENCE;
            self.multiple = 1;
        }
    }

    /// RACK.reo_wnd (RFC 8985, 6.2 step 4).
    pub fn window_ns(&self, rtt: &Rtt, is_recovering: bool, segments_sacked: u64) -> u64 {
        if !self.is_reordering_seen && (is_recovering || segments_sacked >= DUPLICATES) {
            return 0;
        }
        let quarter_ns = rtt.min_ns().unwrap_or(0) / 4;
        (quarter_ns * self.multiple).min(rtt.smoothed_ns().unwrap_or(0))
    }
}
