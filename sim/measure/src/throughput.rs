//! Throughput of one scenario beside the tightest of its limits.
//!
//! ```text
//!   scenario ──► run.rs ──► outcome, every byte judged ──┬──► report
//!            └─► load.rs, limits.rs ──► limits ──────────┘
//! ```

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;
use verilate::options::Options;

use crate::error::MeasureError;
use crate::limits::{tightest_limit, Limit};
use crate::run::{Figures, Measurement, Outcome};
use crate::scenario::Scenario;
use crate::timing::latencies::Spread;

/// Measures one scenario. `progress` hears how many microseconds of simulated time have passed.
pub fn measure(scenario: &Scenario, progress: &mut dyn FnMut(u64)) -> Result<Report, MeasureError> {
    let started = Instant::now();
    let measurement = Measurement::open(scenario, Options::default())?;
    let outcome = measurement.run(&mut |status| progress(status.time_ns / 1000))?;
    Ok(Report::new(scenario, &outcome, started.elapsed().as_secs_f64()))
}

/// Figures of a scenario beside their limit.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Every byte, count and rule is right.
    pub ok: bool,
    /// Payload; the slower of both directions.
    pub goodput_gbps: f64,
    /// What physics allows, each direction.
    pub limit_gbps: f64,
    /// Packets per second, in millions; the slower of both directions.
    pub mpps: f64,
    /// What physics allows, each direction.
    pub limit_mpps: f64,
    /// What sets the limit.
    pub limited_by: &'static str,
    /// Every limit, in millions of packets a second.
    pub limits_mpps: BTreeMap<&'static str, f64>,
    /// Figure divided by limit.
    pub ratio: f64,
    /// Received packets for each header entry.
    pub packets_per_entry: Option<f64>,
    /// What the lanes carried for header entries, TLP headers included.
    pub entries_gbps: Option<f64>,
    /// Last byte of a received packet to the poll of the host, one in 256 ns, that found its entry.
    pub entry_wait_ns: Option<Spread>,
    /// Frames without a header entry; a rival's not counted.
    pub frames_lost: u64,
    /// Frames of the rival on the wire, in millions a second.
    pub rival_offered_mpps: Option<f64>,
    /// Header entries that its host took, in millions a second.
    pub rival_mpps: Option<f64>,
    /// Its frames without a header entry.
    pub rival_frames_lost: Option<u64>,
    /// Simulated time that was measured.
    pub sim_time_ns: u64,
    /// Where acknowledgements travel.
    pub ack_policy: &'static str,
    /// Payload of both directions.
    pub rx_goodput_gbps: Option<f64>,
    /// Payload of both directions, by direction.
    pub tx_goodput_gbps: Option<f64>,
    /// Packets on the wire to the card, in millions a second.
    pub rx_offered_mpps: Option<f64>,
    /// Fewest passes over a list of segments.
    pub list_wraps: u64,
    /// Share of the time in which no flow had a buffer posted for the peer.
    pub window_closed: f64,
    /// Share of the lanes that was used, card to host.
    pub lanes_up: f64,
    /// Share of the lanes that was used, host to card.
    pub lanes_down: f64,
    /// Cycles in which the hard block held a request back.
    pub rq_stall_cycles: u64,
    /// The card's own counters, zeros left out.
    pub counters: BTreeMap<&'static str, u64>,
    /// The first problems.
    pub problems: Vec<String>,
    /// Cycles of 250 MHz for each second of wall-clock time, setup included.
    pub cycles_per_second: f64,
}

impl Report {
    /// Puts an outcome, which took so many seconds of wall-clock time, beside its limit.
    fn new(scenario: &Scenario, outcome: &Outcome, seconds: f64) -> Self {
        let both = [outcome.receive, outcome.send];
        let least = |of: fn(&Figures) -> f64| {
            let figures = both.iter().flatten().map(of);
            figures.fold(f64::INFINITY, f64::min)
        };
        let (goodput_gbps, mpps) = (least(|f| f.goodput_gbps), least(|f| f.mpps));
        let limit = tightest_limit(&outcome.limits);
        let by_name = |limit: &Limit| (limit.by, limit.mpps);
        Self {
            ok: outcome.is_ok(),
            goodput_gbps,
            limit_gbps: limit.gbps,
            mpps,
            limit_mpps: limit.mpps,
            limited_by: limit.by,
            limits_mpps: outcome.limits.iter().map(by_name).collect(),
            ratio: mpps / limit.mpps,
            packets_per_entry: outcome.receive.map(|_| outcome.packets_per_entry),
            entries_gbps: outcome.receive.map(|_| outcome.entries_gbps),
            entry_wait_ns: outcome.receive.map(|_| (&outcome.entry_waits).into()),
            frames_lost: outcome.frames_lost,
            rival_offered_mpps: outcome.rival.map(|rival| rival.offered_mpps),
            rival_mpps: outcome.rival.map(|rival| rival.mpps),
            rival_frames_lost: outcome.rival.map(|rival| rival.frames_lost),
            sim_time_ns: outcome.time_ns,
            ack_policy: scenario.acks.describe(),
            rx_goodput_gbps: outcome.receive.map(|f| f.goodput_gbps),
            tx_goodput_gbps: outcome.send.map(|f| f.goodput_gbps),
            rx_offered_mpps: outcome.receive.map(|f| f.offered_mpps),
            list_wraps: both.iter().flatten().map(|f| f.wraps).min().unwrap_or(0),
            window_closed: outcome.window_closed,
            lanes_up: outcome.lanes[0],
            lanes_down: outcome.lanes[1],
            rq_stall_cycles: outcome.rq_stall_cycles,
            counters: outcome.counters.iter().copied().collect(),
            problems: outcome.problems.first.clone(),
            cycles_per_second: outcome.cycles as f64 / seconds,
        }
    }
}
