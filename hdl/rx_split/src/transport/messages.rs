//! A packet between the steps of `transport`.

use stream::prelude::*;

use crate::messages::NetworkInfo;

/// An L4 header with its profile chosen.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct TransportDraft {
    /// 72 bytes from the L4 header on.
    pub bytes: Bits<576>,
    /// The headers before it.
    pub network: NetworkInfo,
    /// Profile that the destination port selects.
    pub profile: Bits<2>,
    /// Layout of that profile.
    pub layout: Bits<32>,
    /// Bytes of the TCP header.
    pub tcp_bytes: Bits<16>,
    /// UDP length field.
    pub udp_bytes: Bits<16>,
    /// Bytes behind a UDP header; bit 16 is set where there is not even room for that.
    pub udp_room: Bits<17>,
}

/// A packet with its lengths known.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct LayoutDraft {
    /// 60 bytes from the L4 header on.
    pub bytes: Bits<480>,
    /// The headers before it.
    pub network: NetworkInfo,
    /// Profile of the packet.
    pub profile: Bits<2>,
    /// Layout of that profile.
    pub layout: Bits<32>,
    /// L4 lengths contradict each other.
    pub malformed: Bit,
    /// Bytes of L4 and profile header.
    pub l4_header_bytes: Bits<8>,
    /// Position field within 11 bytes.
    pub position_bytes: Bits<88>,
    /// Message key within 15 bytes.
    pub key_bytes: Bits<120>,
}
