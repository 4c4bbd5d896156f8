//! What the build scripts must know of a board: `board.tcl`.
//!
//! ```text
//!   Board, card ──► set zeronic_NAME VALUE ──► bitstream/ip.tcl, bitstream/build.tcl
//! ```

use std::fmt::Write;

use abi::config::CardConfig;
use abi::image::{contract, Slot};
use abi::pci_ids;
use abi::window::GOLDEN_NAME;
use abi::ABI_VERSION;

use crate::description::Board;

/// A variable of the scripts and its value.
type Value = (&'static str, String);

/// The text of `board.tcl`, for the card's module `card` in a configuration and the window's module
/// `window`.
pub fn board_tcl(board: &Board, card: &str, window: &str, config: &CardConfig) -> String {
    let mac = &board.mac;
    let mut values = vec![
        ("top", board.top()),
        ("card", card.to_owned()),
        ("window", window.to_owned()),
        ("config", config.name.to_owned()),
        ("cmac_location", mac.site.to_owned()),
        ("cmac_gt_group", mac.transceivers.to_owned()),
        ("cmac_refclk_mhz", mac.clock_mhz.to_owned()),
        ("msix_last", format!("{:03X}", (1 << config.owner_bits) - 1)),
        ("image_slot", (Slot::User as u32).to_string()),
    ];
    values.extend(common(board));
    text(board, &values)
}

/// The text of `board.tcl` of a board's golden image, for its window's module `window`.
pub fn golden_tcl(board: &Board, window: &str) -> String {
    let mut values = vec![
        ("top", board.golden_top()),
        ("window", window.to_owned()),
        ("config", GOLDEN_NAME.to_owned()),
        ("image_slot", (Slot::Golden as u32).to_string()),
    ];
    values.extend(common(board));
    text(board, &values)
}

/// What is the same for every image of a board.
fn common(board: &Board) -> Vec<Value> {
    let (pcie, flash) = (&board.pcie, &board.flash);
    let (major, minor) = contract(ABI_VERSION);
    let hex = |offset_bytes: u32| format!("0x{offset_bytes:08x}");
    vec![
        ("board", board.name.to_owned()),
        ("part", board.part.to_owned()),
        ("contract", format!("{major}.{minor}")),
        ("pcie_ip", pcie.kind.core().to_owned()),
        ("pcie_location", pcie.site.to_owned()),
        ("pcie_quad", format!("GTY_Quad_{}", pcie.lane_0_quad())),
        ("pci_vendor", format!("{:04x}", pci_ids::VENDOR_ID)),
        ("pci_device", format!("{:04x}", pci_ids::DEVICE_ID)),
        ("pci_subsystem_vendor", format!("{:04x}", pci_ids::SUBSYSTEM_VENDOR_ID)),
        ("pci_subsystem", format!("{:04x}", pci_ids::SUBSYSTEM_ID)),
        ("pci_revision", format!("{:02x}", pci_ids::REVISION_ID)),
        ("pci_class", format!("{:06x}", pci_ids::CLASS_CODE)),
        ("flash_part", flash.chip.to_owned()),
        ("flash_interface", format!("SPIx{}", flash.width_bits)),
        ("flash_size_mib", (flash.size_bytes >> 20).to_string()),
        ("user_offset", hex(flash.user_offset_bytes)),
        ("golden_offset", hex(flash.golden_offset_bytes)),
    ]
}

fn text(board: &Board, values: &[Value]) -> String {
    let mut text =
        format!("# Zeronic: {}, {}: what the scripts must know.\n\n", board.title, board.part);
    for (name, value) in values {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "set zeronic_{name:20} {value}");
    }
    text
}
