//! `bench sim --bus`: the simulation's speed behind a socket, beside that in this process.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use host::driver::bus::BusError;
use lab::exchange::Blind;
use measure::speed::socket::{measure as measure_both, FarEnds, SocketError, SocketReport, GOAL};
use served::{ORDER_CYCLES, REGION_CONTROL};
use vfio::{CardBus, SocketBus};

use crate::shared::awaited::Awaited;
use crate::shared::bus::{self, CardName};
use crate::shared::config::configuration;
use crate::shared::options::UsageError;
use crate::shared::secret::fresh_secret;
use crate::shared::stack::PORT;
use crate::shared::table::table;

/// How long the card's peer may take for its first byte.
const FIRST_BYTE: Duration = Duration::from_secs(10);
/// How long the card may take to let its last client go.
const LET_GO: Duration = Duration::from_secs(10);

/// Opens the card, as soon as it has let its last client go.
fn open(name: &CardName) -> Result<CardBus> {
    let begun = Instant::now();
    loop {
        match bus::open(name) {
            Err(error) if error.0.contains("has a client already") && begun.elapsed() < LET_GO => {
                std::thread::sleep(Duration::from_millis(1));
            }
            bus => return Ok(bus?),
        }
    }
}

/// The same, and refuses a card that has no cycles.
fn open_with_clock(name: &CardName) -> Result<SocketBus> {
    match open(name)? {
        CardBus::Socket(bus) if bus.region_bytes(REGION_CONTROL) == ORDER_CYCLES.len() as u64 => {
            Ok(*bus)
        }
        _ => {
            let remedy = "start `zeronic sim-card --model rtl --peer tcp`, and name its socket";
            Err(UsageError(format!("this card is no simulation with a clock; {remedy}")).into())
        }
    }
}

/// What the card behind a socket has counted.
fn read_cycles(bus: &mut SocketBus) -> Result<u64, BusError> {
    let mut cycles = [0; ORDER_CYCLES.len()];
    bus.write_region(REGION_CONTROL, 0, &ORDER_CYCLES)?;
    bus.read_region(REGION_CONTROL, 0, &mut cycles)?;
    Ok(u64::from_le_bytes(cycles))
}

/// The configuration of the card behind a socket.
fn configuration_of(name: &CardName) -> Result<&'static str> {
    let mut bus = open_with_clock(name)?;
    let sizes = host::driver::look::look(&mut bus).map_err(bus::driver_refusal)?.sizes;
    configuration(&sizes).with_context(|| format!("{name} has sizes of its own"))
}

/// Measures both, in turn.
pub fn measure(name: &CardName, runs: u32, bytes: u64) -> Result<SocketReport> {
    let configuration = configuration_of(name)?;
    let mut ends = FarEnds {
        open: &mut || open_with_clock(name),
        cycles: read_cycles,
        configuration,
        port: PORT,
        secret: fresh_secret,
        observer: |remote| Box::new(Awaited::new(Blind, remote, FIRST_BYTE)),
    };
    measure_both(&mut ends, runs, bytes).map_err(|error| match error.downcast::<SocketError>() {
        Ok(SocketError::Refused(error)) => bus::refusal(error),
        Ok(error) => error.into(),
        Err(error) => error,
    })
}

/// The table.
pub fn text(report: &SocketReport) -> String {
    let mut rows = table(&["exchange", "in this process", "over the socket", "ratio"]);
    let pairs = report.in_process.iter().zip(&report.over_socket).enumerate();
    for (run, (near, far)) in pairs {
        rows.add_row([
            format!("{}", run + 1),
            format!("{near:.0} cycles/s"),
            format!("{far:.0} cycles/s"),
            format!("{:.2}", far / near),
        ]);
    }
    let reached = if report.ratio >= GOAL { "yes" } else { "no" };
    let judged = if report.ok { "every byte is right" } else { "BYTES ARE WRONG" };
    format!(
        "{rows}\n{} card; ratio, median: {:.2} ({GOAL}: {reached}), spread {:.1} %\n{judged}; \
         times are the machine's, and runs do not repeat from a seed\n",
        report.configuration,
        report.ratio,
        100.0 * report.spread
    )
}
