//! A packet: its header, where its payload is from, and how long it is on the wire.

use tcp::segment::{Options, Segment};

/// Ethernet, IPv4 and TCP headers without options.
const HEADER_BYTES: u64 = 14 + 20 + 20;
/// Shortest Ethernet frame, without its checksum.
const FRAME_BYTES_MIN: u64 = 60;
/// Checksum, preamble and gap.
const AROUND_BYTES: u64 = 4 + 8 + 12;

/// A packet of a flow.
#[derive(Clone, Debug)]
pub struct Packet {
    /// Index of its flow.
    pub flow: u32,
    /// Whether it goes from the client to the server.
    pub is_to_server: bool,
    /// Its header.
    pub segment: Segment,
    /// Stream offset of its payload.
    pub offset: u64,
}

/// Bytes that the options of a header take, padded to whole words as `tcp::wire` pads them.
fn option_bytes(options: &Options) -> u64 {
    let timestamps = if options.timestamps.is_some() { 12 } else { 0 };
    let mss = if options.mss_bytes.is_some() { 4 } else { 0 };
    let scale = if options.window_scale.is_some() { 4 } else { 0 };
    let permitted = if options.is_sack_permitted { 4 } else { 0 };
    let blocks = options.sack.len() as u64;
    let sack = if blocks == 0 { 0 } else { 4 + 8 * blocks };
    mss + scale + permitted + timestamps + sack
}

impl Packet {
    /// Bytes on the wire, from preamble to gap.
    pub fn wire_bytes(&self) -> u64 {
        let header_bytes = HEADER_BYTES + option_bytes(&self.segment.options);
        let frame_bytes = header_bytes + u64::from(self.segment.payload_bytes);
        frame_bytes.max(FRAME_BYTES_MIN) + AROUND_BYTES
    }

    /// Size as an MSS is counted: the packet less the fixed IP and TCP headers (RFC 9293, 3.7.1).
    pub fn size_bytes(&self) -> u64 {
        option_bytes(&self.segment.options) + u64::from(self.segment.payload_bytes)
    }
}
