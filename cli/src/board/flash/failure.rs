//! Why an image is not in the flash, each with its exit status.

use std::fmt::Write;
use std::path::PathBuf;

use host_board::chips::ChipsError;
use host_board::image::ImageError;
use thiserror::Error;

/// A failure of `zeronic flash`.
#[derive(Debug, Error)]
pub enum FlashError {
    /// The image was built for another board.
    #[error("the image is for board {image}, not for {board}")]
    Board {
        /// Board of the image.
        image: String,
        /// Board of the command.
        board: String,
    },
    /// The image was built for another part.
    #[error("the image is for part {image}; {board} has {part}")]
    Part {
        /// Part of the image.
        image: String,
        /// Board of the command.
        board: String,
        /// Its part.
        part: String,
    },
    /// The data name the device of another board.
    #[error(
        "the image's data are for IDCODE 0x{found:08x} ({other}); {board} has 0x{expected:08x}"
    )]
    DataDevice {
        /// What the data say, without the revision.
        found: u32,
        /// A board with that device.
        other: String,
        /// Board of the command.
        board: String,
        /// Its IDCODE, without the revision.
        expected: u32,
    },
    /// The image belongs where this program never writes.
    #[error("a {slot} image; this program writes the user's slot alone (docs/flash.md)")]
    Slot {
        /// Slot of the image.
        slot: &'static str,
    },
    /// The image was built though something is wrong with it.
    #[error(
        "the image was built with --force-image, {wrong} things wrong with it; --force writes it \
         all the same"
    )]
    Forced {
        /// How many things.
        wrong: u64,
    },
    /// The data do not fit the board's chips.
    #[error("the image does not fit {board}: {error}")]
    Chips {
        /// Board of the command.
        board: String,
        /// What does not fit.
        error: ChipsError,
    },
    /// Another device is on the cable.
    #[error("IDCODE 0x{found:08x} on the cable; {board} has 0x{expected:08x}. {NOTHING}")]
    Device {
        /// What the cable says.
        found: u32,
        /// Board of the command.
        board: String,
        /// Its IDCODE, without the revision.
        expected: u32,
    },
    /// Another board is in the slot.
    #[error("board {found} at {device}; {board} is {expected}. {NOTHING}")]
    Card {
        /// PCI address.
        device: String,
        /// Number of the board that is there.
        found: u32,
        /// Board of the command.
        board: String,
        /// Its number.
        expected: u32,
    },
    /// The file is no whole image.
    #[error("{file}: {error}")]
    File {
        /// The file.
        file: String,
        /// What is wrong with it.
        error: ImageError,
    },
    /// The file cannot be read.
    #[error("{}: {error}", file.display())]
    NoFile {
        /// The file.
        file: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// No cable, or nothing at its end.
    #[error("no device found by {tool}: {said}. {NOTHING}")]
    Cable {
        /// Program that looked.
        tool: &'static str,
        /// What it said.
        said: String,
    },
    /// No card where it was looked for.
    #[error("{device}: {said}. {NOTHING}")]
    NoCard {
        /// PCI address, or where it was looked for.
        device: String,
        /// What was found instead.
        said: String,
    },
    /// The card does not do it.
    #[error("{said}. {}", if *began { HALF } else { NOTHING })]
    Window {
        /// What it does not do.
        said: String,
        /// Something was erased.
        began: bool,
    },
    /// The image is there, and the card does not run it.
    #[error("{0}. The image is in the flash, and was read back as it was written")]
    Boot(String),
    /// What the card must be before it may load an image while the system runs.
    #[error("--boot: {0}. {NOTHING}")]
    NoExchange(String),
    /// What was read back is not what was written.
    #[error("verify failed: {said}. {HALF}")]
    Verify {
        /// Where, and who says so.
        said: String,
    },
    /// A program is missing, too old, or lacks a file of its own.
    #[error("{tool}: {said}. {NOTHING}")]
    Tool {
        /// The program.
        tool: String,
        /// What it lacks.
        said: String,
    },
    /// The user does not want it.
    #[error("{0}; nothing was written")]
    Refused(&'static str),
    /// It ended in the middle.
    #[error("{tool} ended before it was done: {said}. {HALF}")]
    Interrupted {
        /// The program.
        tool: &'static str,
        /// What it said last.
        said: String,
    },
    /// It ended in the middle of a load that leaves the flash alone.
    #[error("{tool} ended before it was done: {said}. The flash is as it was")]
    NotLoaded {
        /// The program.
        tool: &'static str,
        /// What it said last.
        said: String,
    },
}

/// What is said where no command to erase was given.
const NOTHING: &str = "Nothing was erased";
/// What is said where one may have been.
const HALF: &str = "The user's slot may hold half an image: until it is written again the image \
                    below it boots, which is as it was";

/// Exit statuses and what they mean.
pub const STATUSES: [(u8, &str); 12] = [
    (0, "done: written, and read back as it was written"),
    (2, "wrong command line, a file that cannot be read or written, a full disk"),
    (3, "wrong board, part or slot: the image is for something else"),
    (4, "wrong IDCODE: another device on the cable, another board in the slot"),
    (5, "short or damaged image file"),
    (6, "no cable, no device, no card"),
    (7, "verify failed: the slot may hold half an image"),
    (8, "a program is missing or too old"),
    (9, "refused by the user, or nobody there to ask"),
    (10, "ended before it was done, as when a cable is pulled: half an image, unless --volatile"),
    (11, "the card refused or did not answer; the message says whether anything was erased"),
    (12, "an image that was built with --force-image, without --force"),
];

impl FlashError {
    /// Exit status of the program.
    pub fn status(&self) -> u8 {
        match self {
            FlashError::Board { .. }
            | FlashError::Part { .. }
            | FlashError::DataDevice { .. }
            | FlashError::Slot { .. }
            | FlashError::Chips { .. } => 3,
            FlashError::Device { .. } | FlashError::Card { .. } => 4,
            FlashError::NoFile { .. } => 2,
            FlashError::File { .. } => 5,
            FlashError::Cable { .. } | FlashError::NoCard { .. } => 6,
            FlashError::Verify { .. } => 7,
            FlashError::Tool { .. } => 8,
            FlashError::Refused(_) => 9,
            FlashError::Interrupted { .. } | FlashError::NotLoaded { .. } => 10,
            FlashError::Forced { .. } => 12,
            FlashError::Window { .. } | FlashError::Boot(_) | FlashError::NoExchange(_) => 11,
        }
    }
}

/// The statuses as the help shows them.
pub fn help() -> String {
    let mut text = "Exit status:\n".to_owned();
    for (status, meaning) in STATUSES {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {status:>2}  {meaning}");
    }
    text
}
