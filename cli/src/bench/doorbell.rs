//! `bench doorbell`: what a doorbell, a register and the opening of a card cost on its bus.
//!
//! ```text
//!   this process ── store to a mapped page, message, or trapped by QEMU ──► who serves the card
//!                ── command, doorbell, look ◄── confirmation in memory
//! ```
//! Times are medians; both sides poll, so it takes two cores that do nothing else.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use abi::config::COMMAND_BYTES;
use abi::registers as r;
use anyhow::Result;
use clap::Args;
use host::driver::bus::Bus;
use host::driver::device::{Device, DeviceConfig};
use serde::Serialize;
use vfio::{CardBus, SocketBus};

use crate::shared::bus::{self, CardName};
use crate::shared::options::UsageError;
use crate::shared::output::{json_file, print};
use measure::timing::statistics::median;

/// Doorbells of a pass, and passes.
const DOORBELLS: u32 = 1000;
const PASSES: usize = 101;
/// Commands whose confirmation is awaited.
const COMMANDS: usize = 1001;
/// Times that a card is opened, used and closed.
const OPENINGS: usize = 21;
/// The time that this may take, ms.
const OPENING_GOAL_MS: f64 = 50.0;

/// Arguments of `zeronic bench doorbell`.
#[derive(Clone, Debug, Args)]
pub struct DoorbellArguments {
    /// Bus to the card: `vfio-user:SOCKET` or `vfio:0000:01:00.0`
    #[arg(long, value_name = "BUS")]
    bus: CardName,
    /// Ring by messages, where doorbells can be mapped
    #[arg(long)]
    messages: bool,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<std::path::PathBuf>,
}

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

impl Ring {
    fn describe(self) -> &'static str {
        match self {
            Ring::Store => "a store to a mapped page",
            Ring::Message => "a posted message",
            Ring::Bar => "a store to the BAR",
        }
    }
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

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = self.ring.describe();
        let (doorbell, read) = (self.doorbell_ns, self.read_ns / 1e3);
        write!(f, "doorbell, {how}: {doorbell:.1} ns; register read: {read:.1} us")
    }
}

/// Everything.
#[derive(Clone, Debug, Serialize)]
struct Report {
    costs: Costs,
    /// From the doorbell of a command to its confirmation.
    confirmation_ns: f64,
    /// To open a card, have a command confirmed, and close it.
    opening_ms: f64,
}

/// Opens a card whose doorbells are messages.
pub fn open_by_messages(socket: &Path) -> Result<SocketBus> {
    SocketBus::open_by_messages(socket).map_err(|error| UsageError(error.to_string()).into())
}

fn open(arguments: &DoorbellArguments) -> Result<CardBus> {
    match &arguments.bus {
        CardName::Socket(socket) if arguments.messages => {
            Ok(CardBus::Socket(Box::new(open_by_messages(socket)?)))
        }
        CardName::Slot(slot) if arguments.messages => {
            let reason = format!(
                "--messages: vfio:{slot} has none; `zeronic sim-card --doorbells messages`"
            );
            Err(UsageError(reason).into())
        }
        name => Ok(bus::open(name)?),
    }
}

fn median_ns(times: impl Iterator<Item = Result<Duration>>) -> Result<f64> {
    let times = times.map(|time| Ok(time?.as_nanos() as f64)).collect::<Result<Vec<f64>>>()?;
    Ok(median(times).0)
}

/// Costs of a doorbell and of a read on a card that nobody has enabled.
pub fn measure_doorbell(bus: &mut dyn Bus, ring: Ring) -> Result<Costs> {
    let reads = (0..PASSES).map(|_| {
        let begun = Instant::now();
        bus.read_register(r::ID)?;
        Ok(begun.elapsed())
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
        Ok(time)
    });
    let doorbell_ns = median_ns(passes)? / f64::from(DOORBELLS);
    Ok(Costs { ring, doorbell_ns, read_ns })
}

/// From the doorbell of a command to its confirmation in memory.
fn confirm<B: Bus>(device: &mut Device<B>) -> Result<Duration> {
    let ticket = device.command([0; COMMAND_BYTES]);
    let begun = Instant::now();
    while !device.is_confirmed(ticket) {
        device.poll()?;
        device.bus().advance()?;
    }
    Ok(begun.elapsed())
}

/// Opens a card, has a command confirmed, and closes it.
fn use_once(arguments: &DoorbellArguments) -> Result<Duration> {
    let begun = Instant::now();
    // The card takes a moment to let its last client go.
    let bus = loop {
        match open(arguments) {
            Err(error) if error.to_string().contains("has a client already") => {
                if begun.elapsed() > Duration::from_secs(1) {
                    return Err(error);
                }
            }
            bus => break bus?,
        }
    };
    let device = Device::open(bus, DeviceConfig::with_seed(1));
    let mut device = device.map_err(bus::driver_refusal)?;
    confirm(&mut device)?;
    device.close()?;
    Ok(begun.elapsed())
}

/// Measures and prints.
pub fn run(arguments: &DoorbellArguments) -> Result<bool> {
    let json = json_file(arguments.json.as_deref())?;
    let mut bus = open(arguments)?;
    let ring = match bus.is_slot() {
        true => Ring::Bar,
        false if bus.has_mapped_doorbells() => Ring::Store,
        false => Ring::Message,
    };
    let costs = measure_doorbell(&mut bus, ring)?;
    let device = Device::open(bus, DeviceConfig::with_seed(1));
    let mut device = device.map_err(bus::driver_refusal)?;
    let confirmation_ns = median_ns((0..COMMANDS).map(|_| confirm(&mut device)))?;
    device.close()?;
    let opening_ms = median_ns((0..OPENINGS).map(|_| use_once(arguments)))? / 1e6;
    let report = Report { costs, confirmation_ns, opening_ms };
    if let Some(json) = json {
        json.write_json(&report)?;
    }
    let verdict = if opening_ms <= OPENING_GOAL_MS { "yes" } else { "no" };
    print(&format!(
        "{}\nfrom the doorbell of a command to its confirmation: {:.2} us\nopened, used and \
         closed: {opening_ms:.1} ms ({OPENING_GOAL_MS} ms: {verdict})\n",
        report.costs,
        confirmation_ns / 1e3
    ))?;
    Ok(true)
}
