//! `bench doorbell`: what a doorbell, a register and the opening of a card cost on its bus.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use host::driver::error::DriverError;
use measure::doorbell::{self, Costs, Ring, OPENING_GOAL_MS};
use vfio::{CardBus, SocketBus};

use crate::shared::bus::{self, CardName};
use crate::shared::options::UsageError;
use crate::shared::output::{json_file, print};

/// How long a card may take to let its last client go.
const LET_GO: Duration = Duration::from_secs(1);

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

/// The costs in a line.
pub fn describe(costs: &Costs) -> String {
    let how = match costs.ring {
        Ring::Store => "a store to a mapped page",
        Ring::Message => "a posted message",
        Ring::Bar => "a store to the BAR",
    };
    let (doorbell, read) = (costs.doorbell_ns, costs.read_ns / 1e3);
    format!("doorbell, {how}: {doorbell:.1} ns; register read: {read:.1} us")
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

/// The same, as soon as the card has let its last client go.
fn open_again(arguments: &DoorbellArguments) -> Result<CardBus> {
    let begun = Instant::now();
    loop {
        match open(arguments) {
            Err(error) if error.to_string().contains("has a client already") => {
                if begun.elapsed() > LET_GO {
                    return Err(error);
                }
            }
            bus => return bus,
        }
    }
}

/// Measures and prints.
pub fn run(arguments: &DoorbellArguments) -> Result<bool> {
    let json = json_file(arguments.json.as_deref())?;
    let mut is_first = true;
    let measured = doorbell::measure(&mut || {
        let bus = match std::mem::take(&mut is_first) {
            true => open(arguments)?,
            false => open_again(arguments)?,
        };
        let ring = match bus.is_slot() {
            true => Ring::Bar,
            false if bus.has_mapped_doorbells() => Ring::Store,
            false => Ring::Message,
        };
        Ok((bus, ring))
    });
    let report =
        measured.map_err(|error: anyhow::Error| match error.downcast::<DriverError>() {
            Ok(error) => bus::driver_refusal(error),
            Err(error) => error,
        })?;
    if let Some(json) = json {
        json.write_json(&report)?;
    }
    let opening_ms = report.opening_ms;
    let verdict = if opening_ms <= OPENING_GOAL_MS { "yes" } else { "no" };
    print(&format!(
        "{}\nfrom the doorbell of a command to its confirmation: {:.2} us\nopened, used and \
         closed: {opening_ms:.1} ms ({OPENING_GOAL_MS} ms: {verdict})\n",
        describe(&report.costs),
        report.confirmation_ns / 1e3
    ))?;
    Ok(true)
}
