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
//!
//! At a rate of arrival a round brings the receiver what would have come while the slower of the
//! two hosts made its last calls, so the batches are those that result. The hosts' time is taken as
//! if each had a core of its own.

use std::net::SocketAddr;
use std::time::Duration;

use crate::joined::{Joined, JoinedConfig, JoinedError, Whose};
use crate::null_card::rig::IP_TCP_BYTES;
use host::protocol::Protocol;
use host::tcp::TcpProtocol;

use super::error::{CpuError, Result};
use super::null::{clock_cost, SideCost, BATCH, GB};
use super::report::Rate;
use crate::timing::cores::{thread_time, Cores};

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
        JoinedError::Transport(error) => CpuError::of_kernel(error),
        other => other.into(),
    })?;
    measure(joined, bytes, cores)
}

/// The same with our own TCP.
pub fn own(config: JoinedConfig, bytes: u64, cores: &Cores) -> Result<JoinedCost> {
    measure(Joined::own(config)?, bytes, cores)
}

/// Moves the first bytes, unmeasured.
fn warm_up<P: Protocol<Remote = SocketAddr>>(joined: &mut Joined<P>, bytes: u64) -> Result<()> {
    while joined.received_bytes() < bytes.div_ceil(WARM_UP) {
        joined.round(&mut |_, call| {
            call();
        })?;
    }
    Ok(())
}

/// Makes a call: whether it found anything, and its time without what the clock costs.
fn timed(call: &mut dyn FnMut() -> bool, cost: Duration) -> (bool, Duration) {
    let started = thread_time();
    let found = call();
    (found, (thread_time() - started).saturating_sub(cost))
}

fn measure<P: Protocol<Remote = SocketAddr>>(
    mut joined: Joined<P>,
    bytes: u64,
    cores: &Cores,
) -> Result<JoinedCost> {
    let _kept = cores.keep(0);
    warm_up(&mut joined, bytes)?;
    let (from, cost) = (joined.received_bytes(), clock_cost());
    let (entries, packets) = joined.received_entries();
    let mut calls = [Calls::default(); 2];
    while joined.received_bytes() < from + bytes {
        joined.round(&mut |whose, call| {
            let calls = &mut calls[usize::from(whose == Whose::Receiver)];
            let (found, spent) = timed(call, cost);
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

/// What the rounds at a rate have found.
#[derive(Clone, Copy, Debug, Default)]
struct Rounds {
    /// Time of both hosts' calls in rounds that found something, and in all.
    spent: Duration,
    polling: Duration,
    /// Time of the rounds: that of the slower host in each.
    lasted: Duration,
    polls: u64,
    empty_polls: u64,
    found_by_receiver: u64,
    frames: u64,
}

/// Both ends with our own TCP, where packets arrive at a rate.
pub fn own_at_rate(mtu: u16, touched: bool, gbps: f64, bytes: u64, cores: &Cores) -> Result<Rate> {
    let _kept = cores.keep(0);
    let config = JoinedConfig { mtu_bytes: mtu, touched, coalesces: false };
    let mut joined = Joined::own(config)?;
    warm_up(&mut joined, bytes)?;
    let frame_bytes = u64::from(mtu) - u64::from(IP_TCP_BYTES);
    let frame_s = frame_bytes as f64 * 8.0 / (gbps * 1e9);
    let (from, cost, mut rounds, mut due) =
        (joined.received_bytes(), clock_cost(), Rounds::default(), 0.0);
    while joined.received_bytes() < from + bytes {
        let round = time_round(&mut joined, cost, &mut rounds)?;
        rounds.lasted += round;
        // What could not be brought in time is not made up for.
        due = (due + round.as_secs_f64() / frame_s).min(BATCH as f64);
        let frames = due as usize;
        rounds.frames += frames.min(joined.waiting_frames()) as u64;
        due -= frames as f64;
        joined.set_pace(frames, round);
    }
    let moved = (joined.received_bytes() - from) as f64;
    let per_gb = |time: Duration| time.as_secs_f64() / (moved / GB);
    Ok(Rate {
        transport: "tcp",
        mtu,
        touched,
        gbps_asked: gbps,
        gbps: moved * 8.0 / rounds.lasted.as_secs_f64() / 1e9,
        batch: rounds.frames as f64 / rounds.found_by_receiver.max(1) as f64,
        empty_polls: rounds.empty_polls as f64 / rounds.polls.max(1) as f64,
        seconds_per_gb: per_gb(rounds.spent),
        polling_seconds_per_gb: per_gb(rounds.polling),
        doorbells: None,
    })
}

/// One round: how long it took the slower host.
fn time_round(
    joined: &mut Joined<TcpProtocol>,
    cost: Duration,
    rounds: &mut Rounds,
) -> Result<Duration> {
    let mut calls = [(Duration::ZERO, false); 2];
    joined.round(&mut |whose, call| {
        let (found, spent) = timed(call, cost);
        let (time, any) = &mut calls[usize::from(whose == Whose::Receiver)];
        *time += spent;
        *any |= found;
    })?;
    for (time, found) in calls {
        rounds.polling += time;
        rounds.polls += 1;
        match found {
            true => rounds.spent += time,
            false => rounds.empty_polls += 1,
        }
    }
    rounds.found_by_receiver += u64::from(calls[1].1);
    // Both poll all the time: the other has polled again, and found nothing, in what is left.
    let slower = calls[0].0.max(calls[1].0);
    rounds.polling += slower * 2 - calls[0].0 - calls[1].0;
    Ok(slower)
}
