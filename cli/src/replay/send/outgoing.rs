//! A TCP packet of a flow, and the frames that the card has to make of it.
//!
//! ```text
//!   packet ─ floor, largest payload of a frame ─► | header | payload | header | payload | ...
//! ```
//! The rules are those of `docs/specification.md`, Segmentation, written a second time: the card is
//! compared with these frames.

use abi::config::{FRAME_BYTES_MAX, FRAME_BYTES_MIN, FRAME_PAYLOAD_BYTES_MAX};
use host::transport::header::{ones_sum, tcp_checksum, TcpLayout, TCP_CHECKSUM_OFFSET};

use super::super::packet::Packet;
use super::super::plan::FlowPlan;
use super::super::traffic::Numbered;

/// TCP flags that only the last frame of a packet has.
pub const FIN_PSH: u8 = 0x09;
/// The TCP flag that only its first frame has.
pub const CWR: u8 = 0x80;
/// Offset of the flags in a TCP header.
pub const FLAGS_OFFSET: usize = 13;
/// TCP header without options, bytes.
const TCP_BYTES: usize = 20;
/// Largest TCP payload without options in an IP packet of 1,500 bytes, by version of IP.
const MSS_USUAL: [usize; 2] = [1_460, 1_440];

/// A TCP packet of a flow, with payload.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// Index of the flow.
    pub flow: usize,
    /// What it says.
    pub packet: Packet,
    /// Its frame.
    pub frame: Numbered,
    /// Position of its first byte; below 0 if it lies before the first byte of the stream.
    pub position: i64,
    /// Payload bytes that lie below the flow's floor, which the card leaves out.
    pub below_floor: usize,
    /// Most payload of a frame.
    pub mss: usize,
}

impl Outgoing {
    /// Takes a packet of a flow apart. Positions have more bits than sequence numbers, so a
    /// packet's is the one closest to the flow's floor. `base` is the sequence number of position
    /// 0, `syn_mss` what the other side allows.
    pub fn new(
        (flow, plan): (usize, &FlowPlan),
        (frame, packet): (&Numbered, Packet),
        base: u32,
        syn_mss: Option<u16>,
    ) -> Self {
        let floor_sequence = base.wrapping_add(plan.floor as u32);
        let distance = packet.sequence().wrapping_sub(floor_sequence) as i32;
        let below_floor = 0.max(-i64::from(distance)) as usize;
        Self {
            flow,
            frame: frame.clone(),
            position: plan.floor as i64 + i64::from(distance),
            below_floor: below_floor.min(packet.payload.len()),
            mss: mss(plan, &packet, syn_mss),
            packet,
        }
    }

    /// Its payload.
    pub fn payload(&self) -> &[u8] {
        &self.frame.bytes[self.packet.payload.clone()]
    }

    /// Its headers.
    pub fn header(&self) -> &[u8] {
        &self.frame.bytes[..self.packet.header_bytes]
    }

    /// Whether the card makes exactly one frame of it, with all of its payload.
    pub fn is_one_frame(&self) -> bool {
        self.below_floor == 0 && self.packet.payload.len() <= self.mss
    }

    /// The frames that the card has to send.
    pub fn frames(&self) -> Vec<Numbered> {
        let payload = &self.payload()[self.below_floor..];
        let count = payload.len().div_ceil(self.mss);
        let chunks = payload.chunks(self.mss).enumerate();
        let frames = chunks.map(|(number, chunk)| {
            let at = self.below_floor + number * self.mss;
            let mut bytes = [self.header(), chunk].concat();
            self.adjust(&mut bytes, number, at as u32);
            let flags = self.packet.header.l4_offset + FLAGS_OFFSET;
            if number + 1 < count {
                bytes[flags] &= !FIN_PSH;
            }
            if number > 0 {
                bytes[flags] &= !CWR;
            }
            complete_checksums(&mut bytes);
            bytes.resize(bytes.len().max(FRAME_BYTES_MIN), 0);
            Numbered {
                number: self.frame.number,
                bytes,
            }
        });
        frames.collect()
    }

    /// Gives a frame its own lengths, identification and sequence number.
    fn adjust(&self, frame: &mut [u8], number: usize, at: u32) {
        let header = &self.packet.header;
        let (l3, l4) = (header.l3_offset, header.l4_offset);
        let bytes = frame.len();
        let mut put = |at: usize, value: usize| {
            frame[at..at + 2].copy_from_slice(&(value as u16).to_be_bytes());
        };
        if header.ipv6 {
            put(l3 + 4, bytes - l3 - 40);
        } else {
            let own = self.header();
            let id = u16::from_be_bytes([own[l3 + 4], own[l3 + 5]]);
            put(l3 + 2, bytes - l3);
            put(l3 + 4, usize::from(id.wrapping_add(number as u16)));
        }
        let sequence = header.sequence.wrapping_add(at);
        frame[l4 + 4..l4 + 8].copy_from_slice(&sequence.to_be_bytes());
    }
}

/// Most payload of a frame of a packet.
fn mss(plan: &FlowPlan, packet: &Packet, syn_mss: Option<u16>) -> usize {
    let options = packet.header_bytes - packet.header.l4_offset - TCP_BYTES;
    let room = FRAME_BYTES_MAX.saturating_sub(packet.header_bytes);
    let room = room.clamp(1, FRAME_PAYLOAD_BYTES_MAX);
    // The option of a SYN counts no options (RFC 6691).
    let without_options = |mss: usize| mss.saturating_sub(options);
    let own = plan.mss_bytes.map(usize::from);
    let wanted = own.or_else(|| syn_mss.map(|mss| without_options(mss.into())));
    let payload = packet.payload.len();
    let wanted = wanted.unwrap_or_else(|| match payload <= room {
        true => payload,
        false => without_options(MSS_USUAL[usize::from(packet.header.ipv6)]),
    });
    wanted.clamp(1, room)
}

/// Corrects the checksums of a frame that ends with its payload, or behind it with zeros; true if
/// one was wrong.
pub fn complete_checksums(frame: &mut [u8]) -> bool {
    let Ok(layout) = TcpLayout::parse(frame) else {
        return false;
    };
    let before = frame.to_vec();
    if !layout.ipv6 {
        frame[layout.network + 10..layout.network + 12].fill(0);
        let checksum = !ones_sum(&frame[layout.network..layout.segment], 0);
        frame[layout.network + 10..layout.network + 12].copy_from_slice(&checksum.to_be_bytes());
    }
    let at = layout.segment + TCP_CHECKSUM_OFFSET;
    frame[at..at + 2].fill(0);
    let checksum = tcp_checksum(frame, &layout);
    frame[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
    before != *frame
}
