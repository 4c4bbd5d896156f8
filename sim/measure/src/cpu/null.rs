//! Our stack with the null protocol, on a null card that works on another core.
//!
//! ```text
//!   card's thread:   step, offer or acknowledge │             │ step, ...
//!   host's thread:                              │ one poll    │            ◄── measured
//! ```
//! The two take turns, so the host pays for rings and payload that another core has written, and
//! a figure does not depend on how fast the card is. Only the poll is measured, in time for which
//! the thread had a core. Of a poll that found nothing as much is left out as a host at rest takes
//! for one: what it has done for its commands is counted. In the turn of the card up to 64
//! packets come, or all that was sent is taken and acknowledged.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::Arc;
use std::time::Duration;

use crate::null_card::rig::{NullRig, RigConfig, RigError, IP_TCP_BYTES};
use crate::null_card::NullCard;
use abi::config::DEFAULT;

use super::error::{CpuError, Result};
use super::plan::Coalesce;
use crate::timing::cores::{thread_time, Cores};
use crate::timing::statistics::median;

/// Packets of a batch.
pub const BATCH: usize = 64;
/// Receive buffers: length in bytes, count.
const RECEIVE_BUFFERS: (u32, usize) = (1 << 20, 8);
/// Send buffers: descriptors that each of them holds, count.
const SEND_BUFFERS: (u32, usize) = (16, 8);
/// Payload of a descriptor at most, bytes.
pub const SEND_BYTES_MAX: u32 = 64 << 10;
/// A share of the batches comes first, unmeasured.
const WARM_UP: u32 = 8;
/// Polls that tell what one takes at rest.
const RESTING_POLLS: u32 = 1000;
/// Pairs of readings of the clock that tell what one costs.
const CLOCK_PAIRS: usize = 1001;
/// Looks at whose turn it is before the core is offered to others.
const LOOKS: u32 = 10_000;
/// Bytes of a GB.
pub const GB: f64 = 1e9;

/// How often what is received is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acks {
    /// Once in a poll and at most 64 KiB at once, as behind receive offload.
    Each64KiB,
    /// Every second segment.
    EverySecondSegment,
}

/// What one end costs.
#[derive(Clone, Copy, Debug)]
pub struct SideCost {
    /// CPU seconds for a GB.
    pub seconds_per_gb: f64,
    /// Polls that found nothing, left out.
    pub idle_polls: u64,
    /// Their time.
    pub idle: Duration,
}

const CARD: u8 = 0;
const HOST: u8 = 1;
const STOP: u8 = 2;

/// Whose turn it is.
#[derive(Clone)]
struct Turn(Arc<AtomicU8>);

impl Turn {
    fn give(&self, to: u8) {
        self.0.store(to, Ordering::Release);
    }

    /// Waits until it is another's turn than `of`, or until `over`.
    fn wait_while(&self, of: u8, over: &dyn Fn() -> bool) -> u8 {
        loop {
            for _ in 0..LOOKS {
                let turn = self.0.load(Ordering::Acquire);
                if turn != of {
                    return turn;
                }
                std::hint::spin_loop();
            }
            if over() {
                return STOP;
            }
            std::thread::yield_now();
        }
    }
}

/// What a reading of the thread's clock costs.
pub fn clock_cost() -> Duration {
    let pair = |_| {
        let from = thread_time();
        (thread_time() - from).as_nanos() as f64
    };
    Duration::from_nanos(median((0..CLOCK_PAIRS).map(pair).collect()).0 as u64)
}

/// The times of the host's polls.
#[derive(Clone, Copy, Debug, Default)]
struct Polls {
    /// Time of a poll of a host at rest.
    rest: Duration,
    spent: Duration,
    idle: Duration,
    idle_polls: u64,
}

impl Polls {
    /// With what a poll of this host takes when it and its card are at rest.
    fn new(rig: &mut NullRig) -> Result<Self, RigError> {
        rig.settle()?;
        let from = thread_time();
        for _ in 0..RESTING_POLLS {
            rig.poll()?;
        }
        Ok(Self { rest: (thread_time() - from) / RESTING_POLLS, ..Self::default() })
    }

    fn add(&mut self, spent: Duration, found: bool) {
        let idle = match found {
            true => Duration::ZERO,
            false => spent.min(self.rest),
        };
        self.spent += spent - idle;
        self.idle += idle;
        self.idle_polls += u64::from(!found);
    }
}

/// Lets `card` and the host take turns, so many times each.
fn take_turns(
    rig: &mut NullRig,
    batches: u32,
    cores: &Cores,
    mut card_turn: impl FnMut(&mut NullCard) + Send + 'static,
) -> Result<Polls> {
    let mut polls = Polls::new(rig)?;
    let (placeholder, _) = NullCard::new(DEFAULT);
    let mut card = std::mem::replace(&mut rig.card, placeholder);
    let turn = Turn(Arc::new(AtomicU8::new(HOST)));
    let (its, its_cores) = (turn.clone(), cores.clone());
    let serving = std::thread::spawn(move || {
        let _kept = its_cores.keep(1);
        while its.wait_while(HOST, &|| false) == CARD {
            card.step();
            card_turn(&mut card);
            its.give(HOST);
        }
        card
    });
    let cost = clock_cost();
    let mut result = Ok(());
    for _ in 0..batches {
        turn.give(CARD);
        if turn.wait_while(CARD, &|| serving.is_finished()) == STOP {
            break;
        }
        let from = thread_time();
        let found = rig.poll();
        let spent = (thread_time() - from).saturating_sub(cost);
        match found {
            Ok(found) => polls.add(spent, found),
            Err(error) => {
                result = Err(error);
                break;
            }
        }
    }
    turn.give(STOP);
    rig.card = serving.join().map_err(|_| CpuError::CardPanicked)?;
    result?;
    rig.step()?;
    Ok(polls)
}

/// A rig of one end, and the payload of its frames.
pub fn open(mtu: u16, acks: Acks, sends: bool, reads: bool) -> Result<(NullRig, u32), RigError> {
    open_with_runs((mtu, acks), sends, reads, 1)
}

/// Packets of a run: those of a segment of 64 KiB.
pub fn run_packets(mtu: u16, mode: Coalesce) -> usize {
    let frame_bytes = u32::from(mtu) - IP_TCP_BYTES;
    match mode {
        Coalesce::Off => 1,
        Coalesce::On => (SEND_BYTES_MAX / frame_bytes) as usize,
    }
}

/// The same where a header entry stands for so many packets at most.
pub fn open_with_runs(
    (mtu, acks): (u16, Acks),
    sends: bool,
    reads: bool,
    run_packets: usize,
) -> Result<(NullRig, u32), RigError> {
    let frame_bytes = u32::from(mtu) - IP_TCP_BYTES;
    let send_bytes = SEND_BYTES_MAX / frame_bytes * frame_bytes;
    let rig = NullRig::open(RigConfig {
        card: DEFAULT,
        flows: 1,
        frame_bytes,
        send_bytes,
        segments_per_ack: (acks == Acks::EverySecondSegment).then_some(2),
        burst: 1,
        apart: false,
        receive: RECEIVE_BUFFERS,
        partial: false,
        send: match sends {
            true => (SEND_BUFFERS.0 * send_bytes, SEND_BUFFERS.1),
            false => (send_bytes, 0),
        },
        reads,
        run_packets,
    })?;
    Ok((rig, frame_bytes))
}

fn cost(polls: Polls, bytes: u64) -> Result<SideCost> {
    if bytes == 0 {
        return Err(CpuError::NothingMoved);
    }
    Ok(SideCost {
        seconds_per_gb: polls.spent.as_secs_f64() / (bytes as f64 / GB),
        idle_polls: polls.idle_polls,
        idle: polls.idle,
    })
}

/// Receives so many batches on one connection; with `reads`, the card writes the payload and the
/// application reads each byte once.
pub fn receive(mtu: u16, acks: Acks, reads: bool, batches: u32, cores: &Cores) -> Result<SideCost> {
    Ok(receive_runs((mtu, acks, reads), 1, batches, cores)?.0)
}

/// The same where a header entry stands for so many packets at most; and how many it was.
pub fn receive_runs(
    (mtu, acks, reads): (u16, Acks, bool),
    run_packets: usize,
    batches: u32,
    cores: &Cores,
) -> Result<(SideCost, f64)> {
    let _kept = cores.keep(0);
    let (mut rig, frame_bytes) = open_with_runs((mtu, acks), false, reads, run_packets)?;
    let offer = move |card: &mut NullCard| {
        card.offer(BATCH, frame_bytes, 1);
    };
    take_turns(&mut rig, batches.div_ceil(WARM_UP), cores, offer)?;
    let before = rig.card.counters().packets;
    let entries = rig.provider.counters().header_entries;
    let polls = take_turns(&mut rig, batches, cores, offer)?;
    let packets = rig.card.counters().packets - before;
    let entries = rig.provider.counters().header_entries - entries;
    let cost = cost(polls, packets * u64::from(frame_bytes))?;
    Ok((cost, packets as f64 / entries.max(1) as f64))
}

/// Sends so many batches on one connection.
pub fn send(mtu: u16, acks: Acks, batches: u32, cores: &Cores) -> Result<SideCost> {
    let _kept = cores.keep(0);
    let (mut rig, frame_bytes) = open(mtu, acks, true, false)?;
    let each_bytes = match acks {
        Acks::Each64KiB => SEND_BYTES_MAX,
        Acks::EverySecondSegment => 2 * frame_bytes,
    };
    let acknowledge = move |card: &mut NullCard| {
        card.acknowledge_every(each_bytes);
    };
    take_turns(&mut rig, batches.div_ceil(WARM_UP), cores, acknowledge)?;
    let before = rig.card.counters().sent_bytes;
    let polls = take_turns(&mut rig, batches, cores, acknowledge)?;
    cost(polls, rig.card.counters().sent_bytes - before)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a poll takes longer than one at rest is work, whatever it found.
    #[test]
    fn only_poll_time_at_rest_is_excluded() {
        let [rest, long, short] = [10, 25, 4].map(Duration::from_micros);
        let mut polls = Polls { rest, ..Polls::default() };
        polls.add(long, true);
        polls.add(long, false);
        polls.add(short, false);
        assert_eq!(polls.spent, Duration::from_micros(25 + 15));
        assert_eq!(polls.idle, Duration::from_micros(10 + 4));
        assert_eq!(polls.idle_polls, 2);
    }
}
