//! Makes capture files of every kind, and the TCP packets in them.

use std::io::Write;
use std::path::Path;

use flate2::write::GzEncoder;
use flate2::Compression;
use ruzstd::encoding::{compress_to_vec, CompressionLevel};
use sim::harness::traffic::{Addresses, Layer4, PacketSpec};

pub const SYN: u8 = 0x02;
pub const PSH: u8 = 0x08;
pub const ACK: u8 = 0x10;

/// Link type of Ethernet in a capture.
pub const ETHERNET: u32 = 1;

/// The sockets of the card and of its peer, and their Ethernet addresses.
pub const CARD: ([u8; 4], u16) = ([10, 77, 0, 1], 5001);
pub const PEER: ([u8; 4], u16) = ([10, 77, 0, 2], 40_000);
pub const CARD_ETHERNET: [u8; 6] = [2, 0, 0, 0, 0, 1];
pub const PEER_ETHERNET: [u8; 6] = [2, 0, 0, 0, 0, 2];

/// A TCP segment between card and peer.
#[derive(Clone, Debug)]
pub struct Segment {
    pub from_card: bool,
    pub is_ipv6: bool,
    pub tags: Vec<u16>,
    pub sequence: u32,
    pub flags: u8,
    pub options: Vec<u8>,
    pub payload: Vec<u8>,
}

impl Segment {
    /// A segment to the card, or from it.
    pub fn new(from_card: bool, sequence: u32, flags: u8, payload: &[u8]) -> Self {
        Self {
            from_card,
            is_ipv6: false,
            tags: Vec::new(),
            sequence,
            flags,
            options: Vec::new(),
            payload: payload.to_vec(),
        }
    }

    /// Its frame, without padding, as the sending host captures it.
    pub fn frame(&self) -> Vec<u8> {
        let (from, to) = if self.from_card { (CARD, PEER) } else { (PEER, CARD) };
        let six = |socket: ([u8; 4], u16)| {
            let mut address = [0; 16];
            address[0] = 0xfd;
            address[12..].copy_from_slice(&socket.0);
            address
        };
        let spec = PacketSpec {
            tags: self.tags.clone(),
            addresses: match self.is_ipv6 {
                true => Addresses::V6(six(from), six(to)),
                false => Addresses::V4(from.0, to.0),
            },
            ip_options: Vec::new(),
            ports: (from.1, to.1),
            layer4: Layer4::Tcp {
                sequence: self.sequence,
                acknowledgement: 1,
                flags: self.flags,
                options: self.options.clone(),
            },
            payload: self.payload.clone(),
        };
        let mut frame = spec.frame(0);
        let ip = if self.is_ipv6 { 40 } else { 20 };
        let layers = 14 + 4 * self.tags.len() + ip + 20;
        frame.truncate(layers + self.options.len() + self.payload.len());
        if self.from_card {
            frame[..6].copy_from_slice(&PEER_ETHERNET);
            frame[6..12].copy_from_slice(&CARD_ETHERNET);
        }
        frame
    }
}

/// Bytes that differ from one to the next.
pub fn bytes(count: usize, start: usize) -> Vec<u8> {
    (start..start + count).map(|at| (at * 13 + 7 + at / 256) as u8).collect()
}

/// A SYN and two segments of 200 and 300 bytes to the card.
pub fn three_frames() -> Vec<Vec<u8>> {
    [
        Segment::new(false, 999, SYN, &[]),
        Segment::new(false, 1000, ACK, &bytes(200, 0)),
        Segment::new(false, 1200, ACK, &bytes(300, 200)),
    ]
    .iter()
    .map(Segment::frame)
    .collect()
}

/// Byte order, and time unit, of a file.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub is_big: bool,
    pub is_nanoseconds: bool,
}

/// Little-endian, microseconds.
pub const USUAL: Layout = Layout { is_big: false, is_nanoseconds: false };

impl Layout {
    fn half(self, value: u16) -> [u8; 2] {
        match self.is_big {
            true => value.to_be_bytes(),
            false => value.to_le_bytes(),
        }
    }

    pub fn word(self, value: u32) -> [u8; 4] {
        match self.is_big {
            true => value.to_be_bytes(),
            false => value.to_le_bytes(),
        }
    }

    fn words(self, values: &[u32]) -> Vec<u8> {
        values.iter().flat_map(|&value| self.word(value)).collect()
    }

    /// The header of a classic file.
    pub fn pcap_header(self, link: u32) -> Vec<u8> {
        let magic = if self.is_nanoseconds { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
        let version = [self.half(2), self.half(4)].concat();
        [&self.word(magic)[..], &version, &self.words(&[0, 0, 262_144, link])].concat()
    }

    /// A record of a classic file; `wire_bytes` may be more than there are.
    pub fn record(self, frame: &[u8], wire_bytes: usize) -> Vec<u8> {
        let head = self.words(&[5, 7, frame.len() as u32, wire_bytes as u32]);
        [&head[..], frame].concat()
    }

    /// A classic file.
    pub fn pcap(self, link: u32, frames: &[Vec<u8>]) -> Vec<u8> {
        let mut file = self.pcap_header(link);
        for frame in frames {
            file.extend(self.record(frame, frame.len()));
        }
        file
    }

    /// A block of pcapng.
    pub fn block(self, kind: u32, body: &[u8]) -> Vec<u8> {
        let padded = body.len().next_multiple_of(4);
        let length = self.word(padded as u32 + 12);
        let mut block = [&self.word(kind)[..], &length, body].concat();
        block.resize(8 + padded, 0);
        block.extend(length);
        block
    }

    pub fn section(self) -> Vec<u8> {
        let version = [self.half(1), self.half(0)].concat();
        let body = [&self.word(0x1a2b_3c4d)[..], &version, &[0xff; 8]].concat();
        self.block(0x0a0d_0d0a, &body)
    }

    /// A description of an interface.
    pub fn interface(self, link: u16, snap_bytes: u32) -> Vec<u8> {
        let mut body = [&self.half(link)[..], &[0, 0], &self.word(snap_bytes)].concat();
        if self.is_nanoseconds {
            body.extend([&self.half(9)[..], &self.half(1), &[9, 0, 0, 0], &[0; 4]].concat());
        }
        self.block(1, &body)
    }

    /// An enhanced packet block.
    pub fn enhanced(self, interface: u32, frame: &[u8], wire_bytes: usize) -> Vec<u8> {
        let held = frame.len() as u32;
        let head = self.words(&[interface, 0, 7, held, wire_bytes as u32]);
        self.block(6, &[&head[..], frame].concat())
    }

    /// A simple packet block.
    pub fn simple(self, frame: &[u8], wire_bytes: usize) -> Vec<u8> {
        self.block(3, &[&self.word(wire_bytes as u32)[..], frame].concat())
    }

    /// An obsolete packet block.
    pub fn obsolete(self, interface: u16, frame: &[u8], wire_bytes: usize) -> Vec<u8> {
        let held = frame.len() as u32;
        let rest = self.words(&[0, 7, held, wire_bytes as u32]);
        let head = [&self.half(interface)[..], &[0, 0], &rest].concat();
        self.block(2, &[&head[..], frame].concat())
    }

    /// A file of pcapng with one interface, its packets in turn in all three kinds of blocks.
    pub fn pcapng(self, link: u16, frames: &[Vec<u8>]) -> Vec<u8> {
        let mut file = [self.section(), self.interface(link, 0)].concat();
        for (number, frame) in frames.iter().enumerate() {
            let bytes = frame.len();
            file.extend(match number % 3 {
                0 => self.enhanced(0, frame, bytes),
                1 => self.obsolete(0, frame, bytes),
                _ => self.simple(frame, bytes),
            });
        }
        file
    }
}

/// Packs with gzip.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// Packs with zstd.
pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// Writes a file of a test.
pub fn write(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).expect("a file");
    path.to_str().expect("a path").to_owned()
}

fn layouts() -> Vec<Layout> {
    let both = [false, true];
    let of = |is_big| both.map(|is_nanoseconds| Layout { is_big, is_nanoseconds });
    both.map(of).concat()
}

/// The three frames in every kind of file.
pub fn every_kind() -> Vec<(String, Vec<u8>)> {
    let frames = three_frames();
    let mut files = Vec::new();
    for layout in layouts() {
        files.push((format!("pcap {layout:?}"), layout.pcap(ETHERNET, &frames)));
        files.push((format!("pcapng {layout:?}"), layout.pcapng(1, &frames)));
    }
    // Linux once had records with eight bytes more.
    let mut modified = USUAL.pcap_header(ETHERNET);
    modified[..4].copy_from_slice(&0xa1b2_cd34_u32.to_le_bytes());
    for frame in &frames {
        let mut record = USUAL.record(frame, frame.len());
        record.splice(16..16, [0; 8]);
        modified.extend(record);
    }
    files.push(("modified pcap".to_owned(), modified));
    let plain = files.clone();
    for (name, file) in plain {
        files.push((format!("{name}, gzip"), gzip(&file)));
        files.push((format!("{name}, zstd"), zstd(&file)));
    }
    files
}
