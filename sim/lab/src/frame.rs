//! Frames on a wire of 100 Gb/s, and how long it takes them.

/// One byte at 100 Gb/s.
pub const BYTE_PS: u64 = 80;
/// Preamble and start delimiter.
pub const PREAMBLE_BYTES: u64 = 8;
/// Frame check sequence.
pub const FCS_BYTES: u64 = 4;
/// Least gap between frames.
pub const GAP_BYTES: u64 = 12;

/// A frame on the wire, without preamble and FCS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// From the destination address to the last payload or padding byte.
    pub bytes: Vec<u8>,
    /// The FCS does not match.
    pub is_bad: bool,
    /// When the last bit of its FCS left the wire.
    pub time_ps: u64,
}

/// Shortest frame, without FCS (IEEE 802.3, 3.2.8).
const FRAME_BYTES_MIN: usize = 60;

impl Frame {
    /// A whole frame of these bytes, padded to the shortest that a wire carries.
    pub fn padded(bytes: &[u8]) -> Frame {
        let mut bytes = bytes.to_vec();
        bytes.resize(bytes.len().max(FRAME_BYTES_MIN), 0);
        Frame { bytes, ..Frame::default() }
    }
}

/// How long a frame of that many bytes occupies the wire, gap included.
pub fn wire_time_ps(bytes: usize) -> u64 {
    (PREAMBLE_BYTES + bytes as u64 + FCS_BYTES + GAP_BYTES) * BYTE_PS
}
