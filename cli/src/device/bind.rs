//! `zeronic device bind` and `unbind`: a card's function to VFIO, and back to whatever driver the
//! system has for it.

use std::path::PathBuf;

use abi::pci_ids::{DEVICE_ID, VENDOR_ID};
use anyhow::Result;
use clap::Args;
use host_board::pci::bind::{bind, give_back, Bound};
use host_board::pci::{Address, PciDevice, Sysfs};
use serde::Serialize;

use crate::shared::failure::STATUSES;
use crate::shared::options::UsageError;
use crate::shared::output::{json_file, print};

/// Arguments of `zeronic device bind` and `unbind`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct BindArguments {
    /// PCI address of the function, such as 0000:01:00.0
    #[arg(value_name = "ADDRESS")]
    address: Address,
    /// Take a device that is no card, too
    #[arg(long)]
    any: bool,
    /// Where sysfs is
    #[arg(long, value_name = "DIR", default_value = "/sys")]
    sysfs: PathBuf,
    /// Write what was done as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What was done.
#[derive(Clone, Debug, Serialize)]
struct BindOutcome {
    address: String,
    before: Option<String>,
    now: Option<String>,
    /// Other devices of the group that have a driver: VFIO opens none of it until they have not.
    neighbours: Vec<String>,
}

/// Refuses what is no card.
fn check(sysfs: &Sysfs, arguments: &BindArguments) -> Result<(), UsageError> {
    let address = &arguments.address;
    let Some(device) = PciDevice::at(sysfs, address) else {
        return Err(UsageError(format!(
            "there is no PCI device {address}; `zeronic device list` shows the cards of this \
             machine"
        )));
    };
    match device.ids(sysfs) {
        Ok((VENDOR_ID, DEVICE_ID)) => Ok(()),
        Ok(_) if arguments.any => Ok(()),
        Ok((vendor, id)) => Err(UsageError(format!(
            "{address} is device {vendor:04x}:{id:04x}, and not a Zeronic card \
             ({VENDOR_ID:04x}:{DEVICE_ID:04x}); --any takes it all the same"
        ))),
        Err(error) => Err(UsageError(format!("the ids of {address}: {error}"))),
    }
}

/// Runs `bind`, or with `is_back` `unbind`.
pub fn run(arguments: &BindArguments, is_back: bool) -> Result<bool> {
    let json = json_file(arguments.json.as_deref())?;
    let mut sysfs = Sysfs::new(&arguments.sysfs);
    check(&sysfs, arguments)?;
    let address = &arguments.address;
    let done = if is_back { give_back(&mut sysfs, address) } else { bind(&mut sysfs, address) };
    let Bound { before, now } = done.map_err(|error| UsageError(error.to_string()))?;
    let device = PciDevice::at(&sysfs, address);
    let neighbours = device.map(|device| device.neighbours(&sysfs)).unwrap_or_default();
    let with_driver = |device: &PciDevice| {
        let driver = device.driver(&sysfs)?;
        // A port of the bus carries the device, and VFIO lets it be.
        let is_fine = driver == "vfio-pci" || driver == "pcieport";
        (!is_fine).then(|| format!("{} ({driver})", device.address))
    };
    let neighbours: Vec<String> = neighbours.iter().filter_map(with_driver).collect();
    let report = BindOutcome { address: address.to_string(), before, now, neighbours };
    if let Some(json) = json {
        json.write_json(&report)?;
    }
    let name = |driver: &Option<String>| driver.clone().unwrap_or_else(|| "no driver".to_owned());
    let mut text = format!("{address}: {}, before: {}\n", name(&report.now), name(&report.before));
    if !is_back {
        text += &format!("it is named by --bus vfio:{address}\n");
        if !report.neighbours.is_empty() {
            let others = report.neighbours.join(", ");
            text += &format!("not yet to be opened: in its IOMMU group are {others} as well\n");
        }
    }
    print(&text)?;
    Ok(true)
}
