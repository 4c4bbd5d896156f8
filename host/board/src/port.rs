//! The device's own configuration port: loads an image from the flash.

use std::time::Duration;

use abi::window::{
    BlockKind, PortOperation, PORT_BOOT_STATUS, PORT_BUSY, PORT_COMMAND, PORT_HELD, PORT_KEY,
    PORT_KEY_WORDS, PORT_REFUSED, PORT_STATUS,
};
use thiserror::Error;

use crate::flash::{Flash, FlashError};
use crate::window::{field, find, read, read_word, write, Wait, Window, WindowError};

/// How long an operation may take, and how often it is looked at.
const WAIT: Wait = Wait { limit: Duration::from_millis(10), step: Duration::from_micros(10) };

/// Why the port did nothing.
#[derive(Debug, Error)]
pub enum PortError {
    /// The window does not answer.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// Whether the flash is at rest is not known.
    #[error("no image is loaded before the flash is at rest: {0}")]
    Flash(#[from] FlashError),
    /// A chip was told to change, by somebody else at the same time.
    #[error("no image is loaded while a flash chip erases or programs: refused {operation:?}")]
    Held {
        /// What was asked.
        operation: PortOperation,
    },
    /// The port does not do it.
    #[error("the configuration port refused {operation:?}")]
    Refused {
        /// What was asked.
        operation: PortOperation,
    },
    /// It does not end.
    #[error("{operation:?} of the configuration port runs for more than {:?}", WAIT.limit)]
    Busy {
        /// What was asked.
        operation: PortOperation,
    },
}

/// Has the device load an image; the card leaves the bus within a millisecond, and whoever has a
/// driver bound to it must be ready for that. A flash chip that erases or programs is waited for.
pub fn boot(window: &mut impl Window, operation: PortOperation) -> Result<(), PortError> {
    let place = find(window, BlockKind::ConfigurationPort)?;
    if field(read_word(window, place, PORT_STATUS)?, PORT_HELD) == 1 {
        let mut flash = Flash::open(window)?;
        for chip in 0..flash.layout().chips {
            flash.settle(chip)?;
        }
    }
    for word in PORT_KEY_WORDS {
        write(window, place, PORT_KEY, word)?;
    }
    write(window, place, PORT_COMMAND, operation as u32)?;
    // A refusal is seen at once; a card that does it may not answer any more.
    match read(window, place, PORT_STATUS)? {
        u32::MAX => Ok(()),
        status if field(status, PORT_REFUSED) == 0 => Ok(()),
        status if field(status, PORT_HELD) == 1 => Err(PortError::Held { operation }),
        _ => Err(PortError::Refused { operation }),
    }
}

/// Reads BOOTSTS (UG570): what became of the last two loads.
pub fn boot_status(window: &mut impl Window) -> Result<u32, PortError> {
    let operation = PortOperation::ReadStatus;
    let place = find(window, BlockKind::ConfigurationPort)?;
    write(window, place, PORT_COMMAND, operation as u32)?;
    let look = |window: &mut _| {
        let status = read_word(window, place, PORT_STATUS)?;
        if field(status, PORT_REFUSED) == 1 {
            return Err(PortError::Refused { operation });
        }
        Ok((field(status, PORT_BUSY) == 0).then_some(()))
    };
    let ended = WAIT.until(window, Window::wait, look)?;
    ended.ok_or(PortError::Busy { operation })?;
    Ok(read(window, place, PORT_BOOT_STATUS)?)
}
