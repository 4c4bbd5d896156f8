//! Captures that were packed with gzip or zstd, known by their first bytes.
//!
//! ```text
//!   file ─ first bytes ─► gzip members, zstd frames, or as it is ──► bytes, and why they end early
//! ```
//!
//! Sources: RFC 1952 (gzip), RFC 8878 (zstd).

use std::borrow::Cow;
use std::io::{self, ErrorKind, Read};

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::StreamingDecoder;

use super::capture_error::CaptureError;

/// Most bytes that a packed capture may have: a small file can unpack to any length.
const UNPACKED_BYTES_MAX: usize = 4 << 30;
/// Bytes that are unpacked at a time.
const PART_BYTES: usize = 1 << 16;
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The first byte of a skippable zstd frame is 0x50 to 0x5f, then come these.
const ZSTD_SKIPPABLE: [u8; 3] = [0x2a, 0x4d, 0x18];

/// Packers whose files are refused by name.
const OTHERS: [(&str, &[u8]); 6] = [
    ("bzip2", b"BZh"),
    ("xz", &[0xfd, b'7', b'z', b'X', b'Z']),
    ("lz4", &[0x04, 0x22, 0x4d, 0x18]),
    ("zip", b"PK\x03\x04"),
    ("7z", b"7z\xbc\xaf"),
    ("compress", &[0x1f, 0x9d]),
];

/// What was in a file.
pub(super) struct Unpacked<'a> {
    /// Its bytes, as far as they can be had.
    pub bytes: Cow<'a, [u8]>,
    /// Why there are no more, if the file was cut or is damaged.
    pub end: Option<String>,
}

/// Unpacks a file. One that is not packed stays as it is.
pub(super) fn unpack(file: &[u8]) -> Result<Unpacked<'_>, CaptureError> {
    let mut bytes = Vec::new();
    let (packer, unpacked) = match file {
        [first, rest @ ..] if first & 0xf0 == 0x50 && rest.starts_with(&ZSTD_SKIPPABLE) => {
            ("zstd", unpack_zstd(file, &mut bytes))
        }
        _ if file.starts_with(&ZSTD) => ("zstd", unpack_zstd(file, &mut bytes)),
        _ if file.starts_with(GZIP) => ("gzip", drain(&mut MultiGzDecoder::new(file), &mut bytes)),
        _ => {
            if let Some((name, _)) = OTHERS.iter().find(|(_, first)| file.starts_with(first)) {
                return Err(CaptureError::Packed(name));
            }
            let bytes = Cow::Borrowed(file);
            return Ok(Unpacked { bytes, end: None });
        }
    };
    let end = match unpacked {
        Ok(()) => None,
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            return Err(CaptureError::Vast(UNPACKED_BYTES_MAX));
        }
        Err(error) => {
            let have = bytes.len();
            let why = match error.kind() {
                ErrorKind::UnexpectedEof => "the file ends too early".to_owned(),
                _ => error.to_string().replace('\n', " "),
            };
            Some(format!("unpacking with {packer} stops after {have} bytes: {why}"))
        }
    };
    let bytes = Cow::Owned(bytes);
    Ok(Unpacked { bytes, end })
}

/// Unpacks all frames of a zstd file, those without content passed over.
fn unpack_zstd(file: &[u8], into: &mut Vec<u8>) -> io::Result<()> {
    let mut rest = file;
    while !rest.is_empty() {
        match StreamingDecoder::new(&mut rest) {
            Ok(mut decoder) => {
                drain(&mut decoder, into)?;
                let decoder = decoder.into_frame_decoder();
                let stored = decoder.get_checksum_from_data();
                if stored.is_some() && stored != decoder.get_calculated_checksum() {
                    return Err(io::Error::other("its checksum is wrong"));
                }
            }
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let after = rest.get(length as usize..);
                rest = after.ok_or(io::Error::from(ErrorKind::UnexpectedEof))?;
            }
            Err(error) => return Err(io::Error::other(error)),
        }
    }
    Ok(())
}

/// Takes all bytes of a stream. What came before an error stays.
fn drain(from: &mut dyn Read, into: &mut Vec<u8>) -> io::Result<()> {
    let mut part = vec![0; PART_BYTES];
    loop {
        match from.read(&mut part) {
            Ok(0) => return Ok(()),
            Ok(bytes) => into.extend_from_slice(&part[..bytes]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if into.len() > UNPACKED_BYTES_MAX {
            return Err(ErrorKind::FileTooLarge.into());
        }
    }
}
