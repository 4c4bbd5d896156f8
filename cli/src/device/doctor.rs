//! `zeronic device doctor`: a card and the machine around it, with advice.
//!
//! ```text
//!   bus, link, settings of PCI Express ──────┐
//!   slot, IOMMU, node, errors, as sysfs tells┤
//!   card, board, wire, counters of faults ───┼─► checks: good, look, bad, not seen
//!   machine ─────────────────────────────────┘
//! ```

mod board;
mod card;
mod link;
mod machine;
mod system;

use anyhow::Result;
use clap::Args;
use host_board::pci::{PciDevice, Sysfs};
use host_board::resource::SYSFS;

use super::card::{look_at, CardArguments};
use super::report::{conclude, Check, Verdict};
use crate::shared::failure::STATUSES;

/// Arguments of `zeronic device doctor`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct DoctorArguments {
    #[command(flatten)]
    card: CardArguments,
}

/// Runs the command. True where nothing is bad.
pub fn run(arguments: &DoctorArguments) -> Result<bool> {
    let json = arguments.card.json()?;
    let mut card = arguments.card.open()?;
    let look = look_at(&mut card)?;
    let mut checks = link::checks(&mut card)?;
    checks.extend(match card.slot() {
        Some((way, _)) => of_slot(way, &arguments.card),
        None => system::none(),
    });
    checks.extend(card::checks(&mut card, &look)?);
    checks.extend(machine::checks(card.is_slot()));
    conclude(&checks, json)
}

/// The checks of the slot that a bus names, opened by VFIO in that way.
fn of_slot(way: &'static str, arguments: &CardArguments) -> Vec<Check> {
    let mut checks = vec![Check::new("VFIO", Verdict::Good, format!("by {way}"), "")];
    let sysfs = Sysfs::new(SYSFS.as_ref());
    let address = arguments.slot().and_then(|address| address.parse().ok());
    let Some(device) = address.and_then(|address| PciDevice::at(&sysfs, &address)) else {
        return checks;
    };
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    checks.extend(system::checks(&sysfs, &device, system::own_cores(&status)));
    checks
}
