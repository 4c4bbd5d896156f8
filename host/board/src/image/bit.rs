//! Vivado's `.bit` file: a header in fields, then the configuration data.
//!
//! ```text
//!   00 09 0f f0 .. 00 00 01   'a' design   'b' part   'c' date   'd' time   'e' data
//!                             each: letter, length in 2 bytes, text with a zero at its end;
//!                             'e': length in 4 bytes
//! ```
//! All lengths have their high byte first.

use thiserror::Error;

/// How every file begins: a field of nine bytes, and the length of the letter that follows.
const OPENING: [u8; 13] =
    [0x00, 0x09, 0x0f, 0xf0, 0x0f, 0xf0, 0x0f, 0xf0, 0x0f, 0xf0, 0x00, 0x00, 0x01];

/// What a `.bit` file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitFile {
    /// Name of the design and settings of Vivado, separated by semicolons.
    pub design: String,
    /// Part, as Vivado writes it.
    pub part: String,
    /// Date of the build, as Vivado writes it.
    pub date: String,
    /// Time of the build.
    pub time: String,
    /// Configuration data.
    pub data: Vec<u8>,
}

/// Why a file is no `.bit` file.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum BitError {
    /// It begins otherwise.
    #[error("no .bit file: its first {} bytes are others", OPENING.len())]
    Opening,
    /// It ends within a field.
    #[error(".bit file: field '{field}' ends {missing} bytes behind the end of the file")]
    Short {
        /// Letter of the field.
        field: char,
        /// What is missing, bytes.
        missing: usize,
    },
    /// Another field stands in the place of one.
    #[error(".bit file: byte {at} is 0x{found:02x}, to be the letter '{field}'")]
    Field {
        /// Letter of the field.
        field: char,
        /// Where it must be, bytes.
        at: usize,
        /// What is there.
        found: u8,
    },
    /// Something follows the data.
    #[error(".bit file: {bytes} bytes behind the data")]
    Long {
        /// How much, bytes.
        bytes: usize,
    },
}

impl BitFile {
    /// Reads the bytes of a file.
    pub fn parse(file: &[u8]) -> Result<Self, BitError> {
        if !file.starts_with(&OPENING) {
            return Err(BitError::Opening);
        }
        let mut rest = Rest { file, at: OPENING.len() };
        let design = rest.text('a')?;
        let part = rest.text('b')?;
        let date = rest.text('c')?;
        let time = rest.text('d')?;
        let data = rest.field('e', 4)?.to_vec();
        match file.len() - rest.at {
            0 => Ok(Self { design, part, date, time, data }),
            bytes => Err(BitError::Long { bytes }),
        }
    }
}

/// What of a file is not read yet.
struct Rest<'a> {
    file: &'a [u8],
    at: usize,
}

impl<'a> Rest<'a> {
    fn take(&mut self, field: char, bytes: usize) -> Result<&'a [u8], BitError> {
        let rest = &self.file[self.at..];
        let missing = bytes.saturating_sub(rest.len());
        if missing > 0 {
            return Err(BitError::Short { field, missing });
        }
        self.at += bytes;
        Ok(&rest[..bytes])
    }

    /// A field: letter, length of so many bytes, content.
    fn field(&mut self, field: char, length_bytes: usize) -> Result<&'a [u8], BitError> {
        let at = self.at;
        let letter = self.take(field, 1)?[0];
        if char::from(letter) != field {
            return Err(BitError::Field { field, at, found: letter });
        }
        let length = self.take(field, length_bytes)?;
        let length = length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        self.take(field, length)
    }

    fn text(&mut self, field: char) -> Result<String, BitError> {
        let text = self.field(field, 2)?;
        let text = text.strip_suffix(&[0]).unwrap_or(text);
        Ok(String::from_utf8_lossy(text).into_owned())
    }
}
