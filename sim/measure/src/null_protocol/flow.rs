//! What the null protocol knows of one connection.

use std::net::SocketAddrV4;

use host::prefetch::LINE_BYTES;

use super::header::{tcp_header, HEADER_BYTES, TCP, WINDOW_SCALE};

/// Most bytes that one ACK acknowledges.
pub const ACK_BYTES_MAX: u32 = 64 << 10;
/// First byte of every stream, less one.
pub(super) const SEQUENCE: u32 = 0x1000_0000;
const LINK_ADDRESSES: [u8; 12] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];

/// Sequence numbers, all modulo 2^32. It fills two lines of 64 bytes: with many flows in turn, time
/// goes where lines are fetched.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Flow {
    /// From here to the peer, with both addresses.
    pub header: [u8; HEADER_BYTES],
    /// Next byte to send, end of what was offered, window of the peer up to.
    pub sequence: u32,
    pub offered: u32,
    pub edge: u32,
    /// Next byte expected, and bytes of the stream before it.
    pub expected: u32,
    pub accepted: u64,
    /// Memory up to, and the right edge that the peer knows.
    pub granted: u64,
    pub window_to: u64,
    pub unacknowledged_bytes: u32,
    pub unacknowledged_segments: u32,
    pub is_acking: bool,
    pub is_sending: bool,
    /// Bytes of the stream that the peer has acknowledged, and the number that said so.
    pub acknowledged: u64,
    pub acknowledged_number: u32,
}

const _: () = assert!(size_of::<Option<Flow>>() == 2 * LINE_BYTES);

impl Flow {
    /// A connection whose SYN is sent next.
    pub fn new(local: SocketAddrV4, remote: SocketAddrV4) -> Self {
        let first = SEQUENCE.wrapping_add(1);
        Self {
            header: tcp_header(LINK_ADDRESSES, local, remote),
            sequence: first,
            offered: first,
            edge: first,
            expected: 0,
            accepted: 0,
            granted: 0,
            window_to: 0,
            unacknowledged_bytes: 0,
            unacknowledged_segments: 0,
            is_acking: false,
            is_sending: false,
            acknowledged: 0,
            acknowledged_number: first,
        }
    }

    /// Whether it may send payload.
    pub fn has_work(&self) -> bool {
        self.sequence != self.offered && self.sequence != self.edge
    }

    /// Sets the window of the next header, which acknowledges up to `number`: to what is granted,
    /// never further left than before.
    pub fn set_window(&mut self, number: u32) {
        let acknowledged = self.accepted - u64::from(self.expected.wrapping_sub(number));
        let window = self.granted.max(self.window_to) - acknowledged;
        let field = (window >> WINDOW_SCALE).min(u16::MAX.into()) as u16;
        let edge = acknowledged + (u64::from(field) << WINDOW_SCALE);
        self.window_to = self.window_to.max(edge);
        self.header[TCP + 14..TCP + 16].copy_from_slice(&field.to_be_bytes());
    }

    /// Whether the peer may send much more than it knows: half of what is granted, or as much as an
    /// ACK acknowledges.
    pub fn has_wider_window(&self) -> bool {
        let more = self.granted.saturating_sub(self.window_to);
        let half = (self.granted - self.accepted.min(self.granted)) / 2;
        more > 0 && more >= half.min(ACK_BYTES_MAX.into())
    }
}
