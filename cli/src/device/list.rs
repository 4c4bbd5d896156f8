//! `zeronic device list`: the cards of this machine, and those at sockets.

use std::path::PathBuf;

use abi::pci_ids::{DEVICE_ID, VENDOR_ID};
use anyhow::{Context, Result};
use clap::Args;
use host_board::pci::{Kernel, PciDevice, Sysfs};
use serde::Serialize;

use super::card::{contract, look_at};
use crate::shared::bus::{self, CardName};
use crate::shared::config::configuration;
use crate::shared::failure::STATUSES;
use crate::shared::output::{json_file, print};
use crate::shared::table::table;

/// Arguments of `zeronic device list`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct ListArguments {
    /// Card to open and look at as well, such as vfio-user:SOCKET; may be repeated
    #[arg(long, value_name = "BUS")]
    bus: Vec<CardName>,
    /// Where sysfs is
    #[arg(long, value_name = "DIR", default_value = "/sys")]
    sysfs: PathBuf,
    /// Write what is found as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A card, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct ListedCard {
    bus: String,
    is_card: bool,
    what: String,
}

/// The cards in sysfs.
fn on_pci(sysfs: &Sysfs) -> Result<Vec<ListedCard>> {
    let found = PciDevice::with_ids(sysfs, (VENDOR_ID, DEVICE_ID));
    let found = found.with_context(|| format!("devices in {}", sysfs.devices().display()))?;
    let listed = |device: &PciDevice| {
        let driver = device.driver(sysfs);
        let driver = driver.map_or("no driver".to_owned(), |name| format!("driver {name}"));
        let (bus, what) = (format!("vfio:{}", device.address), format!("a card, {driver}"));
        ListedCard { bus, is_card: true, what }
    };
    Ok(found.iter().map(listed).collect())
}

/// The card behind a bus.
fn behind(name: &CardName) -> ListedCard {
    let card = bus::open(name).map_err(anyhow::Error::from);
    let look = card.and_then(|mut card| look_at(&mut card));
    let (is_card, what) = match look {
        Ok(look) => {
            let named = configuration(&look.sizes).unwrap_or("sizes of its own");
            let contract = contract(look.version);
            (true, format!("a card, contract {contract}, {named}, epoch {}", look.epoch))
        }
        Err(error) => (false, format!("{error:#}")),
    };
    ListedCard { bus: name.to_string(), is_card, what }
}

/// Runs the command.
pub fn run(arguments: &ListArguments) -> Result<bool> {
    let json = json_file(arguments.json.as_deref())?;
    let mut found = on_pci(&Sysfs::new(&arguments.sysfs))?;
    found.extend(arguments.bus.iter().map(behind));
    if let Some(json) = json {
        json.write_json(&found)?;
    }
    if found.is_empty() {
        let ids = format!("{VENDOR_ID:04x}:{DEVICE_ID:04x}");
        print(&format!("no card ({ids}) on the PCI bus; those at sockets are named by --bus\n"))?;
        return Ok(true);
    }
    let mut rows = table(&["bus", "what is there"]);
    for ListedCard { bus, what, .. } in &found {
        rows.add_row([bus, what]);
    }
    print(&format!("{rows}\n"))?;
    Ok(true)
}
