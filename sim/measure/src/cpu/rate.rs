//! Our stack where packets arrive at a rate: the card runs beside the host, which always polls.
//!
//! ```text
//!   card's thread:  step, what is due by the clock │ step, ... ──► rings
//!   host's thread:  poll │ poll │ poll ...                           ◄── found, or empty
//! ```
//! So the batches are those that result. Where the card cannot bring as much as it should, it lets
//! the rest go, and the rate that it has reached is shown.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::null_card::rig::NullRig;
use crate::null_card::NullCard;
use abi::config::DEFAULT;
use host::driver::device::COALESCE_TIME;

use super::error::{CpuError, Result};
use super::null::{clock_cost, open, open_with_runs, run_packets, Acks, BATCH, GB, SEND_BYTES_MAX};
use super::plan::Coalesce;
use super::report::{Doorbells, Rate, MMIO_WRITE_NS};
use crate::timing::cores::{thread_time, Cores};

/// What one end has done and taken.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    bytes: u64,
    items: u64,
    found_polls: u64,
    empty_polls: u64,
    spent: Duration,
    /// Time of the thread, whatever its polls found.
    polling: Duration,
    elapsed: Duration,
    doorbells: u64,
}

impl End {
    fn per_gb(&self, what: f64) -> f64 {
        what / (self.bytes.max(1) as f64 / GB)
    }
}

/// Bytes that the card has brought and how many items of them, of those that are due.
type Brought = (u64, u64);

/// Lets the host poll for so long, while a card brings `gbps`.
fn run(
    rig: &mut NullRig,
    (gbps, window): (f64, Duration),
    cores: &Cores,
    mut bring: impl FnMut(&mut NullCard, u64) -> Brought + Send + 'static,
) -> Result<End> {
    let (placeholder, _) = NullCard::new(DEFAULT);
    let mut card = std::mem::replace(&mut rig.card, placeholder);
    let stop = Arc::new(AtomicBool::new(false));
    let (stopped, its_cores) = (stop.clone(), cores.clone());
    let serving = std::thread::spawn(move || {
        let _kept = its_cores.keep(1);
        let (started, mut given, mut bytes, mut items) = (Instant::now(), 0, 0, 0);
        while !stopped.load(Ordering::Acquire) && card.wrongs().is_empty() {
            card.step();
            let due = (started.elapsed().as_secs_f64() * gbps * 1e9 / 8.0) as u64;
            // What could not be brought in time is not made up for.
            given = due.saturating_sub(16 * u64::from(SEND_BYTES_MAX)).max(given);
            let brought = bring(&mut card, due - given);
            given += brought.0;
            bytes += brought.0;
            items += brought.1;
        }
        (card, bytes, items)
    });
    let (cost, started, from) = (clock_cost(), Instant::now(), thread_time());
    let rung = rig.provider.device().bus().rung_all();
    let (mut end, mut result) = (End::default(), Ok(()));
    while started.elapsed() < window && result.is_ok() && !serving.is_finished() {
        let before = thread_time();
        let found = rig.poll();
        let spent = (thread_time() - before).saturating_sub(cost);
        match found {
            Ok(true) => (end.spent, end.found_polls) = (end.spent + spent, end.found_polls + 1),
            Ok(false) => end.empty_polls += 1,
            Err(error) => result = Err(error),
        }
    }
    (end.polling, end.elapsed) = (thread_time() - from, started.elapsed());
    end.doorbells = rig.provider.device().bus().rung_all() - rung;
    stop.store(true, Ordering::Release);
    let (card, bytes, items) = serving.join().map_err(|_| CpuError::CardPanicked)?;
    (rig.card, end.bytes, end.items) = (card, bytes, items);
    result?;
    rig.step()?;
    match end.bytes {
        0 => Err(CpuError::NothingMoved),
        _ => Ok(end),
    }
}

/// The receiving end at a rate of arrival, with or without runs, which wait for more packets as a
/// card lets them. Returns CPU seconds for a GB of the polls that found something, and packets for
/// each header entry.
pub fn receive(
    mtu: u16,
    gbps: f64,
    mode: Coalesce,
    window: Duration,
    cores: &Cores,
) -> Result<(f64, f64)> {
    let _kept = cores.keep(0);
    let run_packets = run_packets(mtu, mode);
    let (mut rig, frame_bytes) = open_with_runs((mtu, Acks::Each64KiB), false, false, run_packets)?;
    let entries = rig.provider.counters().header_entries;
    let mut waits_since = None;
    let received = run(&mut rig, (gbps, window), cores, move |card, due| {
        let packets = (due / u64::from(frame_bytes)).min(BATCH as u64) as usize;
        if packets == 0 {
            return (0, 0);
        }
        let waits = packets < run_packets;
        let since: &mut Instant = waits_since.get_or_insert_with(Instant::now);
        if waits && since.elapsed() < COALESCE_TIME {
            return (0, 0);
        }
        waits_since = None;
        let taken = card.offer(packets, frame_bytes, 1) as u64;
        (taken * u64::from(frame_bytes), taken)
    })?;
    let entries = rig.provider.counters().header_entries - entries;
    let packets_per_entry = received.items as f64 / entries.max(1) as f64;
    Ok((received.per_gb(received.spent.as_secs_f64()), packets_per_entry))
}

/// Both ends at a rate of arrival: packets at the receiver, acknowledgements at the sender.
pub fn measure(
    mtu: u16,
    touched: bool,
    gbps: f64,
    window: Duration,
    cores: &Cores,
) -> Result<Rate> {
    let _kept = cores.keep(0);
    let (mut rig, frame_bytes) = open(mtu, Acks::Each64KiB, false, touched)?;
    let received = run(&mut rig, (gbps, window), cores, move |card, due| {
        let packets = (due / u64::from(frame_bytes)).min(BATCH as u64);
        let taken = card.offer(packets as usize, frame_bytes, 1) as u64;
        (taken * u64::from(frame_bytes), taken)
    })?;
    let (mut rig, frame_bytes) = open(mtu, Acks::Each64KiB, true, false)?;
    let send_bytes = u64::from(SEND_BYTES_MAX / frame_bytes * frame_bytes);
    let sent = run(&mut rig, (gbps, window), cores, move |card, due| {
        let acks = card.acknowledge((due / send_bytes) as usize, true) as u64;
        (acks * send_bytes, acks)
    })?;
    let ends = [received, sent];
    let sum = |of: &dyn Fn(&End) -> f64| ends.iter().map(of).sum::<f64>();
    let doorbells_per_gb = sum(&|end| end.per_gb(end.doorbells as f64));
    let polls = sum(&|end| (end.found_polls + end.empty_polls) as f64);
    Ok(Rate {
        transport: "null",
        mtu,
        touched,
        gbps_asked: gbps,
        gbps: received.bytes as f64 * 8.0 / received.elapsed.as_secs_f64() / 1e9,
        batch: received.items as f64 / received.found_polls.max(1) as f64,
        empty_polls: sum(&|end| end.empty_polls as f64) / polls.max(1.0),
        seconds_per_gb: sum(&|end| end.per_gb(end.spent.as_secs_f64())),
        polling_seconds_per_gb: sum(&|end| end.per_gb(end.polling.as_secs_f64())),
        doorbells: Some(Doorbells {
            doorbells_per_gb,
            doorbell_seconds_per_gb: doorbells_per_gb * MMIO_WRITE_NS / 1e9,
        }),
    })
}
