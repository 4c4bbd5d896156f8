//! Ethernet: what a frame takes of a wire.

/// Preamble and start delimiter, bytes (IEEE 802.3, 3.1.1).
pub const PREAMBLE_BYTES: f64 = 8.0;
/// Least gap between frames, bytes (IEEE 802.3, 4.4.2).
pub const GAP_BYTES: f64 = 12.0;
/// Addresses, type and frame check sequence, bytes (IEEE 802.3, 3.1.1).
pub const ETHERNET_BYTES: f64 = 18.0;
/// Around the IP packet of a frame, bytes.
pub const AROUND_PACKET_BYTES: f64 = PREAMBLE_BYTES + GAP_BYTES + ETHERNET_BYTES;

/// Bytes of the wire's time that a frame of that many bytes, FCS included, takes.
pub fn frame_bytes_on_wire(frame_bytes: f64) -> f64 {
    frame_bytes + PREAMBLE_BYTES + GAP_BYTES
}
