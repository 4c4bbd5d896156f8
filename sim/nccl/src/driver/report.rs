//! What a schedule has done, or how it has failed.

use anyhow::{ensure, Result};

/// What a schedule has done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    /// Sends that were taken.
    pub sends: u64,
    /// Groups of receives that were taken.
    pub receives: u64,
    /// Sends and receives that had to be tried again.
    pub retries: u64,
    /// Messages without bytes.
    pub empty: u64,
    /// Bytes received.
    pub bytes: u64,
}

impl Report {
    /// Adds another one.
    pub fn add(&mut self, other: &Self) {
        self.sends += other.sends;
        self.receives += other.receives;
        self.retries += other.retries;
        self.empty += other.empty;
        self.bytes += other.bytes;
    }
}

/// A call that failed is the end of a schedule.
pub fn check(code: i32, call: &str) -> Result<()> {
    ensure!(code == 0, "{call} has returned {code}");
    Ok(())
}
