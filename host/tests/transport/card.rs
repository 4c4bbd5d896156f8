//! A perfect card: splits what comes in, segments and merges what goes out, at once and without a
//! fault. Payload is found and placed by sequence number alone.

use std::collections::HashMap;

use host::headers::layout::{
    ones_sum, pseudo_header_sum, tcp_checksum, TcpLayout, TCP_CHECKSUM_OFFSET,
};
use host::transport::{FrameKind, TransmitHeader};

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;

/// One connection: local and remote port.
pub type Ports = (u16, u16);

/// Application memory of one connection.
#[derive(Default)]
pub struct Memory {
    /// What is to be sent.
    pub send: Vec<u8>,
    /// What was placed.
    pub received: Vec<u8>,
    /// Sequence number of the first byte sent.
    send_start: Option<u32>,
    /// Sequence number of the first byte received.
    receive_start: Option<u32>,
    /// Offset of the peer's FIN.
    fin: Option<usize>,
    /// What our side has shown of itself.
    pub ours: Shown,
    /// What the peer has shown of itself.
    pub theirs: Shown,
}

/// What the headers of one end show of its TCP.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    /// Sequence number behind the last byte sent.
    next: u32,
    /// The last window offered.
    window: Option<u16>,
    /// Probes of the other end's window while it was closed. Who probes has sent all that it may:
    /// its timer is the only thing left to it.
    pub probes: u32,
}

impl Shown {
    /// The other end offers no window.
    pub fn is_closed(&self) -> bool {
        self.window == Some(0)
    }

    /// Takes a header of this end, whose payload has `bytes`; `other` is what the other end shows.
    fn note(&mut self, tcp: &[u8], bytes: u32, other: &Shown) {
        let sequence = long(tcp, 4);
        let flags = tcp[13];
        // RFC 9293, 3.8.6.1: at most a byte, and no acknowledgement that comes for its own sake.
        let is_probe = bytes <= 1 && (bytes == 1 || sequence != self.next);
        if other.is_closed() && is_probe && flags & (SYN | FIN) == 0 {
            self.probes += 1;
        }
        let end = sequence.wrapping_add(bytes + u32::from(flags & SYN != 0));
        if flags & SYN != 0 || end.wrapping_sub(self.next) as i32 > 0 {
            self.next = end;
        }
        self.window = Some(word(tcp, 14));
    }
}

#[derive(Default)]
pub struct Card {
    pub memory: HashMap<Ports, Memory>,
}

impl Card {
    /// The first sequence number that our side has sent, of any connection.
    pub fn first_sequence(&self) -> Option<u32> {
        self.memory.values().find_map(|memory| memory.send_start)
    }

    /// Segments and merges: the frames on the wire for one header of the transport.
    pub fn transmit(&mut self, header: &TransmitHeader) -> Vec<Vec<u8>> {
        if header.kind == FrameKind::Whole {
            return vec![header.bytes.to_vec()];
        }
        let layout = TcpLayout::parse(&header.bytes).unwrap();
        assert_eq!(layout.payload, header.bytes.len(), "payload follows the header");
        assert_eq!(layout.payload_bytes, header.payload_bytes as usize);
        let tcp = &header.bytes[layout.segment..];
        match header.checksum {
            Some(wanted) => {
                assert_eq!(usize::from(wanted.start), layout.segment);
                assert_eq!(usize::from(wanted.offset), TCP_CHECKSUM_OFFSET);
                let sum = pseudo_header_sum(&header.bytes, &layout);
                assert_eq!(word(tcp, TCP_CHECKSUM_OFFSET), sum);
            }
            None => {
                assert_eq!(header.payload_bytes, 0, "nobody has seen the payload");
                assert_eq!(tcp_checksum(&header.bytes, &layout), 0);
            }
        }
        let ports = (word(tcp, 0), word(tcp, 2));
        let sequence = long(tcp, 4);
        let memory = self.memory.entry(ports).or_default();
        memory.ours.note(tcp, header.payload_bytes, &memory.theirs);
        if tcp[13] & SYN != 0 {
            memory.send_start = Some(sequence.wrapping_add(1));
        }
        let total = header.payload_bytes as usize;
        let step = match header.mss_bytes {
            0 => total.max(1),
            bytes => usize::from(bytes),
        };
        let mut frames = Vec::new();
        let mut at = 0;
        loop {
            let bytes = step.min(total - at);
            let position = |start| sequence.wrapping_add(at as u32).wrapping_sub(start) as usize;
            let payload = match (bytes, memory.send_start) {
                (0, _) => &[][..],
                (_, Some(start)) => &memory.send[position(start)..position(start) + bytes],
                (_, None) => panic!("payload before a SYN"),
            };
            let last = at + bytes == total;
            frames.push(segment(&header.bytes, &layout, at, payload, last));
            at += bytes;
            if last {
                return frames;
            }
        }
    }

    /// Splits: places the payload and returns the length of the header; `None` for what is not TCP.
    pub fn receive(&mut self, frame: &[u8]) -> Option<(usize, usize)> {
        let layout = TcpLayout::parse(frame).ok()?;
        assert_eq!(tcp_checksum(frame, &layout), 0, "the peer sent a wrong checksum");
        let tcp = &frame[layout.segment..];
        let memory = self.memory.entry((word(tcp, 2), word(tcp, 0))).or_default();
        memory.theirs.note(tcp, layout.payload_bytes as u32, &memory.ours);
        if tcp[13] & SYN != 0 {
            memory.receive_start = Some(long(tcp, 4).wrapping_add(1));
        }
        if let (Some(start), 1..) = (memory.receive_start, layout.payload_bytes) {
            let at = long(tcp, 4).wrapping_sub(start) as usize;
            let payload = &frame[layout.payload..layout.payload + layout.payload_bytes];
            let end = at + payload.len();
            assert!(end < 1 << 30, "payload far outside the stream");
            // A keep-alive has a byte of no meaning before the next one (RFC 9293, 3.8.4): the last
            // byte, which is there, or the place of the FIN.
            let is_there = at + 1 == memory.received.len() || memory.fin == Some(at);
            if payload.len() > 1 || !is_there {
                memory.received.resize(memory.received.len().max(end), 0);
                memory.received[at..end].copy_from_slice(payload);
            }
        }
        if let (Some(start), true) = (memory.receive_start, tcp[13] & FIN != 0) {
            let end = long(tcp, 4).wrapping_add(layout.payload_bytes as u32);
            memory.fin = Some(end.wrapping_sub(start) as usize);
        }
        Some((layout.payload, layout.payload_bytes))
    }
}

/// One frame of a segmented packet: the header adjusted, the payload, fresh checksums.
fn segment(header: &[u8], layout: &TcpLayout, at: usize, payload: &[u8], last: bool) -> Vec<u8> {
    let mut frame = header.to_vec();
    let network = layout.network;
    let tcp = layout.segment;
    if layout.ipv6 {
        let bytes = layout.payload - network - 40 + payload.len();
        frame[network + 4..network + 6].copy_from_slice(&(bytes as u16).to_be_bytes());
    } else {
        let bytes = layout.payload - network + payload.len();
        frame[network + 2..network + 4].copy_from_slice(&(bytes as u16).to_be_bytes());
        frame[network + 10..network + 12].fill(0);
        let sum = !ones_sum(&frame[network..tcp], 0);
        frame[network + 10..network + 12].copy_from_slice(&sum.to_be_bytes());
    }
    let sequence = long(header, tcp + 4).wrapping_add(at as u32);
    frame[tcp + 4..tcp + 8].copy_from_slice(&sequence.to_be_bytes());
    if !last {
        frame[tcp + 13] &= !(FIN | PSH);
    }
    if at > 0 {
        frame[tcp + 13] &= !CWR;
    }
    frame[tcp + TCP_CHECKSUM_OFFSET..tcp + TCP_CHECKSUM_OFFSET + 2].fill(0);
    frame.extend_from_slice(payload);
    let layout = TcpLayout::parse(&frame).unwrap();
    let sum = tcp_checksum(&frame, &layout).to_be_bytes();
    frame[tcp + TCP_CHECKSUM_OFFSET..tcp + TCP_CHECKSUM_OFFSET + 2].copy_from_slice(&sum);
    frame
}

/// Whether a frame ends its sender's half.
pub fn is_end(frame: &[u8]) -> bool {
    TcpLayout::parse(frame).is_ok_and(|layout| frame[layout.segment + 13] & FIN != 0)
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn long(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
