//! Captures: written as pcapng with nanoseconds, read as pcapng or classic pcap.
//!
//! ```text
//!   frames of each port ──> section header, one interface a port, one packet block a frame
//! ```
//!
//! Invariants
//! 1. If a write is interrupted, a reader loses at most the last frame.
//! 2. Times are kept to the nanosecond; classic files keep what their format has.
//!
//! Source: draft-ietf-opsawg-pcapng, sections 3 and 4; pcap file format, draft-ietf-opsawg-pcap.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const LINK_ETHERNET: u16 = 1;
const OPTION_NAME: u16 = 2;
const OPTION_RESOLUTION: u16 = 9;

/// Why a capture cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file cannot be read.
    #[error("capture: {0}")]
    File(#[from] io::Error),
    /// It has no bytes.
    #[error("capture is empty: 0 bytes")]
    Empty,
    /// It is neither pcapng nor pcap.
    #[error("capture begins with {0:#010x}: neither pcapng nor pcap")]
    Magic(u32),
    /// A block or record ends outside the file, or is too short for its content.
    #[error("capture is broken at byte {0}")]
    Broken(usize),
    /// A frame of another link than Ethernet.
    #[error("capture holds link type {0}, Ethernet (1) is expected")]
    Link(u16),
}

/// A captured frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Index of the interface in the file.
    pub interface: u32,
    /// Time since the epoch of the clock of the file.
    pub time_ns: u64,
    /// The frame, without FCS.
    pub bytes: Vec<u8>,
    /// Its length on the wire; more than `bytes` if the capture cut it.
    pub wire_bytes: u32,
}

/// Writes a capture.
pub struct CaptureWriter<W: Write> {
    out: W,
    interfaces: u32,
}

impl CaptureWriter<BufWriter<File>> {
    /// Creates a file with one interface for each name.
    pub fn create(path: &Path, interfaces: &[&str]) -> io::Result<Self> {
        CaptureWriter::new(BufWriter::new(File::create(path)?), interfaces)
    }
}

impl<W: Write> CaptureWriter<W> {
    /// Begins a capture with one interface for each name.
    pub fn new(out: W, interfaces: &[&str]) -> io::Result<Self> {
        let mut writer = CaptureWriter {
            out,
            interfaces: interfaces.len() as u32,
        };
        let mut header = Vec::new();
        header.extend(BYTE_ORDER.to_le_bytes());
        header.extend(1_u16.to_le_bytes());
        header.extend(0_u16.to_le_bytes());
        header.extend(u64::MAX.to_le_bytes());
        writer.block(SECTION_HEADER, &header)?;
        for name in interfaces {
            let mut body = Vec::new();
            body.extend(LINK_ETHERNET.to_le_bytes());
            body.extend(0_u16.to_le_bytes());
            body.extend(0_u32.to_le_bytes());
            option(&mut body, OPTION_NAME, name.as_bytes());
            option(&mut body, OPTION_RESOLUTION, &[9]);
            option(&mut body, 0, &[]);
            writer.block(INTERFACE, &body)?;
        }
        Ok(writer)
    }

    /// Adds a frame.
    ///
    /// # Panics
    /// If the capture has no such interface.
    pub fn frame(&mut self, interface: u32, time_ps: u64, bytes: &[u8]) -> io::Result<()> {
        assert!(
            interface < self.interfaces,
            "interface {interface} of {}",
            self.interfaces
        );
        let time_ns = time_ps / 1000;
        let mut body = Vec::with_capacity(bytes.len() + 24);
        body.extend(interface.to_le_bytes());
        body.extend(((time_ns >> 32) as u32).to_le_bytes());
        body.extend((time_ns as u32).to_le_bytes());
        body.extend((bytes.len() as u32).to_le_bytes());
        body.extend((bytes.len() as u32).to_le_bytes());
        body.extend(bytes);
        pad(&mut body);
        self.block(ENHANCED_PACKET, &body)
    }

    /// Completes the capture.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn block(&mut self, kind: u32, body: &[u8]) -> io::Result<()> {
        let length = (body.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length)?;
        self.out.write_all(body)?;
        self.out.write_all(&length)
    }
}

fn pad(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(4), 0);
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    pad(body);
}

/// Reads all frames of a capture file, pcapng or pcap.
pub fn read_capture(path: &Path) -> Result<Vec<Captured>, CaptureError> {
    parse_capture(&std::fs::read(path)?)
}

/// Reads all frames of a capture.
pub fn parse_capture(bytes: &[u8]) -> Result<Vec<Captured>, CaptureError> {
    if bytes.is_empty() {
        return Err(CaptureError::Empty);
    }
    let magic = Bytes {
        bytes,
        is_big: false,
    }
    .u32(0)?;
    match magic {
        SECTION_HEADER => parse_pcapng(bytes),
        0xa1b2_c3d4 => parse_pcap(
            Bytes {
                bytes,
                is_big: false,
            },
            1000,
        ),
        0xa1b2_3c4d => parse_pcap(
            Bytes {
                bytes,
                is_big: false,
            },
            1,
        ),
        0xd4c3_b2a1 => parse_pcap(
            Bytes {
                bytes,
                is_big: true,
            },
            1000,
        ),
        0x4d3c_b2a1 => parse_pcap(
            Bytes {
                bytes,
                is_big: true,
            },
            1,
        ),
        other => Err(CaptureError::Magic(other)),
    }
}

/// Numbers in the byte order of the file.
#[derive(Clone, Copy)]
struct Bytes<'a> {
    bytes: &'a [u8],
    is_big: bool,
}

impl<'a> Bytes<'a> {
    fn slice(&self, at: usize, length: usize) -> Result<&'a [u8], CaptureError> {
        let end = at.checked_add(length).ok_or(CaptureError::Broken(at))?;
        self.bytes.get(at..end).ok_or(CaptureError::Broken(at))
    }

    fn u16(&self, at: usize) -> Result<u16, CaptureError> {
        let raw = self.slice(at, 2)?;
        let value = u16::from_le_bytes([raw[0], raw[1]]);
        Ok(if self.is_big {
            value.swap_bytes()
        } else {
            value
        })
    }

    fn u32(&self, at: usize) -> Result<u32, CaptureError> {
        let raw = self.slice(at, 4)?;
        let value = u32::from_le_bytes([raw[0], raw[1], raw[2], raw[3]]);
        Ok(if self.is_big {
            value.swap_bytes()
        } else {
            value
        })
    }
}

fn parse_pcap(file: Bytes, unit_ns: u64) -> Result<Vec<Captured>, CaptureError> {
    let link = file.u32(20)? as u16;
    if link != LINK_ETHERNET {
        return Err(CaptureError::Link(link));
    }
    let mut frames = Vec::new();
    let mut at = 24;
    while at < file.bytes.len() {
        let seconds = u64::from(file.u32(at)?);
        let fraction = u64::from(file.u32(at + 4)?);
        let length = file.u32(at + 8)? as usize;
        frames.push(Captured {
            interface: 0,
            time_ns: seconds * 1_000_000_000 + fraction * unit_ns,
            bytes: file.slice(at + 16, length)?.to_vec(),
            wire_bytes: file.u32(at + 12)?,
        });
        at += 16 + length;
    }
    Ok(frames)
}

struct Interface {
    link: u16,
    units_per_second: u64,
}

fn parse_pcapng(bytes: &[u8]) -> Result<Vec<Captured>, CaptureError> {
    let mut file = Bytes {
        bytes,
        is_big: false,
    };
    let mut interfaces: Vec<Interface> = Vec::new();
    let mut frames = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if file.u32(at)? == SECTION_HEADER {
            file.is_big = file.slice(at + 8, 4)? == BYTE_ORDER.to_be_bytes();
            interfaces.clear();
        }
        let length = file.u32(at + 4)? as usize;
        if length < 12 || !length.is_multiple_of(4) {
            return Err(CaptureError::Broken(at));
        }
        let body = Bytes {
            bytes: file.slice(at + 8, length - 12)?,
            ..file
        };
        let in_file = |_| CaptureError::Broken(at);
        match file.u32(at)? {
            INTERFACE => interfaces.push(parse_interface(body).map_err(in_file)?),
            ENHANCED_PACKET => frames.push(parse_packet(body, &interfaces, at)?),
            SIMPLE_PACKET => frames.push(parse_simple_packet(body).map_err(in_file)?),
            _ => {}
        }
        at += length;
    }
    Ok(frames)
}

fn parse_interface(body: Bytes) -> Result<Interface, CaptureError> {
    let mut interface = Interface {
        link: body.u16(0)?,
        units_per_second: 1_000_000,
    };
    let mut at = 8;
    while at + 4 <= body.bytes.len() {
        let (code, length) = (body.u16(at)?, usize::from(body.u16(at + 2)?));
        if code == OPTION_RESOLUTION {
            let resolution = body.slice(at + 4, 1)?[0];
            let exponent = u32::from(resolution & 0x7f);
            let base = if resolution & 0x80 == 0 { 10_u64 } else { 2 };
            interface.units_per_second = base.saturating_pow(exponent);
        }
        at += 4 + length.next_multiple_of(4);
    }
    Ok(interface)
}

fn parse_packet(
    body: Bytes,
    interfaces: &[Interface],
    at: usize,
) -> Result<Captured, CaptureError> {
    let index = body.u32(0)?;
    let interface = interfaces
        .get(index as usize)
        .ok_or(CaptureError::Broken(at))?;
    if interface.link != LINK_ETHERNET {
        return Err(CaptureError::Link(interface.link));
    }
    let units = u128::from(body.u32(4)?) << 32 | u128::from(body.u32(8)?);
    let length = body.u32(12)? as usize;
    Ok(Captured {
        interface: index,
        time_ns: (units * 1_000_000_000 / u128::from(interface.units_per_second)) as u64,
        bytes: body.slice(20, length)?.to_vec(),
        wire_bytes: body.u32(16)?,
    })
}

fn parse_simple_packet(body: Bytes) -> Result<Captured, CaptureError> {
    let wire_bytes = body.u32(0)?;
    let length = (wire_bytes as usize).min(body.bytes.len() - 4);
    Ok(Captured {
        interface: 0,
        time_ns: 0,
        bytes: body.slice(4, length)?.to_vec(),
        wire_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_frames_are_read_back() {
        let mut writer = CaptureWriter::new(Vec::new(), &["left", "right"]).expect("memory");
        writer
            .frame(1, 5_000_000_123_000, &[1, 2, 3, 4, 5])
            .expect("memory");
        writer
            .frame(0, 6_000_000_000_000, &[6; 60])
            .expect("memory");
        let bytes = writer.finish().expect("memory");
        let frames = parse_capture(&bytes).expect("reads");
        assert_eq!(frames.len(), 2);
        let first = Captured {
            interface: 1,
            time_ns: 5_000_000_123,
            bytes: vec![1, 2, 3, 4, 5],
            wire_bytes: 5,
        };
        assert_eq!(frames[0], first);
        assert_eq!((frames[1].interface, frames[1].time_ns), (0, 6_000_000_000));
    }

    #[test]
    fn classic_capture_of_either_byte_order_is_read() {
        for is_big in [false, true] {
            let number = |value: u32| {
                if is_big {
                    value.to_be_bytes()
                } else {
                    value.to_le_bytes()
                }
            };
            let mut file = Vec::new();
            for value in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65535, 1, 3, 7, 4, 90] {
                file.extend(number(value));
            }
            file.extend([9, 8, 7, 6]);
            let frames = parse_capture(&file).expect("reads");
            assert_eq!(frames.len(), 1);
            assert_eq!(frames[0].time_ns, 3_000_007_000);
            assert_eq!(
                (&frames[0].bytes[..], frames[0].wire_bytes),
                (&[9, 8, 7, 6][..], 90)
            );
        }
    }

    #[test]
    fn microseconds_are_the_default_of_pcapng() {
        let mut writer = CaptureWriter {
            out: Vec::new(),
            interfaces: 1,
        };
        let mut header = BYTE_ORDER.to_le_bytes().to_vec();
        header.extend([1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
        writer.block(SECTION_HEADER, &header).expect("memory");
        writer
            .block(INTERFACE, &[1, 0, 0, 0, 0, 0, 0, 0])
            .expect("memory");
        writer.frame(0, 5_000, &[0; 4]).expect("memory");
        let frames = parse_capture(&writer.out).expect("reads");
        assert_eq!(frames[0].time_ns, 5_000);
    }

    #[test]
    fn broken_files_are_refused() {
        assert!(matches!(
            parse_capture(&[0; 8]),
            Err(CaptureError::Magic(0))
        ));
        assert!(matches!(parse_capture(&[1]), Err(CaptureError::Broken(0))));
        let mut writer = CaptureWriter::new(Vec::new(), &["x"]).expect("memory");
        writer.frame(0, 0, &[0; 60]).expect("memory");
        let whole = writer.finish().expect("memory");
        for length in 1..whole.len() {
            let _ = parse_capture(&whole[..length]);
        }
        assert!(matches!(
            parse_capture(&whole[..whole.len() - 8]),
            Err(CaptureError::Broken(_))
        ));
    }
}
