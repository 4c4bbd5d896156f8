//! The header of an image file: text of [`HEADER_BYTES`], a key and its value a line.
//!
//! ```text
//!   zeronic-image 1 \n board vcu118 \n part ... \n ... sha256 ... \n [forced 2 \n] \n \n ... \n
//! ```

use abi::image::{
    Slot, FILLER, HEADER_BYTES, KEYS, KEY_BOARD, KEY_BUILT, KEY_BYTES, KEY_CONFIG, KEY_CONTRACT,
    KEY_FORCED, KEY_GIT, KEY_PART, KEY_SHA256, KEY_SLOT, MAGIC,
};
use thiserror::Error;

/// What a header says of its image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Name of the board.
    pub board: String,
    /// Part, as Vivado writes it.
    pub part: String,
    /// Name of the card's configuration.
    pub config: String,
    /// Slot of the flash.
    pub slot: Slot,
    /// Version of the contract: major, minor.
    pub contract: (u32, u32),
    /// Git hash of the sources, 40 hexadecimal digits.
    pub git: String,
    /// When it was built, seconds since 1970.
    pub built: u64,
    /// Bytes of the data.
    pub bytes: u64,
    /// SHA-256 of the data, 64 hexadecimal digits, small letters.
    pub sha256: String,
    /// How many things are wrong with an image that was built all the same; 0: it is all it must
    /// be.
    pub forced: u64,
}

/// Why a header cannot be used.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum HeaderError {
    /// The file ends within the header.
    #[error("short: {found} bytes, a header has {HEADER_BYTES}")]
    Short {
        /// Bytes of the file.
        found: usize,
    },
    /// The file is none of ours.
    #[error("no image: it begins with '{found}', not with '{MAGIC}'")]
    Magic {
        /// How it begins, what is no text replaced.
        found: String,
    },
    /// Another version of the format.
    #[error("an image of format '{found}'; this program knows '{MAGIC}'")]
    Format {
        /// The first line.
        found: String,
    },
    /// A line is missing, or stands in another's place.
    #[error("line {line} of the header is '{found}', to be '{key} ...'")]
    Key {
        /// The line, from 1.
        line: usize,
        /// What is there.
        found: String,
        /// The key that belongs there.
        key: &'static str,
    },
    /// A value is none of its key.
    #[error("header: '{value}' is no {key}")]
    Value {
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
    },
    /// Something follows the last line.
    #[error("header: byte {at} behind the last line is 0x{found:02x}")]
    Rest {
        /// Where, bytes from the start of the file.
        at: usize,
        /// What.
        found: u8,
    },
    /// The values do not fit.
    #[error("a header of {bytes} bytes; {HEADER_BYTES} is the most")]
    Long {
        /// What it would take, bytes.
        bytes: usize,
    },
}

impl Header {
    /// Reads the header of a file.
    pub fn parse(file: &[u8]) -> Result<Self, HeaderError> {
        let text = &file[..file.len().min(HEADER_BYTES)];
        let first = text.split(|byte| *byte == b'\n').next().unwrap_or(text);
        let begins = String::from_utf8_lossy(&first[..first.len().min(32)]).into_owned();
        let (word, _) = MAGIC.split_once(' ').unwrap_or((MAGIC, ""));
        match first.strip_prefix(word.as_bytes()) {
            _ if file.len() < HEADER_BYTES && MAGIC.as_bytes().starts_with(first) => {}
            _ if first == MAGIC.as_bytes() => {}
            Some([b' ', ..]) => return Err(HeaderError::Format { found: begins }),
            _ => return Err(HeaderError::Magic { found: begins.escape_default().to_string() }),
        }
        if file.len() < HEADER_BYTES {
            return Err(HeaderError::Short { found: file.len() });
        }
        let (values, end) = values(text)?;
        let (forced, end) = parse_forced(text, end)?;
        let mut rest = text.iter().enumerate().skip(end);
        if let Some((at, found)) = rest.find(|(_, byte)| **byte != FILLER) {
            return Err(HeaderError::Rest { at, found: *found });
        }
        let [board, part, config, slot, contract, git, built, bytes, sha256] = values;
        Ok(Self {
            board: word_of(KEY_BOARD, board)?,
            part: word_of(KEY_PART, part)?,
            config: word_of(KEY_CONFIG, config)?,
            slot: Slot::find_slot(&slot).ok_or_else(|| wrong(KEY_SLOT, &slot))?,
            contract: contract_of(&contract)?,
            git: digits(KEY_GIT, git, 40)?,
            built: number(KEY_BUILT, &built)?,
            bytes: number(KEY_BYTES, &bytes)?,
            sha256: digits(KEY_SHA256, sha256, 64)?,
            forced,
        })
    }

    /// The text of the header, [`HEADER_BYTES`] long.
    pub fn text(&self) -> Result<Vec<u8>, HeaderError> {
        let (major, minor) = self.contract;
        let values = [
            word_of(KEY_BOARD, self.board.clone())?,
            word_of(KEY_PART, self.part.clone())?,
            word_of(KEY_CONFIG, self.config.clone())?,
            self.slot.name().to_owned(),
            format!("{major}.{minor}"),
            digits(KEY_GIT, self.git.clone(), 40)?,
            self.built.to_string(),
            self.bytes.to_string(),
            digits(KEY_SHA256, self.sha256.clone(), 64)?,
        ];
        let lines = KEYS.iter().zip(values);
        let mut lines: String = lines.map(|(key, value)| format!("{key} {value}\n")).collect();
        if self.forced > 0 {
            lines += &format!("{KEY_FORCED} {}\n", self.forced);
        }
        let mut text = format!("{MAGIC}\n{lines}").into_bytes();
        if text.len() > HEADER_BYTES {
            return Err(HeaderError::Long { bytes: text.len() });
        }
        text.resize(HEADER_BYTES, FILLER);
        Ok(text)
    }
}

/// The values in the order of [`KEYS`], and where the last line ends, bytes.
fn values(text: &[u8]) -> Result<([String; KEYS.len()], usize), HeaderError> {
    let mut values: [String; KEYS.len()] = Default::default();
    let mut end = MAGIC.len() + 1;
    for (number, (key, value)) in KEYS.iter().zip(&mut values).enumerate() {
        let rest = &text[end..];
        let length = rest.iter().position(|byte| *byte == b'\n');
        let line = &rest[..length.unwrap_or(rest.len())];
        let line = String::from_utf8_lossy(line).into_owned();
        let found = line.strip_prefix(key).and_then(|it| it.strip_prefix(' '));
        let (Some(found), Some(length)) = (found, length) else {
            return Err(HeaderError::Key { line: number + 2, found: line, key });
        };
        found.clone_into(value);
        end += length + 1;
    }
    Ok((values, end))
}

/// What the line behind the others says, if it is that of an image that was forced; and where the
/// last line ends, bytes.
fn parse_forced(text: &[u8], end: usize) -> Result<(u64, usize), HeaderError> {
    let rest = text[end..].strip_prefix(KEY_FORCED.as_bytes());
    let Some(rest) = rest.and_then(|rest| rest.strip_prefix(b" ")) else { return Ok((0, end)) };
    let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let value = String::from_utf8_lossy(&rest[..length]).into_owned();
    let count = number(KEY_FORCED, &value)?;
    match count {
        0 => Err(wrong(KEY_FORCED, &value)),
        _ => Ok((count, end + KEY_FORCED.len() + 1 + length + 1)),
    }
}

fn wrong(key: &'static str, value: &str) -> HeaderError {
    HeaderError::Value { key, value: value.to_owned() }
}

/// A value of letters, digits and a few signs.
fn word_of(key: &'static str, value: String) -> Result<String, HeaderError> {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    match !value.is_empty() && value.chars().all(is_sign) {
        true => Ok(value),
        false => Err(wrong(key, &value)),
    }
}

/// So many hexadecimal digits, in small letters.
fn digits(key: &'static str, value: String, count: usize) -> Result<String, HeaderError> {
    let is_digit = |c: char| c.is_ascii_hexdigit() && !c.is_ascii_uppercase();
    match value.len() == count && value.chars().all(is_digit) {
        true => Ok(value),
        false => Err(wrong(key, &value)),
    }
}

/// A decimal number.
fn number(key: &'static str, value: &str) -> Result<u64, HeaderError> {
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    let number = value.parse().ok().filter(|_| is_number);
    number.ok_or_else(|| wrong(key, value))
}

fn contract_of(value: &str) -> Result<(u32, u32), HeaderError> {
    let part = |text: &str| number(KEY_CONTRACT, text).ok().and_then(|it| it.try_into().ok());
    let both = value.split_once('.');
    let both = both.and_then(|(major, minor)| Some((part(major)?, part(minor)?)));
    both.ok_or_else(|| wrong(KEY_CONTRACT, value))
}
