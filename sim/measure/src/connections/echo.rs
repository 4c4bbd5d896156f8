//! The far end of many connections: whole frames, every byte that comes goes back.
//!
//! ```text
//!   SYN ──► SYN-ACK        payload ──► the same payload, which acknowledges it
//! ```
//! No loss, no timers: what does not follow in order is counted and not answered.

use std::collections::{HashMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddrV4};

use golden::checksum::{fold, pseudo_header, sum};
use host::headers::layout::{ACK, SYN};

use crate::null_protocol::header::{set_numbers, syn, tcp_header, HEADER_BYTES};

/// First sequence number of every connection: positions wrap after 128 bytes.
const SEQUENCE: u32 = 0xffff_ff80;
const IP: usize = 14;
const TCP: usize = 34;
const TCP_PROTOCOL: u8 = 6;

/// One connection.
struct End {
    header: [u8; HEADER_BYTES],
    /// Next byte to send, and next byte expected.
    next: u32,
    expected: u32,
}

/// All of them. See the head of this file.
#[derive(Default)]
pub(super) struct Echo {
    ends: HashMap<[u8; 12], End>,
    frames: VecDeque<Vec<u8>>,
    /// Frames that did not follow in order, or are not of a connection.
    pub refused: u64,
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Sets the length and the checksums of a frame.
fn complete(frame: &mut [u8]) {
    let length = (frame.len() - IP) as u16;
    frame[IP + 2..IP + 4].copy_from_slice(&length.to_be_bytes());
    let ip = !fold(sum(&frame[IP..TCP]));
    frame[IP + 10..IP + 12].copy_from_slice(&ip.to_be_bytes());
    let segment = frame.len() - TCP;
    let pseudo = pseudo_header(&frame[IP + 12..TCP], TCP_PROTOCOL, segment);
    let tcp = !fold(pseudo + sum(&frame[TCP..]));
    frame[TCP + 16..TCP + 18].copy_from_slice(&tcp.to_be_bytes());
}

impl End {
    /// The far end of the connection that a SYN opens.
    fn new(frame: &[u8]) -> Self {
        let address = |at: usize, port: usize| {
            let ip = Ipv4Addr::from_bits(word(frame, at));
            SocketAddrV4::new(ip, half(frame, port))
        };
        let (host, own) = (address(IP + 12, TCP), address(IP + 16, TCP + 2));
        let mut links = [0; 12];
        links[..6].copy_from_slice(&frame[6..12]);
        links[6..].copy_from_slice(&frame[..6]);
        Self {
            header: tcp_header(links, own, host),
            next: SEQUENCE,
            expected: word(frame, TCP + 4).wrapping_add(1),
        }
    }
}

impl Echo {
    /// Takes a frame from the wire.
    pub fn take(&mut self, frame: &[u8]) {
        let is_tcp = frame.len() >= TCP + 20 && half(frame, 12) == 0x800;
        if !is_tcp || frame[IP] != 0x45 || frame[IP + 9] != TCP_PROTOCOL {
            self.refused += 1;
            return;
        }
        let mut name = [0; 12];
        name.copy_from_slice(&frame[IP + 12..TCP + 4]);
        if frame[TCP + 13] & SYN != 0 {
            let mut end = End::new(frame);
            let mut answer = syn(&end.header, SYN | ACK).to_vec();
            set_numbers(&mut answer, end.next, end.expected);
            end.next = end.next.wrapping_add(1);
            complete(&mut answer);
            self.frames.push_back(answer);
            self.ends.insert(name, end);
            return;
        }
        let from = TCP + usize::from(frame[TCP + 12] >> 4) * 4;
        let payload = frame.get(from..IP + usize::from(half(frame, IP + 2)));
        match (self.ends.get_mut(&name), payload) {
            (Some(_), Some([])) => {}
            (Some(end), Some(payload)) if word(frame, TCP + 4) == end.expected => {
                end.expected = end.expected.wrapping_add(payload.len() as u32);
                let mut answer = [&end.header[..], payload].concat();
                set_numbers(&mut answer, end.next, end.expected);
                end.next = end.next.wrapping_add(payload.len() as u32);
                complete(&mut answer);
                self.frames.push_back(answer);
            }
            _ => self.refused += 1,
        }
    }

    /// The next frame to the wire.
    pub fn next(&mut self) -> Option<Vec<u8>> {
        self.frames.pop_front()
    }
}
