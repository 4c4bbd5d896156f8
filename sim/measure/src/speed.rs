//! How fast the card is simulated, and where the time goes.
//!
//! ```text
//!   duplex, MTU 1500, all checks ──► cycles over wall-clock time, and shares of it
//! ```
//! Behind a socket, beside one in this process: `speed/socket.rs`.

pub mod socket;

use std::time::Instant;

use serde::Serialize;
use sim::card::Profile;
use verilate::options::Options;

use crate::error::MeasureError;
use crate::run::Measurement;
use crate::scenario::{Scenario, Size};

/// Goal, in cycles per second.
pub const SPEED_GOAL: f64 = 150_000.0;

/// Speed and its parts.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Every byte, count and rule is right.
    pub ok: bool,
    /// Cycles of 250 MHz for each second of wall-clock time, all checks on.
    pub cycles_per_second: f64,
    /// Cycles for each second in which the process had a core: the speed on an otherwise idle
    /// machine. Only Linux reports it.
    pub cycles_per_core_second: Option<f64>,
    /// Share of the time in the Verilated model, both clocks.
    pub model: f64,
    /// Share of the time in link, root complex, IOMMU and memories.
    pub link: f64,
    /// Share of the time in the MAC and the wire.
    pub wire: f64,
    /// Share of the time in host, peer and the judging of bytes and frames.
    pub parties: f64,
    /// The first problems.
    pub problems: Vec<String>,
}

/// Seconds for which the main thread had a core so far: the first word of the kernel's record, ns.
fn core_seconds() -> Option<f64> {
    let record = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanoseconds: f64 = record.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

/// Simulates duplex traffic of MTU 1500 and takes the time.
///
/// On a card of that name, for so many microseconds of simulated time; `progress` hears how many
/// have passed.
pub fn measure(
    card: &str,
    time_us: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<Report, MeasureError> {
    let mut scenario = Scenario::new(Size::Mtu(1500));
    scenario.receive = true;
    scenario.send = true;
    scenario.burst = 45;
    scenario.send_burst = 45;
    scenario.card = card.to_owned();
    scenario.time_ns = time_us * 1000;
    let measurement = Measurement::open(&scenario, Options::default())?;
    let card = measurement.host.machine.card.clone();
    card.borrow_mut().profile = Some(Profile::default());
    let (cycles, started, on_core) = (card.borrow().cycles(), Instant::now(), core_seconds());
    let outcome = measurement.run(&mut |status| progress(status.time_ns / 1000))?;
    let seconds = started.elapsed().as_secs_f64();
    let on_core = core_seconds().zip(on_core).map(|(after, before)| after - before);
    let cycles = card.borrow().cycles() - cycles;
    let profile = card.borrow().profile.unwrap_or_default();
    let share = |time: std::time::Duration| time.as_secs_f64() / seconds;
    Ok(Report {
        ok: outcome.is_ok(),
        cycles_per_second: cycles as f64 / seconds,
        cycles_per_core_second: on_core.map(|seconds| cycles as f64 / seconds),
        model: share(profile.model()),
        link: share(profile.link()),
        wire: share(profile.wire()),
        parties: 1.0 - share(profile.total),
        problems: outcome.problems.first,
    })
}

impl Report {
    /// Each part's name and share.
    pub fn parts(&self) -> [(&'static str, f64); 4] {
        [
            ("Verilated card, both clocks", self.model),
            ("PCIe link, root complex, memories", self.link),
            ("MAC and wire", self.wire),
            ("host, peer, judging", self.parties),
        ]
    }
}
