//! How long to wait for a kernel: it works in its own time, on a machine of any speed.
//!
//! ```text
//!   progress ──► Patience ──► over: the same progress for PATIENCE of wall time
//! ```
//!
//! Invariants
//! 1. The limit is for what is stuck, not for what is slow: any progress starts it again.

use std::time::{Duration, Instant};

/// Wall time without progress after which whatever has a kernel in it is stuck. The kernel's own
/// timers are part of it: where a fifth of all frames is lost each way, one packet may be lost ten
/// times in a row, and its repetitions are 2 s apart, or 12 s where the card records waveforms
/// ([`super::Tuning::retransmission_timeout_max`]).
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Watches for progress. See the module's head.
#[derive(Clone, Debug)]
pub struct Patience<P> {
    progress: P,
    since: Instant,
}

impl<P: PartialEq> Patience<P> {
    /// Starts to wait, with this much progress.
    pub fn new(progress: P) -> Self {
        Self { progress, since: Instant::now() }
    }

    /// Whether the progress has been the same for [`PATIENCE`].
    pub fn is_over(&mut self, progress: P) -> bool {
        if self.progress != progress {
            *self = Self::new(progress);
        }
        self.since.elapsed() > PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_starts_the_limit_again() {
        let mut patience = Patience::new(1);
        assert!(!patience.is_over(1));
        patience.since -= PATIENCE;
        assert!(!patience.is_over(2));
        patience.since -= PATIENCE;
        assert!(patience.is_over(2));
    }
}
