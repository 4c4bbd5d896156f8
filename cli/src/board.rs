//! The commands of boards: what is known of them, their folders, images and flash.
//!
//! ```text
//!   list ─ board list, show
//!   files ─► folder ─► build ─► Vivado ─► image ──► flash: over a cable, or over PCIe
//!                                            └──► device reprogram (`cli/src/device/`)
//! ```

pub mod build;
pub mod files;
pub mod flash;
pub mod folder;
pub mod list;

use ::board::boards::{find, list_names};
use ::board::description::Board;

use crate::shared::options::UsageError;

/// The board of a name.
pub fn find_board(name: &str) -> Result<&'static Board, UsageError> {
    find(name).ok_or_else(|| UsageError(format!("unknown board '{name}'; known: {}", list_names())))
}
