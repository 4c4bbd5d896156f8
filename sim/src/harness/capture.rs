//! Reads captures: pcapng and classic pcap of any byte order, packed or not, whole or cut.
//!
//! ```text
//!   file ─ unpack ─► blocks, records ─ link ─► Ethernet frames, with their numbers
//!                                      └─────► what is none, with its number and the reason
//! ```
//!
//! Invariants
//! 1. Every packet of the file is a frame or skipped. Numbers are those that Wireshark shows.
//! 2. What is read of a cut or damaged file is what lies before the damage; a note says so.
//! 3. Frames are whole: one that the capture holds in part is skipped.
//!
//! Source: draft-ietf-opsawg-pcapng, sections 3 and 4; draft-ietf-opsawg-pcap.

use std::collections::BTreeMap;
use std::path::Path;

use pcap_parser::pcapng::{
    parse_block_be, parse_block_le, Block, InterfaceDescriptionBlock, PcapNGOption,
};
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{
    nom, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header,
    PcapHeader,
};

pub use super::capture_error::CaptureError;
use super::link::ethernet;
use super::unpack::unpack;

// Types of blocks.
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
const JOURNAL: u32 = 9;
const CUSTOM: [u32; 2] = [0x0bad, 0x4000_0bad];

const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// Least bytes of a block: its type, and its length at both ends.
const BLOCK_BYTES_MIN: usize = 12;
const OPTION_FLAGS: u16 = 2;
const OPTION_FCS: u16 = 13;
const MICROSECONDS: u64 = 1_000_000;
const NANOSECONDS: u64 = 1_000_000_000;

/// A captured frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Number in the file, from 1, as Wireshark shows it.
    pub number: usize,
    /// Index of the interface in its section.
    pub interface: u32,
    /// Time since the epoch of the clock of the file.
    pub time_ns: u64,
    /// The whole frame, without FCS, 14 bytes or more.
    pub bytes: Vec<u8>,
    /// Its Ethernet header was made, for a packet of another link; the addresses are 0.
    pub is_made: bool,
    /// The capturing host sent it (true) or received it, if the file says.
    pub is_sent: Option<bool>,
}

/// A frame of the file that is not to be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedFrame {
    /// Number in the file, from 1, as Wireshark shows it.
    pub number: usize,
    /// Why.
    pub reason: String,
}

/// The content of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// Frames in file order.
    pub frames: Vec<Captured>,
    /// Frames that are left out, in file order.
    pub skipped: Vec<SkippedFrame>,
    /// What else is to be said about the file, in whole sentences.
    pub notes: Vec<String>,
}

/// Reads a capture file.
pub fn read_capture(path: &Path) -> Result<Capture, CaptureError> {
    parse_capture(&std::fs::read(path)?)
}

/// Reads a capture.
pub fn parse_capture(bytes: &[u8]) -> Result<Capture, CaptureError> {
    let unpacked = unpack(bytes)?;
    let file = &unpacked.bytes[..];
    if file.is_empty() {
        return Err(unpacked.end.map_or(CaptureError::Empty, CaptureError::Damaged));
    }
    let first = file.first_chunk().ok_or(CaptureError::Short(file.len()))?;
    let mut reader = Reader::default();
    match u32::from_le_bytes(*first) {
        SECTION_HEADER => reader.blocks(file)?,
        magic => match parse_pcap_header(file) {
            Ok((records, header)) => reader.records(records, &header),
            Err(nom::Err::Incomplete(_)) => return Err(CaptureError::Short(file.len())),
            Err(_) => return Err(CaptureError::Magic(magic)),
        },
    }
    Ok(reader.finish(unpacked.end))
}

/// A packet as the file holds it.
struct Record<'a> {
    interface: u32,
    link: u32,
    time_ns: u64,
    bytes: &'a [u8],
    /// Its length on the wire; more than `bytes` if the capture cut it.
    wire_bytes: u32,
    fcs_bytes: usize,
    is_sent: Option<bool>,
}

/// A packet block of any kind.
struct PacketBlock<'a> {
    interface: u32,
    /// Time, in units of the interface.
    units: u64,
    bytes: &'a [u8],
    wire_bytes: u32,
    /// Bits 0 and 1: received or sent; bits 5 to 8: bytes of the FCS.
    flags: u32,
}

/// An interface of a section.
struct Interface {
    link: u32,
    units_per_second: u64,
    snap_bytes: usize,
    fcs_bytes: usize,
}

/// What holds for the blocks of a section.
#[derive(Default)]
struct Section {
    is_big: bool,
    interfaces: Vec<Interface>,
}

#[derive(Default)]
struct Reader {
    capture: Capture,
    number: usize,
    /// Frames whose header was made, by link type.
    made: BTreeMap<u32, usize>,
    /// Blocks of types that are not known.
    unknown: BTreeMap<u32, usize>,
}

impl Reader {
    /// Takes the next packet.
    fn take(&mut self, record: &Record) {
        let (held, whole) = (record.bytes.len(), record.wire_bytes as usize);
        if held < whole {
            let cure = "capture whole frames, as with `tcpdump -s 0`";
            return self.skip(format!("it was cut to {held} of {whole} bytes: {cure}"));
        }
        let bytes = &record.bytes[..held - record.fcs_bytes.min(held)];
        match ethernet(record.link, bytes) {
            Err(reason) => self.skip(reason),
            Ok(frame) => {
                self.number += 1;
                if frame.is_made {
                    *self.made.entry(record.link).or_default() += 1;
                }
                self.capture.frames.push(Captured {
                    number: self.number,
                    interface: record.interface,
                    time_ns: record.time_ns,
                    bytes: frame.bytes,
                    is_made: frame.is_made,
                    is_sent: record.is_sent.or(frame.is_sent),
                });
            }
        }
    }

    /// Leaves the next packet out.
    fn skip(&mut self, reason: String) {
        self.number += 1;
        let number = self.number;
        self.capture.skipped.push(SkippedFrame { number, reason });
    }

    fn note(&mut self, note: String) {
        self.capture.notes.push(note);
    }

    /// The file ends inside a packet.
    fn ends_inside(&mut self, have: usize) {
        self.skip(format!(
            "the file ends after {have} bytes of its record: its writer was stopped, or its \
             length is damaged"
        ));
        let number = self.number;
        self.note(format!("The file ends inside frame {number}."));
    }

    /// Whether the rest of a file is zero: a file system may leave that of what was not written.
    fn is_end_of_zeros(&mut self, rest: &[u8]) -> bool {
        let is_zero = rest.iter().all(|byte| *byte == 0);
        if is_zero {
            let bytes = rest.len();
            self.note(format!(
                "The file ends with {bytes} zero bytes, as after a crash of its host."
            ));
        }
        is_zero
    }

    /// Reads the records of classic pcap.
    fn records(&mut self, mut rest: &[u8], header: &PcapHeader) {
        let network = header.network.0 as u32;
        // Bit 26: the upper four bits are the words of an FCS.
        let fcs_words = if network >> 26 & 1 == 1 { network >> 28 } else { 0 };
        let units = if header.is_nanosecond_precision() { NANOSECONDS } else { MICROSECONDS };
        while !rest.is_empty() {
            if self.is_end_of_zeros(rest) {
                return;
            }
            let parsed = if header.is_modified_format() {
                parse_pcap_frame_modified(rest)
            } else if header.is_bigendian() {
                parse_pcap_frame_be(rest)
            } else {
                parse_pcap_frame(rest)
            };
            let Ok((after, record)) = parsed else { return self.ends_inside(rest.len()) };
            let fraction = u64::from(record.ts_usec) * (NANOSECONDS / units);
            self.take(&Record {
                interface: 0,
                link: network & 0xffff,
                time_ns: u64::from(record.ts_sec) * NANOSECONDS + fraction,
                bytes: record.data,
                wire_bytes: record.origlen,
                fcs_bytes: 2 * fcs_words as usize,
                is_sent: None,
            });
            rest = after;
        }
    }

    /// Reads the blocks of pcapng.
    fn blocks(&mut self, file: &[u8]) -> Result<(), CaptureError> {
        let mut section = Section::default();
        let mut at = 0;
        while at < file.len() {
            let rest = &file[at..];
            if self.is_end_of_zeros(rest) {
                break;
            }
            let head = section.head(rest);
            match head {
                Some((kind, bytes)) if (BLOCK_BYTES_MIN..=rest.len()).contains(&bytes) => {
                    self.block(kind, &rest[..bytes], at, &mut section);
                    at += bytes;
                }
                Some((_, bytes)) if at == 0 && bytes > rest.len() => {
                    return Err(CaptureError::Short(rest.len()));
                }
                None if at == 0 && rest.len() < BLOCK_BYTES_MIN => {
                    return Err(CaptureError::Short(rest.len()));
                }
                _ if at == 0 => return Err(CaptureError::Broken(0)),
                Some((kind, bytes)) if bytes > rest.len() && is_packet(kind) => {
                    self.ends_inside(rest.len());
                    break;
                }
                Some((_, bytes)) if bytes < BLOCK_BYTES_MIN => {
                    self.note(format!(
                        "The file is damaged at byte {at}: a block of {bytes} bytes. Nothing \
                         after it is read."
                    ));
                    break;
                }
                _ => {
                    self.note(format!("The file ends inside a block, at byte {at}."));
                    break;
                }
            }
        }
        Ok(())
    }

    /// Reads a block that lies in the file, at a byte.
    fn block(&mut self, kind: u32, bytes: &[u8], at: usize, section: &mut Section) {
        let parsed = if section.is_big { parse_block_be(bytes) } else { parse_block_le(bytes) };
        let block = parsed.ok().map(|(_, block)| block);
        match (kind, block) {
            (SECTION_HEADER, _) => section.interfaces.clear(),
            (INTERFACE, block) => section.describe(block, bytes),
            (ENHANCED_PACKET, Some(Block::EnhancedPacket(packet))) => {
                let block = PacketBlock {
                    interface: packet.if_id,
                    units: u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low),
                    bytes: packet.packet_data(),
                    wire_bytes: packet.origlen,
                    flags: section.flags(&packet.options),
                };
                self.packet(section, &block);
            }
            (SIMPLE_PACKET, Some(Block::SimplePacket(packet))) => {
                let snap = section.interfaces.first().map_or(0, |it| it.snap_bytes);
                let snap = if snap == 0 { usize::MAX } else { snap };
                let held = snap.min(packet.origlen as usize);
                let block = PacketBlock {
                    interface: 0,
                    units: 0,
                    bytes: &packet.data[..held.min(packet.data.len())],
                    wire_bytes: packet.origlen,
                    flags: 0,
                };
                self.packet(section, &block);
            }
            (OBSOLETE_PACKET, Some(Block::Unknown(block))) => match section.obsolete(block.data) {
                Some(block) => self.packet(section, &block),
                None => self.skip(format!("its block at byte {at} is damaged")),
            },
            (JOURNAL, _) => self.skip("a journal entry, not a packet".to_owned()),
            _ if CUSTOM.contains(&kind) => self.skip("a custom block, not a packet".to_owned()),
            (_, None) if is_packet(kind) => {
                self.skip(format!("its block at byte {at} is damaged"));
            }
            (_, None) => self.note(format!("A block of type {kind:#x} at byte {at} is damaged.")),
            (_, Some(Block::Unknown(_))) => *self.unknown.entry(kind).or_default() += 1,
            _ => {}
        }
    }

    /// Takes a packet of an interface.
    fn packet(&mut self, section: &Section, block: &PacketBlock) {
        let index = block.interface;
        let Some(interface) = section.interfaces.get(index as usize) else {
            return self.skip(format!("its interface {index} is not described before it"));
        };
        let time = u128::from(block.units) * u128::from(NANOSECONDS);
        self.take(&Record {
            interface: index,
            link: interface.link,
            time_ns: (time / u128::from(interface.units_per_second.max(1))) as u64,
            bytes: block.bytes,
            wire_bytes: block.wire_bytes,
            fcs_bytes: match block.flags >> 5 & 0xf {
                0 => interface.fcs_bytes,
                bytes => bytes as usize,
            },
            is_sent: match block.flags & 3 {
                1 => Some(false),
                2 => Some(true),
                _ => None,
            },
        });
    }

    fn finish(mut self, end: Option<String>) -> Capture {
        for (link, count) in std::mem::take(&mut self.made) {
            self.note(format!("Packets of link type {link} that got an Ethernet header: {count}."));
        }
        for (kind, count) in std::mem::take(&mut self.unknown) {
            self.note(format!("Blocks of unknown type {kind:#x}, passed over: {count}."));
        }
        if let Some(why) = end {
            self.note(format!("Not all of the file is there: {why}."));
        }
        self.capture
    }
}

/// Whether a block holds a packet.
fn is_packet(kind: u32) -> bool {
    matches!(kind, OBSOLETE_PACKET | SIMPLE_PACKET | ENHANCED_PACKET)
}

impl Section {
    fn word(&self, bytes: &[u8], at: usize) -> Option<u32> {
        let raw = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(match self.is_big {
            true => u32::from_be_bytes(raw),
            false => u32::from_le_bytes(raw),
        })
    }

    fn half(&self, bytes: &[u8], at: usize) -> Option<u16> {
        let raw = bytes.get(at..at + 2)?.try_into().ok()?;
        Some(match self.is_big {
            true => u16::from_be_bytes(raw),
            false => u16::from_le_bytes(raw),
        })
    }

    /// Type and length of the block at the start of `rest`. A section header sets the byte order.
    fn head(&mut self, rest: &[u8]) -> Option<(u32, usize)> {
        let kind = self.word(rest, 0)?;
        if kind == SECTION_HEADER {
            let order = u32::from_be_bytes(*rest.get(8..)?.first_chunk()?);
            self.is_big = match order {
                BYTE_ORDER => true,
                _ if order.swap_bytes() == BYTE_ORDER => false,
                _ => return None,
            };
        }
        Some((kind, self.word(rest, 4)? as usize))
    }

    /// Adds an interface. One whose options are damaged has its number all the same.
    fn describe(&mut self, block: Option<Block>, bytes: &[u8]) {
        let described = match &block {
            Some(Block::InterfaceDescription(block)) => Some(block),
            _ => None,
        };
        let units = described.and_then(InterfaceDescriptionBlock::ts_resolution);
        let options = described.map_or(&[][..], |block| &block.options);
        let fcs = option(options, OPTION_FCS).and_then(|value| value.first());
        self.interfaces.push(Interface {
            link: self.half(bytes, 8).map_or(u32::MAX, u32::from),
            units_per_second: units.unwrap_or(MICROSECONDS),
            snap_bytes: self.word(bytes, 12).unwrap_or(0) as usize,
            fcs_bytes: fcs.copied().map_or(0, usize::from),
        });
    }

    /// The flags of a packet: bits 0 and 1 its direction, 5 to 8 the bytes of its FCS.
    fn flags(&self, options: &[PcapNGOption]) -> u32 {
        let value = option(options, OPTION_FLAGS);
        value.and_then(|value| self.word(value, 0)).unwrap_or(0)
    }

    /// The body of an obsolete packet block.
    fn obsolete<'a>(&self, body: &'a [u8]) -> Option<PacketBlock<'a>> {
        let (high, low) = (self.word(body, 4)?, self.word(body, 8)?);
        let held = self.word(body, 12)? as usize;
        Some(PacketBlock {
            interface: self.half(body, 0)?.into(),
            units: u64::from(high) << 32 | u64::from(low),
            bytes: body.get(20..)?.get(..held)?,
            wire_bytes: self.word(body, 16)?,
            flags: 0,
        })
    }
}

/// The value of an option.
fn option<'a>(options: &'a [PcapNGOption], code: u16) -> Option<&'a [u8]> {
    let found = options.iter().find(|option| option.code.0 == code);
    found.map(PcapNGOption::value)
}
