//! Messages between the steps of `transport`.

use abi::config::PROFILE_BITS;
use stream::prelude::*;

use crate::messages::NetworkInfo;

/// An L4 header with its profile chosen.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct TransportDraft {
    /// 72 bytes from the L4 header on.
    pub bytes: Bits<576>,
    /// Contents of the headers before the L4 header.
    pub network: NetworkInfo,
    /// Profile that the destination port selects.
    pub profile: Bits<PROFILE_BITS>,
    /// Layout of that profile.
    pub layout: Bits<32>,
    /// Bytes of the TCP header.
    pub tcp_bytes: Bits<16>,
    /// Length field of the UDP header.
    pub udp_bytes: Bits<16>,
    /// Bytes after a UDP header by the IP length; bit 16 is set where not even the UDP header fits.
    pub udp_payload_bytes: Bits<17>,
}

/// A packet with its lengths known.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct LayoutDraft {
    /// 60 bytes from the L4 header on.
    pub bytes: Bits<480>,
    /// Contents of the headers before the L4 header.
    pub network: NetworkInfo,
    /// Profile of the packet.
    pub profile: Bits<PROFILE_BITS>,
    /// Layout of that profile.
    pub layout: Bits<32>,
    /// L4 lengths contradict each other.
    pub malformed: Bit,
    /// Bytes of L4 and profile header.
    pub l4_header_bytes: Bits<8>,
    /// 11 bytes that hold the position field.
    pub position_bytes: Bits<88>,
    /// 15 bytes that hold the message key.
    pub key_bytes: Bits<120>,
}
