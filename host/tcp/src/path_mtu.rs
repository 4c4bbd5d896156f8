//! The path MTU: probed with data, lowered by what routers say, given up in a black hole.
//!
//! ```text
//!   base ──── current ─── probe: half way ─── high ──► sizes, counted as an MSS is
//!             acknowledged: current = probe       lost three times, or too big: high = below it
//! ```
//! Invariants
//! 1. One probe at a time; a size counts as too long only after three probes of it were lost, since
//!    the wire loses packets for other reasons (RFC 4821, 7.6.2).
//! 2. The size never falls below the base (RFC 1191, 3; RFC 8201, 4: not below the minimum).
//!
//! Sources: RFC 4821, 7; RFC 1191, 6.5; RFC 8201, 4.

use crate::config::{PathMtuLimits, S_NS};

/// Sizes nearer than this are not worth a probe (RFC 4821, 7.3).
const STEP_BYTES: u64 = 16;
/// Lost probes of one size that mean it is too long (RFC 8899, 5.1.2: MAX_PROBES).
const LOSSES_MAX: u32 = 3;
/// After a failure a larger size is looked for again (RFC 4821, 7.7; RFC 1191, 6.3: 10 minutes).
const RAISE_NS: u64 = 600 * S_NS;

/// A probe that was sent: the offsets that it covers, and its size.
#[derive(Clone, Copy, Debug)]
struct Probe {
    start: u64,
    end: u64,
    size_bytes: u64,
}

/// The search for the path MTU of a connection (RFC 4821, 7.2).
#[derive(Clone, Debug)]
pub struct PathMtu {
    limits: Option<PathMtuLimits>,
    current_bytes: u64,
    high_bytes: u64,
    most_bytes: u64,
    probe: Option<Probe>,
    losses: u32,
    raise_ns: Option<u64>,
}

impl PathMtu {
    /// A search within limits, or none (RFC 4821, 7.2).
    pub fn new(limits: Option<PathMtuLimits>) -> Self {
        Self {
            limits,
            current_bytes: 0,
            high_bytes: 0,
            most_bytes: 0,
            probe: None,
            losses: 0,
            raise_ns: None,
        }
    }

    /// Both ends take this much: starts, and returns the size to begin with (RFC 4821, 7.2).
    pub fn start(&mut self, most_bytes: u64) -> u64 {
        let limits = self.limits.map(|it| (it.base_bytes.into(), it.most_bytes.into()));
        let (base_bytes, limit_bytes) = limits.unwrap_or((most_bytes, most_bytes));
        self.most_bytes = most_bytes.min(limit_bytes);
        self.current_bytes = self.most_bytes.min(base_bytes);
        self.high_bytes = self.most_bytes;
        self.current_bytes
    }

    /// The size to probe with now, if any (RFC 4821, 7.3).
    pub fn wanted(&mut self, now_ns: u64) -> Option<u64> {
        if self.raise_ns.is_some_and(|at_ns| at_ns <= now_ns) {
            self.raise_ns = None;
            self.high_bytes = self.most_bytes;
        }
        let span_bytes = self.high_bytes.saturating_sub(self.current_bytes);
        let is_wanted = self.limits.is_some() && self.probe.is_none() && span_bytes > 0;
        let size_bytes = match span_bytes >= STEP_BYTES {
            true => self.current_bytes + span_bytes.div_ceil(2),
            false => self.high_bytes,
        };
        is_wanted.then_some(size_bytes)
    }

    /// A probe was sent as these offsets (RFC 4821, 7.3).
    pub fn send(&mut self, start: u64, end: u64, size_bytes: u64) {
        self.probe = Some(Probe { start, end, size_bytes });
    }

    /// Everything before `una` is acknowledged. Returns the new size if that was a probe
    /// (RFC 4821, 7.6.1).
    pub fn acknowledge(&mut self, una: u64) -> Option<u64> {
        let probe = self.probe.filter(|probe| una >= probe.end)?;
        self.probe = None;
        self.losses = 0;
        self.current_bytes = self.current_bytes.max(probe.size_bytes);
        Some(self.current_bytes)
    }

    /// The lowest lost range begins at `start`. Returns the length of the probe if that is it
    /// (RFC 4821, 7.6.2).
    pub fn lose(&mut self, now_ns: u64, start: u64) -> Option<u64> {
        let probe = self.probe.filter(|probe| (probe.start..probe.end).contains(&start))?;
        self.probe = None;
        self.losses += 1;
        if self.losses >= LOSSES_MAX {
            self.fail(now_ns, probe.size_bytes);
        }
        Some(probe.end - probe.start)
    }

    fn fail(&mut self, now_ns: u64, size_bytes: u64) {
        self.losses = 0;
        self.high_bytes = (size_bytes - 1).max(self.current_bytes);
        self.raise_ns = Some(now_ns + RAISE_NS);
    }

    /// A router says that more than `size_bytes` does not pass. Returns the new size if it is a
    /// smaller one (RFC 1191, 6.5; RFC 8201, 4).
    pub fn too_big(&mut self, now_ns: u64, size_bytes: u64) -> Option<u64> {
        let limits = self.limits?;
        let size_bytes = size_bytes.max(limits.base_bytes.into());
        if self.probe.is_some_and(|probe| probe.size_bytes > size_bytes) {
            self.probe = None;
        }
        if size_bytes < self.high_bytes {
            self.high_bytes = size_bytes.max(u64::from(limits.base_bytes).min(self.most_bytes));
            self.raise_ns = Some(now_ns + RAISE_NS);
        }
        if self.current_bytes <= self.high_bytes {
            return None;
        }
        self.current_bytes = self.high_bytes;
        Some(self.current_bytes)
    }

    /// Several timeouts without an answer: the size falls to the base. Returns it if it has
    /// (RFC 4821, 7.7).
    pub fn black_hole(&mut self) -> Option<u64> {
        let base_bytes = u64::from(self.limits?.base_bytes).min(self.most_bytes);
        self.probe = None;
        let is_above = self.current_bytes > base_bytes;
        self.high_bytes = self.high_bytes.min(self.current_bytes);
        self.current_bytes = self.current_bytes.min(base_bytes);
        is_above.then_some(base_bytes)
    }
}
