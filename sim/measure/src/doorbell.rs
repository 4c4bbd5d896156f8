//! What a doorbell, a register and the opening of a card cost on its bus.
//!
//! ```text
//!   this process ── store to a mapped page, message, or trapped by QEMU ──► who serves the card
//!                ── command, doorbell, look ◄── confirmation in memory
//! ```
//! Times are medians; both sides poll, so it takes two cores that do nothing else.

use std::time::{Duration, Instant};

use abi::config::COMMAND_BYTES;
use abi::registers as r;
use host::driver::bus::{Bus, BusError};
use host::driver::device::{Device, DeviceConfig};
use host::driver::error::DriverError;
use serde::Serialize;

use crate::timing::statistics::median;

/// Doorbells of a pass, and passes.
const DOORBELLS: u32 = 1000;
const PASSES: usize = 101;
/// Commands whose confirmation is awaited.
const COMMANDS: usize = 1001;
/// Times that a card is opened, used and closed.
const OPENINGS: usize = 21;
/// The time that opening, using and closing a card may take, ms.
pub const OPENING_GOAL_MS: f64 = 50.0;

/// How a doorbell is rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ring {
    /// By a store to a page that this process and the other have.
    Store,
    /// By a message to the other process.
    Message,
    /// By a store to a BAR: in a guest it is trapped where the card's server shares no page.
    Bar,
}

/// What a doorbell and a register cost.
#[derive(Clone, Debug, Serialize)]
pub struct Costs {
    /// How it is rung.
    pub ring: Ring,
    /// Of one.
    pub doorbell_ns: f64,
    /// Of a register read.
    pub read_ns: f64,
}

/// Everything.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Of a doorbell and of a register.
    pub costs: Costs,
    /// From the doorbell of a command to its confirmation.
    pub confirmation_ns: f64,
    /// To open a card, have a command confirmed, and close it.
    pub opening_ms: f64,
}

fn median_ns<E>(times: impl Iterator<Item = Result<Duration, E>>) -> Result<f64, E> {
    let times = times.map(|time| Ok(time?.as_nanos() as f64)).collect::<Result<Vec<f64>, E>>()?;
    Ok(median(times).0)
}

/// Costs of a doorbell and of a read on a card that nobody has enabled.
pub fn measure_doorbell(bus: &mut dyn Bus, ring: Ring) -> Result<Costs, BusError> {
    let reads = (0..PASSES).map(|_| {
        let begun = Instant::now();
        bus.read_register(r::ID)?;
        Ok::<_, BusError>(begun.elapsed())
    });
    let read_ns = median_ns(reads)?;
    let passes = (0..PASSES).map(|_| {
        // The owner is not enabled: the doorbell has no effect, and nothing else is measured.
        let begun = Instant::now();
        for _ in 0..DOORBELLS {
            bus.write_register(r::DOORBELLS + r::DOORBELL_HEADER, 0)?;
        }
        let time = begun.elapsed();
        // What was posted is carried out before the next pass.
        bus.read_register(r::ID)?;
        Ok::<_, BusError>(time)
    });
    let doorbell_ns = median_ns(passes)? / f64::from(DOORBELLS);
    Ok(Costs { ring, doorbell_ns, read_ns })
}

/// From the doorbell of a command to its confirmation in memory.
fn confirm<B: Bus>(device: &mut Device<B>) -> Result<Duration, DriverError> {
    let ticket = device.command([0; COMMAND_BYTES]);
    let begun = Instant::now();
    while !device.is_confirmed(ticket) {
        device.poll()?;
        device.bus().advance()?;
    }
    Ok(begun.elapsed())
}

/// Opens a card, has a command confirmed, and closes it.
fn use_once<B: Bus, E: From<DriverError>>(
    open: &mut dyn FnMut() -> Result<(B, Ring), E>,
) -> Result<Duration, E> {
    let begun = Instant::now();
    let mut device = Device::open(open()?.0, DeviceConfig::with_seed(1))?;
    confirm(&mut device)?;
    device.close()?;
    Ok(begun.elapsed())
}

/// Measures everything. `open` opens the card, as soon as it has let its last client go, and says
/// how its doorbells are rung.
pub fn measure<B: Bus, E: From<DriverError>>(
    open: &mut dyn FnMut() -> Result<(B, Ring), E>,
) -> Result<Report, E> {
    let (mut bus, ring) = open()?;
    let costs = measure_doorbell(&mut bus, ring).map_err(DriverError::from)?;
    let mut device = Device::open(bus, DeviceConfig::with_seed(1))?;
    let confirmation_ns = median_ns((0..COMMANDS).map(|_| confirm(&mut device)))?;
    device.close()?;
    let opening_ms = median_ns((0..OPENINGS).map(|_| use_once(open)))? / 1e6;
    Ok(Report { costs, confirmation_ns, opening_ms })
}
