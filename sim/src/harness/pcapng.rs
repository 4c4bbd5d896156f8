//! Writes captures: pcapng with nanoseconds. [`super::capture`] reads them.
//!
//! ```text
//!   frames of each port ──> section header, one interface a port, one packet block a frame
//! ```
//!
//! Invariants
//! 1. If a write is interrupted, a reader loses at most the last frame.
//! 2. Times are kept to the nanosecond.
//!
//! Source: draft-ietf-opsawg-pcapng, sections 3 and 4.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const LINK_ETHERNET: u16 = 1;
const OPTION_NAME: u16 = 2;
const OPTION_RESOLUTION: u16 = 9;

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
        let mut writer = CaptureWriter { out, interfaces: interfaces.len() as u32 };
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
        assert!(interface < self.interfaces, "interface {interface} of {}", self.interfaces);
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
