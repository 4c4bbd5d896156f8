//! Our stack with a real TCP at both ends, two cards joined by a wire: Linux TCP behind a TAP
//! device, or our own.
//!
//! ```text
//!   this thread:  host A │ host B │ cards, wire │ host A │ ...
//!                 ▲ measured ▲
//! ```
//! The cards are golden ones, which do all of the contract; they work between the calls of the
//! hosts, on the same core, and give each host up to 64 frames between two of its polls. What the
//! kernel does for the TAP devices outside of this thread is not counted, and received bytes are in
//! the core's cache: both flatter us.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use host::protocol::Protocol;
use measure::joined::{Joined, JoinedConfig, JoinedError, Whose};

use super::null::{clock_cost, SideCost, GB};
use super::refusal::refusal_error;
use crate::bench::cores::{thread_time, Cores};

/// A share of the bytes comes first, unmeasured.
const WARM_UP: u64 = 8;

/// The times of the hosts' calls.
#[derive(Clone, Copy, Debug, Default)]
struct Calls {
    spent: Duration,
    idle: Duration,
    idle_polls: u64,
}

/// What the ends cost.
#[derive(Clone, Copy, Debug)]
pub struct JoinedCost {
    /// Both together.
    pub both: SideCost,
    /// The receiver alone.
    pub receiver: SideCost,
    /// Packets for each header entry that the receiver has taken.
    pub packets_per_entry: f64,
}

/// What the ends with Linux TCP cost, over so many bytes.
pub fn linux(config: JoinedConfig, bytes: u64, cores: &Cores) -> Result<JoinedCost> {
    let joined = Joined::linux(config).map_err(|error| match error {
        JoinedError::Transport(error) => refusal_error(error),
        other => other.into(),
    })?;
    measure(joined, bytes, cores)
}

/// The same with our own TCP.
pub fn own(config: JoinedConfig, bytes: u64, cores: &Cores) -> Result<JoinedCost> {
    measure(Joined::own(config)?, bytes, cores)
}

fn measure<P: Protocol<Remote = SocketAddr>>(
    mut joined: Joined<P>,
    bytes: u64,
    cores: &Cores,
) -> Result<JoinedCost> {
    let _kept = cores.keep(0);
    let warm_up = bytes.div_ceil(WARM_UP);
    while joined.received_bytes() < warm_up {
        joined.round(&mut |_, call| {
            call();
        })?;
    }
    let (from, cost) = (joined.received_bytes(), clock_cost());
    let (entries, packets) = joined.received_entries();
    let mut calls = [Calls::default(); 2];
    while joined.received_bytes() < from + bytes {
        joined.round(&mut |whose, call| {
            let calls = &mut calls[usize::from(whose == Whose::Receiver)];
            let started = thread_time();
            let found = call();
            let spent = (thread_time() - started).saturating_sub(cost);
            match found {
                true => calls.spent += spent,
                false => {
                    calls.idle += spent;
                    calls.idle_polls += 1;
                }
            }
        })?;
    }
    let bytes = joined.received_bytes() - from;
    let of = |calls: Calls| SideCost {
        seconds_per_gb: calls.spent.as_secs_f64() / (bytes as f64 / GB),
        idle_polls: calls.idle_polls,
        idle: calls.idle,
    };
    let [sender, receiver] = calls;
    let both = Calls {
        spent: sender.spent + receiver.spent,
        idle: sender.idle + receiver.idle,
        idle_polls: sender.idle_polls + receiver.idle_polls,
    };
    let (taken, stood_for) = joined.received_entries();
    Ok(JoinedCost {
        both: of(both),
        receiver: of(receiver),
        packets_per_entry: (stood_for - packets) as f64 / (taken - entries).max(1) as f64,
    })
}
