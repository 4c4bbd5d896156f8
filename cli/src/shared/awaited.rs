//! Ends a run whose peer does not answer: a connection to nobody is tried for minutes.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use lab::exchange::{LabError, Observer, Side, Status};
use lab::frame::Frame;

/// Another observer, and a limit for the first byte.
pub struct Awaited<O> {
    /// What observes the run.
    pub inner: O,
    remote: SocketAddr,
    limit: Duration,
    begun: Instant,
    has_moved: bool,
}

impl<O> Awaited<O> {
    /// A peer that has to answer within `limit` of wall time.
    pub fn new(inner: O, remote: SocketAddr, limit: Duration) -> Self {
        Self { inner, remote, limit, begun: Instant::now(), has_moved: false }
    }
}

impl<O: Observer> Observer for Awaited<O> {
    fn round(&mut self, status: Status) -> Result<(), LabError> {
        self.has_moved |= status.received + status.sent > 0;
        if !self.has_moved && self.begun.elapsed() > self.limit {
            return Err(LabError::Stopped(format!(
                "{} does not answer: at the wire must be a machine that sends back what it \
                 receives, such as that of `zeronic sim-card --peer smoltcp`",
                self.remote
            )));
        }
        self.inner.round(status)
    }

    fn frame(&mut self, side: Side, frame: &Frame) {
        self.inner.frame(side, frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(sent: u64) -> Status {
        let skipped = Duration::ZERO;
        Status { received: 0, sent, lost: 0, skipped, waiting: None }
    }

    #[test]
    fn silent_end_ends_run_slow_one_continues() {
        let remote = "10.77.0.2:5001".parse().expect("an address");
        let mut silent = Awaited::new(lab::exchange::Blind, remote, Duration::ZERO);
        std::thread::sleep(Duration::from_millis(1));
        let error = silent.round(status(0)).expect_err("it has not answered").to_string();
        assert!(error.contains("10.77.0.2:5001") && error.contains("--peer"), "{error}");
        let mut slow = Awaited::new(lab::exchange::Blind, remote, Duration::from_secs(100));
        slow.round(status(1)).expect("it has answered");
        slow.limit = Duration::ZERO;
        slow.round(status(0)).expect("it has answered before");
    }
}
