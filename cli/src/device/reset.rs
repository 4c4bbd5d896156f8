//! `zeronic device reset`: a new epoch, in which a card is empty.

use std::time::Instant;

use anyhow::Result;
use clap::Args;
use host::driver::device::{Device, DeviceConfig};
use serde::Serialize;

use super::card::{look_at, CardArguments};
use crate::shared::bus::driver_refusal;
use crate::shared::failure::STATUSES;
use crate::shared::output::print;

/// Arguments of `zeronic device reset`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct ResetArguments {
    #[command(flatten)]
    card: CardArguments,
}

#[derive(Clone, Debug, Serialize)]
struct Reset {
    epoch_before: u32,
    epoch: u32,
    nanoseconds: u64,
}

/// Runs the command. The driver opens the card, which begins an epoch, and closes it, which begins
/// another: when it returns, no request of an earlier one is under way.
pub fn run(arguments: &ResetArguments) -> Result<bool> {
    let json = arguments.card.json()?;
    let mut card = arguments.card.open()?;
    let epoch_before = look_at(&mut card)?.epoch;
    let begun = Instant::now();
    let mut device = Device::open(card, DeviceConfig::default()).map_err(driver_refusal)?;
    let epoch = look_at(device.bus())?.epoch;
    device.close().map_err(driver_refusal)?;
    let nanoseconds = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let reset = Reset { epoch_before, epoch, nanoseconds };
    if let Some(json) = json {
        json.write_json(&reset)?;
    }
    print(&format!(
        "epoch {epoch}, it was {epoch_before}: tables and rings are empty, and no request of an \
         earlier epoch is under way; opened, reset and closed in {:.1} ms\n",
        nanoseconds as f64 / 1e6
    ))?;
    Ok(true)
}
