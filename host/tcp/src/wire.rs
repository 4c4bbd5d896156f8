//! The bytes of a TCP header: read with every length checked, and written.
//!
//! ```text
//!   0 ports  4 sequence  8 acknowledgement  12 offset, flags  14 window  16 checksum 0  20 options
//! ```
//! Invariants
//! 1. An unknown option is skipped by its length; a length that does not fit ends the reading of
//!    options, and what was read before counts (RFC 9293, 3.2 MUST-7).
//! 2. The bit beside CWR, which AccECN would use, is never set and not looked at (RFC 9768, 3.1).
//! 3. The urgent pointer is neither read nor written (RFC 9293, 3.8.5).
//!
//! Sources: RFC 9293, 3.1 and 3.2; RFC 7323, 2.2 and 3.2; RFC 2018, 2 and 3.

use thiserror::Error;

use crate::segment::{Codepoint, Flags, Options, SackBlock, Segment, Timestamps};

/// Longest TCP header in bytes (RFC 9293, 3.1).
pub const HEADER_BYTES_MAX: usize = 60;
const HEADER_BYTES_MIN: usize = 20;

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// Why a header cannot be read (RFC 9293, 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// It is shorter than a header without options.
    #[error("header of {0} bytes, at least 20 wanted")]
    Short(usize),
    /// The data offset points before the options or beyond the header.
    #[error("data offset of {0} bytes does not fit the header")]
    DataOffset(usize),
}

/// Reads a TCP header (RFC 9293, 3.1). Ports and checksum are looked at by who calls.
pub fn parse(
    header: &[u8],
    payload_bytes: u32,
    codepoint: Codepoint,
) -> Result<Segment, WireError> {
    let Some(fixed) = header.first_chunk::<HEADER_BYTES_MIN>() else {
        return Err(WireError::Short(header.len()));
    };
    let data_offset = usize::from(fixed[12] >> 4) * 4;
    let Some(options) = header.get(HEADER_BYTES_MIN..data_offset) else {
        return Err(WireError::DataOffset(data_offset));
    };
    Ok(Segment {
        sequence: word32(fixed, 4),
        acknowledgement: word32(fixed, 8),
        flags: Flags(fixed[13]),
        window: word16(fixed, 14),
        options: parse_options(options),
        codepoint,
        payload_bytes,
        run: None,
    })
}

fn word16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn word32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn parse_options(mut bytes: &[u8]) -> Options {
    let mut options = Options::default();
    while let [kind, rest @ ..] = bytes {
        match *kind {
            END => break,
            NO_OPERATION => {
                bytes = rest;
                continue;
            }
            _ => {}
        }
        let length = rest.first().map_or(0, |length| usize::from(*length));
        let Some(value) = bytes.get(2..length) else { break };
        take_option(&mut options, *kind, value);
        bytes = &bytes[length..];
    }
    options
}

fn take_option(options: &mut Options, kind: u8, value: &[u8]) {
    match (kind, value.len()) {
        (MSS, 2) => options.mss_bytes = Some(word16(value, 0)),
        (WINDOW_SCALE, 1) => options.window_scale = Some(value[0]),
        (SACK_PERMITTED, 0) => options.is_sack_permitted = true,
        (TIMESTAMPS, 8) => {
            let (value, echo) = (word32(value, 0), word32(value, 4));
            options.timestamps = Some(Timestamps { value, echo });
        }
        (SACK, bytes) if bytes % 8 == 0 => {
            let blocks = value.chunks_exact(8);
            let blocks = blocks.map(|it| SackBlock { start: word32(it, 0), end: word32(it, 4) });
            options.sack = blocks.take(crate::segment::SACK_BLOCKS_MAX).collect();
        }
        _ => {}
    }
}

/// Writes a TCP header, checksum 0, and returns its length (RFC 9293, 3.1). SACK blocks that do not
/// fit are left out, the last first.
pub fn emit(segment: &Segment, ports: [u16; 2], bytes: &mut [u8; HEADER_BYTES_MAX]) -> usize {
    bytes.fill(0);
    bytes[0..2].copy_from_slice(&ports[0].to_be_bytes());
    bytes[2..4].copy_from_slice(&ports[1].to_be_bytes());
    bytes[4..8].copy_from_slice(&segment.sequence.to_be_bytes());
    bytes[8..12].copy_from_slice(&segment.acknowledgement.to_be_bytes());
    bytes[13] = segment.flags.0;
    bytes[14..16].copy_from_slice(&segment.window.to_be_bytes());
    let mut writer = Writer { bytes, at: HEADER_BYTES_MIN };
    writer.options(&segment.options);
    let length = writer.at;
    bytes[12] = ((length / 4) << 4) as u8;
    length
}

/// Writes options one behind the other, each aligned to 4 bytes (RFC 9293, 3.2).
struct Writer<'a> {
    bytes: &'a mut [u8; HEADER_BYTES_MAX],
    at: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    fn options(&mut self, options: &Options) {
        if let Some(mss_bytes) = options.mss_bytes {
            self.put(&[MSS, 4]);
            self.put(&mss_bytes.to_be_bytes());
        }
        if let Some(scale) = options.window_scale {
            self.put(&[NO_OPERATION, WINDOW_SCALE, 3, scale]);
        }
        if options.is_sack_permitted {
            self.put(&[NO_OPERATION, NO_OPERATION, SACK_PERMITTED, 2]);
        }
        if let Some(timestamps) = options.timestamps {
            self.put(&[NO_OPERATION, NO_OPERATION, TIMESTAMPS, 10]);
            self.put(&timestamps.value.to_be_bytes());
            self.put(&timestamps.echo.to_be_bytes());
        }
        let room = (HEADER_BYTES_MAX - self.at).saturating_sub(4) / 8;
        let blocks = &options.sack[..options.sack.len().min(room)];
        if !blocks.is_empty() {
            self.put(&[NO_OPERATION, NO_OPERATION, SACK, 2 + 8 * blocks.len() as u8]);
        }
        for block in blocks {
            self.put(&block.start.to_be_bytes());
            self.put(&block.end.to_be_bytes());
        }
    }
}
