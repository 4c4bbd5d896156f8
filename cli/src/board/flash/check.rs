//! Whether an image is for a board: before anything is done to the board.
//!
//! ```text
//!   file ─► length, keys, hash ─► board, part, slot, device of the data ─► not forced ─► fits
//! ```

use std::path::Path;

use abi::image::Slot;
use board::boards::{find, BOARDS};
use board::description::Board;
use host_board::chips::slot_contents;
use host_board::image::{idcode, same_device, Image, ImageError, IDCODE_REVISION};

use super::failure::FlashError;

/// An image that is for the board.
pub struct Checked {
    /// The image.
    pub image: Image,
    /// Contents of the slot in each chip.
    pub contents: Vec<Vec<u8>>,
}

/// Reads an image and compares it with the board; `force`: also one that was built though something
/// is wrong with it.
pub fn check(path: &Path, board: &Board, force: bool) -> Result<Checked, FlashError> {
    let image = Image::read(path).map_err(|error| match error {
        // It names the file itself.
        ImageError::File { path, error } => FlashError::NoFile { file: path, error },
        error => FlashError::File { file: path.display().to_string(), error },
    })?;
    let name = || board.name.to_owned();
    let header = &image.header;
    if find(&header.board).map(|found| found.name) != Some(board.name) {
        return Err(FlashError::Board { image: header.board.clone(), board: name() });
    }
    if !same_device(&header.part, board.part) {
        return Err(FlashError::Part {
            image: header.part.clone(),
            board: name(),
            part: board.part.to_owned(),
        });
    }
    check_data(&image, board)?;
    if header.slot != Slot::User {
        return Err(FlashError::Slot { slot: header.slot.name() });
    }
    if header.forced > 0 && !force {
        return Err(FlashError::Forced { wrong: header.forced });
    }
    let plan = board.flash.plan();
    let room = plan.chip_bytes - plan.slot_bytes;
    let contents = slot_contents(&image.data, plan.chips, u64::from(room));
    let contents = contents.map_err(|error| FlashError::Chips { board: name(), error })?;
    Ok(Checked { image, contents })
}

/// Refuses data that name the device of another board. An IDCODE of no known board is
/// accepted, because the dies of a device may have their own; the device itself rejects data that
/// are not for it.
fn check_data(image: &Image, board: &Board) -> Result<(), FlashError> {
    let Some(found) = idcode(&image.data).map(|code| code & !IDCODE_REVISION) else {
        return Ok(());
    };
    let expected = board.device.idcode;
    let mut others = BOARDS.iter().filter(|other| other.device.idcode == found);
    match others.next() {
        Some(other) if found != expected => Err(FlashError::DataDevice {
            found,
            other: other.name.to_owned(),
            board: board.name.to_owned(),
            expected,
        }),
        _ => Ok(()),
    }
}
