//! A run: packets of one TCP connection that followed each other, summed up by the card in the
//! header of the first and in what the last says.
//!
//! ```text
//!   header of the first ─┬─ packets 0..1 ──► as received
//!   Run of the rest ─────┼─ packets k..k+1 ► position, lengths; the last: ACK, window, timestamps
//!                        └─ packets 0..n ──► one header for all, as segmentation offload has it
//! ```
//! Invariants
//! 1. What the card does not say is taken from the first packet: time to live, IPv4 identification,
//!    and of the packets in between ACK number, window and timestamps.
//! 2. A header for several packets has the ACK number, the window and the echoed timestamp of its
//!    last, and the timestamp of its first: the one that may be too old, and that is echoed to the
//!    sender (RFC 7323, 4.3).
//!
//! Source: docs/specification.md, Runs.

use std::ops::Range;

use arrayvec::ArrayVec;

use super::error::{HeaderError, Result};
use super::layout::{ones_sum, TcpLayout, HEADER_BYTES_MAX};
use super::packet::TcpHeader;

/// TCP flag PSH.
const PSH: u8 = 0x08;
const TIMESTAMPS_KIND: u8 = 8;
/// Most bytes of an IPv4 packet, and of the payload of an IPv6 packet.
const IP_BYTES_MAX: usize = u16::MAX as usize;

/// The packets of a run, beyond what the header of the first says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Packets, two at least.
    pub packets: u32,
    /// Payload of every packet but the last, bytes.
    pub segment_bytes: u32,
    /// Payload of the last, bytes: from 1 to `segment_bytes`.
    pub last_bytes: u32,
    /// ACK number of the last.
    pub acknowledgement: u32,
    /// Window field of the last, unscaled.
    pub window: u16,
    /// Timestamps of the last, value and echo, where the first has them.
    pub timestamps: Option<(u32, u32)>,
    /// Whether the last has PSH. No other has.
    pub is_pushed: bool,
}

/// A header of some packets of a run.
pub type RunHeader = ArrayVec<u8, HEADER_BYTES_MAX>;

impl Run {
    /// Payload of some of its packets, counted from 0.
    pub fn payload_bytes(&self, packets: Range<u32>) -> u32 {
        let less =
            if packets.end == self.packets { self.segment_bytes - self.last_bytes } else { 0 };
        (packets.end - packets.start) * self.segment_bytes - less
    }

    /// What a reader of the header of its last packet finds, from that of its first.
    pub fn last(&self, first: &TcpHeader) -> TcpHeader {
        TcpHeader {
            sequence: first.sequence.wrapping_add((self.packets - 1) * self.segment_bytes),
            acknowledgement: self.acknowledgement,
            flags: if self.is_pushed { first.flags | PSH } else { first.flags },
            window: self.window,
            timestamp: self.timestamps,
            ..*first
        }
    }

    /// Most packets that one IP packet can be for, one at least: its lengths have 16 bits.
    pub fn packets_max(&self, layout: &TcpLayout) -> u32 {
        let before = if layout.ipv6 { layout.network + 40 } else { layout.network };
        let room = IP_BYTES_MAX.saturating_sub(layout.payload - before);
        (room as u32 / self.segment_bytes).max(1)
    }

    /// Writes the header of some of its packets, counted from 0, as if they were one, from that of
    /// the first. The TCP checksum stays as it was and is that of nothing.
    pub fn header(&self, first: &[u8], packets: Range<u32>) -> Result<RunHeader> {
        let layout = TcpLayout::parse(first)?;
        let too_long = HeaderError::Truncated { bytes: first.len(), layer: "TCP" };
        let mut bytes = RunHeader::new();
        bytes.try_extend_from_slice(&first[..layout.payload]).map_err(|_| too_long)?;
        let payload_bytes = self.payload_bytes(packets.clone()) as usize;
        set_ip_length(&mut bytes, &layout, payload_bytes);
        let tcp = &mut bytes[layout.segment..];
        let skipped = packets.start * self.segment_bytes;
        put32(tcp, 4, get32(tcp, 4).wrapping_add(skipped));
        if packets.end == self.packets {
            put32(tcp, 8, self.acknowledgement);
            tcp[13] |= if self.is_pushed { PSH } else { 0 };
            tcp[14..16].copy_from_slice(&self.window.to_be_bytes());
            if let (Some((value, echo)), Some(at)) = (self.timestamps, timestamps_at(tcp)) {
                if packets.len() == 1 {
                    put32(tcp, at, value);
                }
                put32(tcp, at + 4, echo);
            }
        }
        Ok(bytes)
    }
}

fn get32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn put32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

/// Where the timestamps are in a TCP header, if they are its only option, as the card asks of a
/// run.
fn timestamps_at(tcp: &[u8]) -> Option<usize> {
    (tcp.get(20..24)? == [1, 1, TIMESTAMPS_KIND, 10] && tcp.len() == 32).then_some(24)
}

fn set_ip_length(bytes: &mut [u8], layout: &TcpLayout, payload_bytes: usize) {
    let ip = &mut bytes[layout.network..];
    if layout.ipv6 {
        let length = (layout.payload - layout.network - 40 + payload_bytes) as u16;
        ip[4..6].copy_from_slice(&length.to_be_bytes());
        return;
    }
    let length = (layout.payload - layout.network + payload_bytes) as u16;
    ip[2..4].copy_from_slice(&length.to_be_bytes());
    ip[10..12].fill(0);
    let sum = !ones_sum(&ip[..layout.segment - layout.network], 0);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::builder::{Route, Tcp};
    use crate::headers::layout::ACK;
    use crate::headers::packet::parse_tcp;

    const RUN: Run = Run {
        packets: 3,
        segment_bytes: 1000,
        last_bytes: 10,
        acknowledgement: 77,
        window: 5,
        timestamps: Some((12, 34)),
        is_pushed: true,
    };

    fn first(is_ipv6: bool) -> Vec<u8> {
        let addresses = match is_ipv6 {
            true => ["[fd00::1]:80", "[fd00::2]:81"],
            false => ["10.0.0.1:80", "10.0.0.2:81"],
        };
        let [from, to] = addresses.map(|it| it.parse().expect("an address"));
        let options = [1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 8];
        let tcp = Tcp {
            sequence: u32::MAX - 999,
            acknowledgement: 70,
            flags: ACK,
            window: 9,
            options: &options,
        };
        Route { macs: [[2; 6]; 2], from, to }.tcp(&tcp, 1000).0.to_vec()
    }

    /// Each packet alone, and all as one, have the lengths and numbers that the run says.
    #[test]
    fn headers_say_what_run_says() {
        for is_ipv6 in [false, true] {
            let first = first(is_ipv6);
            for (packets, bytes, sequence, ack, value, echo, flags) in [
                (0..1, 1000, u32::MAX - 999, 70, 9, 8, ACK),
                (1..2, 1000, 0, 70, 9, 8, ACK),
                (2..3, 10, 1000, 77, 12, 34, ACK | PSH),
                (1..3, 1010, 0, 77, 9, 34, ACK | PSH),
                (0..3, 2010, u32::MAX - 999, 77, 9, 34, ACK | PSH),
            ] {
                let header = RUN.header(&first, packets.clone()).expect("a header");
                let parsed = parse_tcp(&header).expect("TCP");
                TcpLayout::check(&header, bytes).expect("the IP length fits");
                let timestamp = Some((value, echo));
                assert_eq!((parsed.sequence, parsed.acknowledgement), (sequence, ack));
                assert_eq!((parsed.flags, parsed.timestamp), (flags, timestamp), "{packets:?}");
                assert_eq!(parsed.window, if ack == 77 { 5 } else { 9 });
                if packets == (2..3) {
                    assert_eq!(RUN.last(&parse_tcp(&first).expect("TCP")), parsed);
                }
                if !is_ipv6 {
                    assert_eq!(ones_sum(&header[14..34], 0), 0xffff, "{packets:?}");
                }
            }
        }
    }

    /// The lengths of IP have 16 bits: of IPv4 with its header, of IPv6 without.
    #[test]
    fn long_runs_need_several_headers() {
        let headers_bytes = |is_ipv6| if is_ipv6 { 32 } else { 52 };
        for is_ipv6 in [false, true] {
            let layout = TcpLayout::parse(&first(is_ipv6)).expect("TCP");
            let room = 65_535 - headers_bytes(is_ipv6);
            for segment_bytes in [1, 1448, 8948, room, room + 1] {
                let run = Run { segment_bytes, last_bytes: 1, ..RUN };
                let most = (room / segment_bytes).max(1);
                assert_eq!(run.packets_max(&layout), most, "{segment_bytes}");
            }
        }
    }
}
