//! Where the layers of a header begin, as the card is told.

use super::packet::TcpHeader;

/// Offsets and protocols of the layers of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layers {
    /// Offset of the IP header.
    pub l3_offset: usize,
    /// Offset of the transport header.
    pub l4_offset: usize,
    /// True for IPv6, false for IPv4.
    pub ipv6: bool,
    /// True for UDP, false for TCP.
    pub udp: bool,
}

impl From<&TcpHeader> for Layers {
    fn from(header: &TcpHeader) -> Self {
        Self {
            l3_offset: header.l3_offset,
            l4_offset: header.l4_offset,
            ipv6: header.ipv6,
            udp: false,
        }
    }
}
