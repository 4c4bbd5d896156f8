//! What a round trip has shown, and the bounds that follow from loss and marks.
//!
//! Invariants
//! 1. A share is in parts of [`ONE`].
//!
//! Source: draft-ietf-ccwg-bbr, 5.5.10 (bounds) and 5.5.1 (rounds).

use super::super::{scale, Sample};

/// The unit of shares.
pub(super) const ONE: u64 = 1 << 20;
/// Largest share of loss that counts as noise, in parts of 2^20: 15 %. The draft has 2 %
/// (draft-ietf-ccwg-bbr, 2.7: BBRLossThresh).
pub const LOSS_SHARE_MAX: u64 = ONE * 15 / 100;
/// What is left of a bound after too much loss (draft-ietf-ccwg-bbr, 2.7: BBRBeta), per cent.
const BETA: u64 = 70;
/// Lost segments below which a share means nothing (draft-ietf-ccwg-bbr, 5.3.1.3 has 6 events).
const LOST_SEGMENTS_MIN: u64 = 6;
/// Rounds in a row of too much loss that are a sign.
const HEAVY_ROUNDS: u32 = 2;
/// Share of marks that is too much (draft-cardwell-iccrg-bbr-congestion-control-02, 4.5).
const MARK_SHARE_MAX: u64 = ONE / 2;
/// Headroom left to others in Cruise (draft-ietf-ccwg-bbr, 2.7: BBRHeadroom), per cent.
const HEADROOM: u64 = 15;

/// One round trip.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    /// It ends when something is acknowledged that was sent after this much was delivered.
    pub(super) end_bytes: u64,
    pub(super) delivered_bytes: u64,
    lost_bytes: u64,
    marked_bytes: u64,
    min_rtt_ns: Option<u64>,
    latest_rate: u64,
}

impl Round {
    pub(super) fn start(sample: &Sample) -> Self {
        Self { end_bytes: sample.total_delivered_bytes, ..Self::default() }
    }

    pub(super) fn is_marked(&self) -> bool {
        self.marked_bytes > 0
    }

    /// Whether nothing was marked or lost.
    pub(super) fn is_clean(&self) -> bool {
        self.marked_bytes == 0 && self.lost_bytes == 0
    }

    /// What is left to the flow in a queue, if there is one: what it has in flight beside the
    /// queue, and its part of it (FAST TCP: w <- w baseRTT / RTT + alpha).
    fn left_bytes(&self, queue: Queue) -> Option<u64> {
        let least_ns = queue.min_rtt_ns;
        let rtt_ns =
            self.min_rtt_ns.filter(|rtt_ns| *rtt_ns > least_ns.saturating_add(least_ns / 4))?;
        let flight_bytes = self.delivered_bytes + self.lost_bytes;
        Some(scale(flight_bytes, least_ns, rtt_ns) + queue.more_bytes)
    }

    pub(super) fn take(&mut self, sample: &Sample) {
        self.delivered_bytes += sample.delivered_bytes;
        self.lost_bytes = (self.lost_bytes + sample.lost_bytes).saturating_sub(sample.late_bytes);
        self.marked_bytes += sample.marked_bytes;
        if let Some(rtt_ns) = sample.rtt_ns {
            self.min_rtt_ns = Some(self.min_rtt_ns.map_or(rtt_ns, |it| it.min(rtt_ns)));
        }
        if let Some(rate) = sample.rate {
            self.latest_rate = self.latest_rate.max(rate.bytes_per_s());
        }
    }
}

/// What a round comes to.
pub(super) struct Verdict {
    pub(super) is_too_much: bool,
    /// Whether it was loss.
    pub(super) is_loss: bool,
}

/// What a flow knows of a queue that it shares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    pub(super) min_rtt_ns: u64,
    /// What the flow may have in it, or adds without one.
    pub(super) more_bytes: u64,
}

/// The bounds (draft-ietf-ccwg-bbr, 5.5.10).
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    /// bw_shortterm and inflight_shortterm.
    pub(super) rate_short: Option<u64>,
    pub(super) flight_short_bytes: Option<u64>,
    /// inflight_longterm.
    flight_long_bytes: u64,
    /// Smoothed share of loss.
    pub(super) loss_share: u64,
    /// Rounds in a row with more loss than is noise.
    heavy_rounds: u32,
    /// Smoothed share of marks.
    mark_share: u64,
    /// Whether anything was marked since the path was probed last.
    is_marked: bool,
    /// Whether the last round's marks were obeyed.
    has_obeyed: bool,
    /// Shortest round trip of the last round.
    pub(super) rtt_ns: Option<u64>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            rate_short: None,
            flight_short_bytes: None,
            flight_long_bytes: u64::MAX,
            loss_share: 0,
            heavy_rounds: 0,
            mark_share: ONE,
            is_marked: false,
            has_obeyed: false,
            rtt_ns: None,
        }
    }
}

impl Bounds {
    /// Takes a whole round.
    pub(super) fn judge(&mut self, round: &Round, mss_bytes: u64) -> Verdict {
        let sent_bytes = (round.delivered_bytes + round.lost_bytes).max(1);
        let loss_share = scale(round.lost_bytes, ONE, sent_bytes);
        let marks = scale(round.marked_bytes, ONE, round.delivered_bytes.max(1)).min(ONE);
        // Loss is smoothed over some rounds: in one of few segments a share means little.
        self.loss_share = (7 * self.loss_share + loss_share) / 8;
        self.mark_share = (15 * self.mark_share + marks) / 16;
        self.rtt_ns = round.min_rtt_ns;
        let is_heavy =
            loss_share > LOSS_SHARE_MAX && round.lost_bytes >= LOST_SEGMENTS_MIN * mss_bytes;
        self.heavy_rounds = if is_heavy { self.heavy_rounds + 1 } else { 0 };
        // One bad round among many is noise as well, and the more likely the shorter it is.
        let is_loss = self.heavy_rounds >= HEAVY_ROUNDS;
        Verdict { is_loss, is_too_much: is_loss || marks >= MARK_SHARE_MAX }
    }

    /// Probing has shown too much (draft-ietf-ccwg-bbr, 5.5.10.2: BBRHandleInflightTooHigh).
    pub(super) fn lower_long(&mut self, flight_bytes: u64, path_bytes: u64) {
        self.flight_long_bytes = flight_bytes.max(scale(path_bytes, BETA, 100));
    }

    /// Up has shown that more is in order (draft-ietf-ccwg-bbr, 5.3.3.7).
    pub(super) fn raise_long(&mut self, window_bytes: u64) {
        if self.flight_long_bytes != u64::MAX && window_bytes >= self.flight_long_bytes {
            self.flight_long_bytes = scale(self.flight_long_bytes, 5, 4);
        }
    }

    /// Too much while not probing (draft-ietf-ccwg-bbr, 5.5.10.3).
    pub(super) fn lower_short(&mut self, rate: u64, window_bytes: u64, round: &Round) {
        let rate = self.rate_short.unwrap_or(rate);
        self.rate_short = Some(round.latest_rate.max(scale(rate, BETA, 100)));
        let flight_bytes = self.short_bytes(window_bytes);
        self.flight_short_bytes = Some(round.delivered_bytes.max(scale(flight_bytes, BETA, 100)));
    }

    fn short_bytes(&self, window_bytes: u64) -> u64 {
        self.flight_short_bytes.map_or(window_bytes, |short_bytes| short_bytes.min(window_bytes))
    }

    /// Marks shrink the window by a third of their share
    /// (draft-cardwell-iccrg-bbr-congestion-control-02, 4.5: ecn_factor), but not below what the
    /// delay leaves to the flow. Returns whether they did.
    ///
    /// What a round acknowledges was sent before it began: after a round whose marks were obeyed
    /// the next one still shows what was sent with the window from before, and calls for nothing
    /// (RFC 3168, 6.1.2: once for a window of data).
    pub(super) fn obey_marks(&mut self, round: &Round, window_bytes: u64, queue: Queue) -> bool {
        self.is_marked |= round.is_marked();
        let has_obeyed = std::mem::take(&mut self.has_obeyed);
        if round.is_marked() && !has_obeyed {
            self.has_obeyed = true;
            // Of a window that the pace does not fill, what was in flight counts, and what the
            // pace may have added meanwhile.
            let used_bytes = round.delivered_bytes * 5 / 4 + round.lost_bytes + queue.more_bytes;
            let flight_bytes = self.short_bytes(window_bytes).min(used_bytes);
            let less_bytes = flight_bytes - scale(flight_bytes, self.mark_share, 3 * ONE);
            let left_bytes = round.left_bytes(queue).unwrap_or(0).min(flight_bytes);
            self.flight_short_bytes = Some(less_bytes.max(left_bytes));
        }
        self.has_obeyed
    }

    /// A queue bounds the window to what is left to the flow, without one it grows. Delay alone is
    /// no sign of a queue, for a host that polls rarely delays as well: marks have to say so first.
    pub(super) fn obey_delay(&mut self, round: &Round, queue: Queue) {
        let left_bytes = round.left_bytes(queue).filter(|_| self.is_marked);
        if let Some(left_bytes) = left_bytes {
            self.flight_short_bytes = Some(left_bytes);
        } else if let Some(short_bytes) = self.flight_short_bytes.filter(|_| !round.is_marked()) {
            // A window that is not used grows to twice of what is.
            let used_bytes = round.delivered_bytes + queue.more_bytes;
            let short_bytes = short_bytes.min(2 * used_bytes) + queue.more_bytes;
            self.flight_short_bytes = Some(short_bytes);
            self.flight_long_bytes = self.flight_long_bytes.max(short_bytes);
        }
    }

    /// The path is probed anew (draft-ietf-ccwg-bbr, 5.5.10.3: BBRResetShortTermModel).
    pub(super) fn forget_short(&mut self) {
        self.is_marked = false;
        self.rate_short = None;
        self.flight_short_bytes = None;
    }

    /// The most that may be in flight.
    pub(super) fn flight_bytes(&self, has_headroom: bool) -> u64 {
        let long_bytes = match has_headroom {
            true => self.flight_long_bytes - self.flight_long_bytes / 100 * HEADROOM,
            false => self.flight_long_bytes,
        };
        self.short_bytes(long_bytes)
    }
}
