//! Over PCIe, by the flash block of the card that runs: `--via pcie`.
//!
//! ```text
//!   card at BDF ─► board number, flash ─► question ─► first block, rest, first block ─► boot
//! ```

use std::path::Path;

use abi::pci_ids;
use abi::window::PortOperation;
use board::description::Board;
use host_board::flash::Layout;
use host_board::pci;
use host_board::update::steps;

use super::check::Checked;
use super::failure::FlashError;
use super::steps::{FlashSteps, Step};

/// The run; with an exchange, the card loads the image at the end.
pub fn plan(
    board: &Board,
    device: &str,
    checked: &Checked,
    boot: Option<pci::ExchangePlan>,
) -> FlashSteps {
    let flash = board.flash.plan();
    let layout =
        Layout { chips: flash.chips, size_bytes: flash.chip_bytes, slot: flash.slot_bytes };
    let before = vec![Step::Card { device: device.to_owned(), board: board.number, layout }];
    let update = steps(&checked.contents, layout.slot);
    let mut after: Vec<Step> = update.into_iter().map(Step::Flash).collect();
    if let Some(exchange) = boot {
        after.push(Step::Boot(exchange));
        after.push(Step::Compare {
            device: device.to_owned(),
            git: checked.image.header.git.clone(),
        });
    }
    FlashSteps {
        before,
        question: format!(
            "Erase the user's slot of the card at {device} from 0x{:08x} on in each of {} chips, \
             and write?",
            layout.slot, layout.chips
        ),
        after,
    }
}

/// How the card loads its new image while the system runs.
pub fn exchange(sysfs: &Path, device: &str) -> Result<pci::ExchangePlan, FlashError> {
    let address = device.parse().map_err(FlashError::NoExchange)?;
    let load = pci::Load::Boot(PortOperation::BootUser);
    let plan = pci::ExchangePlan::new(&pci::Sysfs::new(sysfs), &address, load, false);
    plan.map_err(|refusals| {
        let lines: Vec<String> = refusals.iter().map(ToString::to_string).collect();
        FlashError::NoExchange(lines.join("; "))
    })
}

/// The only card of this system, by the numbers that PCI devices have.
pub fn only_card(sysfs: &Path) -> Result<String, FlashError> {
    let folder = sysfs.join("bus/pci/devices");
    let number = |device: &Path, name: &str| {
        let text = std::fs::read_to_string(device.join(name)).ok()?;
        u16::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()
    };
    let devices = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let is_card = |device: &Path| {
        number(device, "vendor") == Some(pci_ids::VENDOR_ID)
            && number(device, "device") == Some(pci_ids::DEVICE_ID)
    };
    let cards = devices.filter(|entry| is_card(&entry.path()));
    let mut cards: Vec<String> =
        cards.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    cards.sort();
    match &cards[..] {
        [card] => Ok(card.clone()),
        _ => Err(FlashError::NoCard {
            device: folder.display().to_string(),
            said: match cards.is_empty() {
                true => "no card".to_owned(),
                false => format!("{}: which, by --device", cards.join(", ")),
            },
        }),
    }
}

#[cfg(test)]
mod tests;
