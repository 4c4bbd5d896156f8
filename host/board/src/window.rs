//! Words of the board window, and where its blocks are.
//!
//! ```text
//!   BAR 0 + 0x4_0000: directory ─► kind, offset, bytes, words of each block ─► Place
//! ```
//! Source: `abi::window`.

use std::time::Duration;

use abi::field::Field;
use abi::registers::{BOARD_WINDOW, BOARD_WINDOW_ACCESSES};
use abi::window::{BlockKind, DIRECTORY_ENTRY_WORDS, DIRECTORY_MAGIC};
use thiserror::Error;

/// Bytes of a word.
const WORD_BYTES: u32 = 4;
/// Most blocks that a directory is believed to have.
const BLOCKS_MAX: u32 = 64;
/// What a read returns when nobody answers.
const NOBODY: u32 = u32::MAX;

/// Why a word cannot be read or written, or says nothing.
#[derive(Debug, Error)]
pub enum WindowError {
    /// The card has left the bus, or power is gone.
    #[error("the card does not answer at 0x{offset:05x} of BAR 0")]
    Gone {
        /// Offset in BAR 0, bytes.
        offset: u32,
    },
    /// The offset is not in the window as it is mapped.
    #[error("no word at 0x{offset:x} of BAR 0, which has {bytes} bytes")]
    Outside {
        /// Offset in BAR 0, bytes.
        offset: u32,
        /// Bytes of BAR 0.
        bytes: u64,
    },
    /// There is no directory where it must be.
    #[error("no directory of blocks: 0x{found:08x} at 0x{BOARD_WINDOW:05x} of BAR 0")]
    NoDirectory {
        /// What is there.
        found: u32,
    },
    /// The image that runs has no such block.
    #[error("the image that runs has no block {kind:?}")]
    NoBlock {
        /// What was looked for.
        kind: BlockKind,
    },
    /// The system does not give the window.
    #[error("{what}: {error}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
        error: std::io::Error,
    },
}

/// Words that are written before a read waits for them: the window refuses what it cannot hold, and
/// nobody hears of a write that is lost.
const POSTED_WORDS: usize = BOARD_WINDOW_ACCESSES / 2;

/// How long something may take, and how often it is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// The whole time.
    pub limit: Duration,
    /// Time between two looks.
    pub step: Duration,
}

impl Wait {
    /// Looks until there is a result; `None`: there was none within the limit.
    pub fn until<S, T, E>(
        self,
        state: &mut S,
        pause: impl Fn(&mut S, Duration),
        mut look: impl FnMut(&mut S) -> Result<Option<T>, E>,
    ) -> Result<Option<T>, E> {
        let mut waited = Duration::ZERO;
        loop {
            if let Some(found) = look(state)? {
                return Ok(Some(found));
            }
            if waited >= self.limit {
                return Ok(None);
            }
            pause(state, self.step);
            waited += self.step;
        }
    }
}

/// The words of BAR 0, one access at a time.
pub trait Window {
    /// Reads the word at an offset in BAR 0; all ones when nobody answers.
    fn read(&mut self, offset: u32) -> Result<u32, WindowError>;
    /// Writes the word at an offset in BAR 0.
    fn write(&mut self, offset: u32, value: u32) -> Result<(), WindowError>;
    /// Lets time go by between two looks at something that takes its time.
    fn wait(&mut self, time: Duration);
}

impl<W: Window + ?Sized> Window for Box<W> {
    fn read(&mut self, offset: u32) -> Result<u32, WindowError> {
        (**self).read(offset)
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), WindowError> {
        (**self).write(offset, value)
    }

    fn wait(&mut self, time: Duration) {
        (**self).wait(time);
    }
}

/// Where a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Offset in BAR 0, bytes.
    pub offset: u32,
    /// Words in use.
    pub words: u32,
}

/// Finds a block in the directory.
pub fn find(window: &mut impl Window, kind: BlockKind) -> Result<Place, WindowError> {
    let found = read_known(window, BOARD_WINDOW)?;
    if found != DIRECTORY_MAGIC {
        return Err(WindowError::NoDirectory { found });
    }
    let count = read_known(window, BOARD_WINDOW + WORD_BYTES)?;
    let entry_words = DIRECTORY_ENTRY_WORDS as u32;
    for number in 0..count.min(BLOCKS_MAX) {
        let entry = BOARD_WINDOW + WORD_BYTES * (2 + number * entry_words);
        if read_known(window, entry)? != kind as u32 {
            continue;
        }
        let offset = read_known(window, entry + WORD_BYTES)?;
        let words = read_known(window, entry + 3 * WORD_BYTES)?;
        // A block without words is absent; one that is smaller is another version of it.
        if words >= kind.block().words {
            return Ok(Place { offset, words });
        }
    }
    Err(WindowError::NoBlock { kind })
}

/// Reads a word of a block.
pub fn read(window: &mut impl Window, place: Place, word: u32) -> Result<u32, WindowError> {
    window.read(place.offset + WORD_BYTES * word)
}

/// Writes a word of a block.
pub fn write(
    window: &mut impl Window,
    place: Place,
    word: u32,
    value: u32,
) -> Result<(), WindowError> {
    window.write(place.offset + WORD_BYTES * word, value)
}

/// Writes words of a block that can be read back, from `first` on, as the window can hold them.
pub fn write_words(
    window: &mut impl Window,
    place: Place,
    first: u32,
    values: &[u32],
) -> Result<(), WindowError> {
    for (word, value) in (first..).zip(values) {
        write(window, place, word, *value)?;
        if ((word - first) as usize + 1).is_multiple_of(POSTED_WORDS) {
            read(window, place, word)?;
        }
    }
    Ok(())
}

/// Reads a word that is never all ones.
pub fn read_known(window: &mut impl Window, offset: u32) -> Result<u32, WindowError> {
    match window.read(offset)? {
        NOBODY => Err(WindowError::Gone { offset }),
        value => Ok(value),
    }
}

/// Reads a word of a block that is never all ones.
pub fn read_word(window: &mut impl Window, place: Place, word: u32) -> Result<u32, WindowError> {
    read_known(window, place.offset + WORD_BYTES * word)
}

/// A field of a word.
pub fn field(word: u32, field: Field) -> u32 {
    field.get(&word.to_le_bytes()) as u32
}
