//! Latency through the card, port to port, alone and under load.
//!
//! ```text
//!   receive: last beat of a frame ──► payload's write, header entry   alone, loaded, ends of runs
//!   send:    doorbell ──► first beat of the frame    with its descriptor, or one that is fetched
//! ```

mod paths;

use serde::Serialize;

use self::paths::{
    receive_alone, receive_loaded, receive_run_end, send_alone, LOAD, RECEIVE_BYTES, SEND_BYTES,
};
use crate::error::MeasureError;
use crate::scenario::{Scenario, Size};
use crate::timing::latencies::Spread;

/// Time that a payload of 64 bytes may take from the wire to the PCIe port.
const RECEIVE_GOAL_NS: f64 = 300.0;
/// Time that sending may take beside two round trips on PCIe.
const SEND_GOAL_NS: f64 = 300.0;
/// Time that an entry may come later where the card sums packets up.
const RUN_GOAL_NS: f64 = 8.0;
/// Packets of the runs whose end is measured.
const RUN_PACKETS: [u32; 2] = [1, 2];

/// All latencies and the verdict.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Every byte, count and rule is right, in all parts.
    pub ok: bool,
    /// Last beat of a frame with 64 bytes of payload to the first beat of its payload write.
    pub rx_ns: Spread,
    /// Doorbell, its descriptor with it, to the first beat of a frame with 1 KiB of payload.
    pub tx_ns: Spread,
    /// Doorbell to the first beat of a frame, where the card reads the descriptor from its ring.
    pub tx_fetched_ns: Spread,
    /// Last beat to the first beat of the header entry.
    pub rx_entry_ns: Spread,
    /// `rx_entry_ns` of a packet that ends a run, by packets of the run.
    pub rx_run_end_ns: [(u32, Spread); 2],
    /// `rx_ns` at 90 % of what wire and link allow.
    pub rx_loaded_ns: Spread,
    /// `rx_entry_ns` under the same load.
    pub rx_loaded_entry_ns: Spread,
    /// That load, in millions of packets a second.
    pub rx_loaded_mpps: f64,
    /// Goal of receiving, ns.
    pub rx_goal_ns: f64,
    /// Goal of sending, ns.
    pub tx_goal_ns: f64,
    /// The first problems.
    pub problems: Vec<String>,
    /// Every latency of received packets, for plots.
    #[serde(skip)]
    pub curves: Vec<(&'static str, Vec<f64>)>,
    /// Every latency of sent packets, for plots.
    #[serde(skip)]
    pub send_curves: Vec<(&'static str, Vec<f64>)>,
}

/// Measures all parts on a card of that name, each for so many microseconds of simulated time.
pub fn measure(card: &str, time_us: u64) -> Result<Report, MeasureError> {
    let mut base = Scenario::new(Size::Frame(64));
    base.card = card.to_owned();
    base.time_ns = time_us * 1000;
    let alone = receive_alone(&base)?;
    let loaded = receive_loaded(&base)?;
    let [one, two] = RUN_PACKETS.map(|packets| receive_run_end(&base, packets));
    let (one, two) = (one?, two?);
    let send = send_alone(&base)?;
    base.push_slots = false;
    let fetched = send_alone(&base)?;
    let mut problems = Vec::new();
    let parts = [
        ("receive alone", &alone.outcome),
        ("receive under load", &loaded.outcome),
        ("receive, runs of 1", &one.outcome),
        ("receive, runs of 2", &two.outcome),
        ("send", &send.outcome),
        ("send, descriptor fetched", &fetched.outcome),
    ];
    for (part, outcome) in parts {
        let first = outcome.problems.first.iter();
        problems.extend(first.map(|problem| format!("{part}: {problem}")));
    }
    Ok(Report {
        ok: problems.is_empty(),
        rx_ns: (&alone.payload).into(),
        tx_ns: (&send.frame).into(),
        tx_fetched_ns: (&fetched.frame).into(),
        rx_entry_ns: (&alone.entry).into(),
        rx_run_end_ns: [(1, (&one.entry).into()), (2, (&two.entry).into())],
        rx_loaded_ns: (&loaded.payload).into(),
        rx_loaded_entry_ns: (&loaded.entry).into(),
        rx_loaded_mpps: loaded.mpps,
        rx_goal_ns: RECEIVE_GOAL_NS,
        tx_goal_ns: 2.0 * base.pcie.latency_ns as f64 + SEND_GOAL_NS,
        problems,
        curves: vec![
            ("payload, alone", alone.payload.all().to_vec()),
            ("header entry, alone", alone.entry.all().to_vec()),
            ("payload, loaded", loaded.payload.all().to_vec()),
            ("header entry, loaded", loaded.entry.all().to_vec()),
        ],
        send_curves: vec![
            ("descriptor with the doorbell", send.frame.all().to_vec()),
            ("descriptor fetched", fetched.frame.all().to_vec()),
        ],
    })
}

impl Report {
    /// Name, latencies and goal of each part, ns.
    pub fn rows(&self) -> [(String, Spread, f64); 8] {
        let load = 100.0 * LOAD;
        let rx = format!("last beat in to payload write, {RECEIVE_BYTES} B");
        let entry = "last beat in to header entry".to_owned();
        let run_goal_ns = self.rx_entry_ns.max + RUN_GOAL_NS;
        let [one, two] = self.rx_run_end_ns.map(|(packets, spread)| {
            (format!("{entry} of a run of {packets} that it ends"), spread, run_goal_ns)
        });
        let at_load = format!("at {load:.0} % load ({:.1} Mpps)", self.rx_loaded_mpps);
        [
            (rx.clone(), self.rx_ns, self.rx_goal_ns),
            (entry.clone(), self.rx_entry_ns, self.rx_goal_ns),
            one,
            two,
            (format!("{rx}, {at_load}"), self.rx_loaded_ns, self.rx_goal_ns),
            (format!("{entry}, {at_load}"), self.rx_loaded_entry_ns, self.rx_goal_ns),
            (
                format!("doorbell with descriptor to first wire beat, {SEND_BYTES} B"),
                self.tx_ns,
                self.tx_goal_ns,
            ),
            (
                format!("doorbell to first wire beat, {SEND_BYTES} B, descriptor fetched"),
                self.tx_fetched_ns,
                self.tx_goal_ns,
            ),
        ]
    }
}
