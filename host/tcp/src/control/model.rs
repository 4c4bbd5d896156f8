//! A model of the path: its rate and its delay are measured, and the window follows from both.
//!
//! ```text
//!   Startup ─ rate grows no more ─► Drain ─ queue gone ─► Down ─► Cruise ─► Refill ─► Up ─┐
//!                                                           ▲                             │
//!                                                           └── 1.25 x in flight, marks ──┘
//!   ProbeRtt: for one round trip in five seconds half the window
//! ```
//! The states are those of the draft. What differs is policy for a private wire:
//!
//! - Loss up to [`LOSS_SHARE_MAX`] is noise: it changes no bound, and nine tenths of it are made up
//!   for by pacing faster as long as no queue shows. Beyond that share it is answered as the draft
//!   answers 2 %.
//! - A queue is answered: marks shrink the window by a third of their share (5.3.4 of the older
//!   draft-cardwell-iccrg-bbr), once for a window of data. Where marks have said that there is a
//!   queue, the delay says how much of it is whose: each flow leaves [`QUEUED_SEGMENTS`] in it
//!   (FAST TCP; Wei, Jin, Low, Hegde, 2006), so that flows that meet there come to have the same.
//!   A round trip of 1.25 times the shortest slows the pace, marked or not.
//! - A round without a queue, marks and losses adds as much to the window and in Cruise to the
//!   pace, and twice as much with each such round more, up to 16 segments.
//! - ProbeRtt lasts one round trip, not 200 ms.
//!
//! Invariants
//! 1. At least four segments may be in flight (BBRMinPipeCwnd).
//! 2. Bounds that short signs have set last until the next Refill.
//!
//! Source: draft-ietf-ccwg-bbr, 4 and 5.

mod bounds;

pub use self::bounds::LOSS_SHARE_MAX;
use self::bounds::{Bounds, Queue, Round, ONE};
use super::maximum::Maximum;
use super::{initial_window_bytes, scale, window_rate, Controller, Sample, Signal};
use crate::config::S_NS;

/// Gains in per cent (draft-ietf-ccwg-bbr, 5.6.1).
const STARTUP_GAIN: u64 = 277;
const DRAIN_GAIN: u64 = 50;
const DOWN_GAIN: u64 = 90;
const UP_GAIN: u64 = 125;
const WINDOW_GAIN: u64 = 200;
const WINDOW_UP_GAIN: u64 = 225;
/// A pace below the rate, while a queue shows.
const QUEUE_GAIN: u64 = 95;
/// What a flow leaves in a queue, and what it adds in a round without one.
pub const QUEUED_SEGMENTS: u64 = 2;
/// How often that is doubled: up to 16 segments.
const DOUBLINGS_MAX: u32 = 3;
/// Longest time without the shortest round trip (draft-ietf-ccwg-bbr, 2.14: ProbeRTTInterval).
const RTT_PROBE_INTERVAL_NS: u64 = 5 * S_NS;
/// Rounds without growth by a quarter that end Startup (draft-ietf-ccwg-bbr, 5.3.1.2).
const FULL_ROUNDS: u32 = 3;
/// Longest Cruise in rounds: that of Reno's growth by 63 segments (draft-ietf-ccwg-bbr, 5.3.3.8).
const CRUISE_ROUNDS_MAX: u64 = 63;

/// The states (draft-ietf-ccwg-bbr, 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The rate is looked for.
    Startup,
    /// The queue of Startup is emptied.
    Drain,
    /// ProbeBW_DOWN: the queue of Up is emptied.
    Down,
    /// ProbeBW_CRUISE.
    Cruise,
    /// ProbeBW_REFILL: the pipe is full before it is probed.
    Refill,
    /// ProbeBW_UP.
    Up,
    /// The shortest round trip is looked for.
    ProbeRtt,
}

/// The controller (draft-ietf-ccwg-bbr, 5).
#[derive(Clone, Debug)]
pub struct Model {
    mss_bytes: u64,
    phase: Phase,
    /// Rounds since the phase began.
    phase_rounds: u64,
    cruise_rounds: u64,
    cycles: u64,
    rates: Maximum,
    bounds: Bounds,
    round: Round,
    min_rtt_ns: u64,
    min_rtt_at_ns: u64,
    full_rate: u64,
    full_rounds: u32,
    is_full: bool,
    /// Rounds in a row without a queue, a mark or a loss.
    empty_rounds: u32,
    /// What the last round adds to the window and to the pace, or leaves in the queue.
    more_bytes: u64,
    window_bytes: u64,
    /// Window before ProbeRtt or a timeout.
    saved_window_bytes: u64,
    is_timed_out: bool,
}

impl Model {
    /// In Startup, with the initial window of RFC 6928, 2 (draft-ietf-ccwg-bbr, 5.2.1).
    pub fn new(mss_bytes: u64) -> Self {
        Self {
            mss_bytes,
            phase: Phase::Startup,
            phase_rounds: 0,
            cruise_rounds: 0,
            cycles: 0,
            rates: Maximum::default(),
            bounds: Bounds::default(),
            round: Round::default(),
            min_rtt_ns: u64::MAX,
            min_rtt_at_ns: 0,
            full_rate: 0,
            full_rounds: 0,
            is_full: false,
            empty_rounds: 0,
            more_bytes: QUEUED_SEGMENTS * mss_bytes,
            window_bytes: initial_window_bytes(mss_bytes),
            saved_window_bytes: 0,
            is_timed_out: false,
        }
    }

    /// The state (draft-ietf-ccwg-bbr, 5.3).
    pub fn phase(&self) -> Phase {
        self.phase
    }

    fn rate(&self) -> u64 {
        self.bounds.rate_short.map_or(self.rates.get(), |short| short.min(self.rates.get()))
    }

    /// BBRInflight: what the path holds, times a gain in per cent (draft-ietf-ccwg-bbr, 5.6.4.2).
    fn path_bytes(&self, gain: u64) -> u64 {
        if self.min_rtt_ns == u64::MAX || self.rate() == 0 {
            return initial_window_bytes(self.mss_bytes);
        }
        scale(scale(self.rate(), self.min_rtt_ns, S_NS), gain, 100).max(4 * self.mss_bytes)
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.phase_rounds = 0;
        match phase {
            Phase::Down => {
                self.rates.advance();
                self.cycles += 1;
            }
            Phase::Cruise => {
                // Not all flows of a host probe in step: the length varies with the cycle.
                let most = (self.path_bytes(100) / self.mss_bytes).clamp(2, CRUISE_ROUNDS_MAX);
                let jitter = self.cycles.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61;
                self.cruise_rounds = most - (most * jitter / 32).min(most - 1);
            }
            Phase::Refill => self.bounds.forget_short(),
            Phase::ProbeRtt => self.saved_window_bytes = self.window_bytes,
            _ => {}
        }
    }

    /// The delay (draft-ietf-ccwg-bbr, 5.3.4.3: BBRUpdateMinRTT and BBRCheckProbeRTT).
    fn measure_delay(&mut self, sample: &Sample) {
        let is_old = sample.now_ns > self.min_rtt_at_ns + RTT_PROBE_INTERVAL_NS;
        let Some(rtt_ns) = sample.rtt_ns.filter(|rtt_ns| *rtt_ns <= self.min_rtt_ns || is_old)
        else {
            return;
        };
        let is_probe_due = is_old && self.min_rtt_ns < rtt_ns && self.is_full;
        self.min_rtt_ns = rtt_ns;
        self.min_rtt_at_ns = sample.now_ns;
        if is_probe_due && self.phase != Phase::ProbeRtt {
            self.enter(Phase::ProbeRtt);
        }
    }

    /// A round trip has ended (draft-ietf-ccwg-bbr, 5.5.1).
    fn end_round(&mut self, sample: &Sample) {
        self.phase_rounds += 1;
        let verdict = self.bounds.judge(&self.round, self.mss_bytes);
        let is_probing = matches!(self.phase, Phase::Startup | Phase::Refill | Phase::Up);
        if verdict.is_too_much {
            let flight_bytes = sample.in_flight_bytes[0];
            match is_probing {
                // Marks say little of what this flow may have: `share` answers them.
                true if !verdict.is_loss => {}
                true => self.bounds.lower_long(flight_bytes, self.path_bytes(100)),
                false => self.bounds.lower_short(self.rates.get(), self.window_bytes, &self.round),
            }
            match self.phase {
                Phase::Startup => self.is_full = true,
                Phase::Refill | Phase::Up => self.enter(Phase::Down),
                _ => {}
            }
        }
        // What Up has sent comes back marked in Up and in the first round of Down: that ends Up,
        // and says nothing about the window that was there before.
        let is_of_up = matches!(self.phase, Phase::Refill | Phase::Up)
            || (self.phase == Phase::Down && self.phase_rounds <= 1);
        self.count_empty();
        if !is_of_up {
            self.share();
        } else if self.phase == Phase::Up && self.round.is_marked() {
            self.enter(Phase::Down);
        }
        if self.phase == Phase::Up && !verdict.is_too_much {
            self.bounds.raise_long(self.window_bytes);
        }
        let is_limited = sample.rate.is_some_and(|rate| rate.is_app_limited);
        if !self.is_full && !is_limited {
            self.judge_full();
        }
        self.round = Round::start(sample);
    }

    /// On an empty path more is tried: twice as much each round, up to a bound that is the same for
    /// all, for what grew with a flow's share would give more to those that have more. A path that
    /// is full shows a queue, or loses what is too much: both end it.
    fn count_empty(&mut self) {
        let is_empty = self.round.is_clean() && !self.has_queue();
        self.empty_rounds = if is_empty { self.empty_rounds + 1 } else { 0 };
        let least_bytes = QUEUED_SEGMENTS * self.mss_bytes;
        let doublings = self.empty_rounds.saturating_sub(1).min(DOUBLINGS_MAX);
        self.more_bytes = least_bytes << doublings;
    }

    /// What is left to the other flows that meet in a queue.
    fn share(&mut self) {
        let queue = Queue { min_rtt_ns: self.min_rtt_ns, more_bytes: self.more_bytes };
        let has_obeyed = self.bounds.obey_marks(&self.round, self.window_bytes, queue);
        if !has_obeyed && self.phase != Phase::Startup {
            self.bounds.obey_delay(&self.round, queue);
        }
    }

    /// Whether the pipe is full (draft-ietf-ccwg-bbr, 5.3.1.2).
    fn judge_full(&mut self) {
        if self.rates.get() >= scale(self.full_rate, 5, 4) {
            self.full_rate = self.rates.get();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.is_full = self.full_rounds >= FULL_ROUNDS;
    }

    /// Goes to the next state if it is time (draft-ietf-ccwg-bbr, 5.3).
    fn advance(&mut self, sample: &Sample) {
        let flight_bytes = sample.in_flight_bytes[1];
        match self.phase {
            Phase::Startup if self.is_full => self.enter(Phase::Drain),
            Phase::Drain if flight_bytes <= self.path_bytes(100) => self.enter(Phase::Down),
            Phase::Down if flight_bytes <= self.path_bytes(100) => self.enter(Phase::Cruise),
            Phase::Cruise if self.phase_rounds >= self.cruise_rounds => self.enter(Phase::Refill),
            Phase::Refill if self.phase_rounds >= 1 => self.enter(Phase::Up),
            Phase::Up if self.is_probed(flight_bytes) => self.enter(Phase::Down),
            Phase::ProbeRtt if self.phase_rounds >= 2 => {
                self.window_bytes = self.window_bytes.max(self.saved_window_bytes);
                self.enter(Phase::Cruise);
            }
            _ => {}
        }
    }

    /// Whether Up has shown enough: its data has come, and a queue of a quarter stands, or three
    /// rounds have shown none.
    fn is_probed(&self, flight_bytes: u64) -> bool {
        let is_full = flight_bytes >= self.path_bytes(UP_GAIN);
        (self.phase_rounds >= 1 && is_full) || self.phase_rounds >= 3
    }

    /// cwnd (draft-ietf-ccwg-bbr, 5.6.4.6).
    fn set_window(&mut self, sample: &Sample) {
        let gain = if self.phase == Phase::Up { WINDOW_UP_GAIN } else { WINDOW_GAIN };
        // What waits in the card and behind a delayed ACK (5.6.4.2: the quantum).
        let target_bytes = self.path_bytes(gain) + 16 * self.mss_bytes;
        if self.is_timed_out && !sample.is_recovering && !sample.is_timed_out {
            self.is_timed_out = false;
            self.window_bytes = self.window_bytes.max(self.saved_window_bytes);
        }
        let grown_bytes = self.window_bytes + sample.delivered_bytes;
        if self.is_full {
            self.window_bytes = grown_bytes.min(target_bytes);
        } else if self.window_bytes < target_bytes {
            self.window_bytes = grown_bytes;
        }
        let has_headroom = self.phase == Phase::Cruise;
        let mut bound_bytes = self.bounds.flight_bytes(has_headroom);
        if self.phase == Phase::ProbeRtt {
            bound_bytes = bound_bytes.min(self.path_bytes(50));
        }
        self.window_bytes = self.window_bytes.min(bound_bytes).max(4 * self.mss_bytes);
    }

    fn gain(&self) -> u64 {
        match self.phase {
            Phase::Startup => STARTUP_GAIN,
            Phase::Drain => DRAIN_GAIN,
            Phase::Down => DOWN_GAIN,
            Phase::Up => UP_GAIN,
            Phase::Cruise if self.has_queue() => QUEUE_GAIN,
            Phase::Cruise | Phase::Refill | Phase::ProbeRtt => 100,
        }
    }

    /// Whether the last whole round, at its best, was longer than the path is.
    fn has_queue(&self) -> bool {
        self.bounds
            .rtt_ns
            .is_some_and(|rtt_ns| rtt_ns > self.min_rtt_ns.saturating_add(self.min_rtt_ns / 4))
    }
}

impl Controller for Model {
    fn acknowledge(&mut self, sample: &Sample) {
        self.round.take(sample);
        if let Some(rate) = sample.rate {
            let bytes_per_s = rate.bytes_per_s();
            if !rate.is_app_limited || bytes_per_s > self.rates.get() {
                self.rates.take(bytes_per_s);
            }
            if rate.prior_delivered_bytes >= self.round.end_bytes {
                self.end_round(sample);
            }
        }
        self.measure_delay(sample);
        self.advance(sample);
        self.set_window(sample);
    }

    fn signal(&mut self, _now_ns: u64, signal: Signal, _in_flight_bytes: u64) {
        if signal == Signal::Timeout {
            self.saved_window_bytes = self.saved_window_bytes.max(self.window_bytes);
            self.is_timed_out = true;
            self.window_bytes = self.mss_bytes;
        }
    }

    fn restore(&mut self) {
        self.is_timed_out = false;
        self.window_bytes = self.window_bytes.max(self.saved_window_bytes);
    }

    fn idle(&mut self) {}

    fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    fn threshold_bytes(&self) -> Option<u64> {
        None
    }

    fn rate_bytes_per_s(&self, smoothed_ns: Option<u64>) -> Option<u64> {
        if self.rate() == 0 {
            let initial_bytes = initial_window_bytes(self.mss_bytes);
            return smoothed_ns.map(|it| window_rate(initial_bytes, it, STARTUP_GAIN));
        }
        let mut rate = scale(self.rate(), self.gain(), 100);
        if self.min_rtt_ns != u64::MAX {
            if self.phase == Phase::Cruise && self.empty_rounds > 0 {
                rate += scale(self.more_bytes, S_NS, self.min_rtt_ns);
            }
            // The window is the bound here: the pace need not know the rate that it will bring.
            let short_bytes = self.bounds.flight_short_bytes.unwrap_or(0);
            rate = rate.max(scale(short_bytes, S_NS, self.min_rtt_ns));
        }
        let loss_share = self.bounds.loss_share;
        if self.has_queue() || loss_share > LOSS_SHARE_MAX {
            return Some(rate);
        }
        Some(scale(rate, ONE, ONE - loss_share * 9 / 10))
    }

    fn change_mss(&mut self, mss_bytes: u64) {
        self.mss_bytes = mss_bytes;
    }

    fn counts_marks(&self) -> bool {
        true
    }
}
