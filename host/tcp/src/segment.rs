//! A TCP segment without its payload: what a header says, and how long the payload is.
//!
//! ```text
//!   IP: ECN codepoint │ TCP: numbers, flags, window, options │ payload_bytes, never the bytes
//! ```
//! Sources: RFC 9293, 3.1 and 3.2; RFC 7323; RFC 2018; RFC 3168, 5.

use std::ops::BitOr;

use arrayvec::ArrayVec;

/// Most SACK blocks in a header (RFC 2018, 3).
pub const SACK_BLOCKS_MAX: usize = 4;

/// The control bits (RFC 9293, 3.1; RFC 3168, 6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// The sender has no more data (RFC 9293, 3.1).
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers (RFC 9293, 3.1).
    pub const SYN: Self = Self(0x02);
    /// Reset the connection (RFC 9293, 3.1).
    pub const RST: Self = Self(0x04);
    /// Push (RFC 9293, 3.1).
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement number counts (RFC 9293, 3.1).
    pub const ACK: Self = Self(0x10);
    /// The urgent pointer counts (RFC 9293, 3.8.5); read past, never set.
    pub const URG: Self = Self(0x20);
    /// Congestion was experienced (RFC 3168, 6.1).
    pub const ECE: Self = Self(0x40);
    /// The congestion window was reduced (RFC 3168, 6.1).
    pub const CWR: Self = Self(0x80);

    /// Whether all bits of another set are set (RFC 9293, 3.1).
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The ECN field of the IP header (RFC 3168, 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Codepoint {
    /// The transport is not capable of ECN.
    #[default]
    NotCapable,
    /// ECT(1).
    Capable1,
    /// ECT(0): what this engine sends.
    Capable0,
    /// Congestion was experienced.
    Experienced,
}

/// The timestamps option (RFC 7323, 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval.
    pub value: u32,
    /// TSecr.
    pub echo: u32,
}

/// A SACK block: numbers of the first byte and of the one behind the last (RFC 2018, 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlock {
    /// Left edge.
    pub start: u32,
    /// Right edge.
    pub end: u32,
}

/// The options of a header (RFC 9293, 3.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Largest payload that the sender takes, in a SYN (RFC 9293, 3.7.1).
    pub mss_bytes: Option<u16>,
    /// Window scale, in a SYN (RFC 7323, 2).
    pub window_scale: Option<u8>,
    /// SACK permitted, in a SYN (RFC 2018, 2).
    pub is_sack_permitted: bool,
    /// Timestamps (RFC 7323, 3).
    pub timestamps: Option<Timestamps>,
    /// SACK blocks (RFC 2018, 3; a first block that repeats is RFC 2883).
    pub sack: ArrayVec<SackBlock, SACK_BLOCKS_MAX>,
}

/// What the packets of a run say beyond the header of the first. A run is packets of one connection
/// in order, without a gap and with equal flags but for a PSH on the last, that a card has summed
/// up (RFC 9293, 3.8.6.3 lets a receiver look at several segments before it answers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Payload of every packet but the last, which has no more.
    pub segment_bytes: u32,
    /// Acknowledgement number of the last, which is not before that of the first.
    pub acknowledgement: u32,
    /// Window field of the last, unscaled.
    pub window: u16,
    /// Timestamps of the last.
    pub timestamps: Option<Timestamps>,
}

/// A segment, or a run of them (RFC 9293, 3.1). The payload is known by its length alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgement number.
    pub acknowledgement: u32,
    /// Control bits.
    pub flags: Flags,
    /// Window field, unscaled.
    pub window: u16,
    /// Options.
    pub options: Options,
    /// ECN field of the IP header.
    pub codepoint: Codepoint,
    /// Length of the payload; of a run, of the whole.
    pub payload_bytes: u32,
    /// The rest of a run, whose first packet is described above.
    pub run: Option<Run>,
}

impl Segment {
    /// SEG.LEN: what the segment takes of the sequence space (RFC 9293, 3.4).
    pub fn length(&self) -> u64 {
        let bits = [Flags::SYN, Flags::FIN].iter().filter(|bit| self.flags.has(**bit)).count();
        u64::from(self.payload_bytes) + bits as u64
    }

    /// The newest acknowledgement number: of a run, that of its last packet (RFC 9293, 3.1).
    pub fn last_acknowledgement(&self) -> u32 {
        self.run.map_or(self.acknowledgement, |run| run.acknowledgement)
    }

    /// The newest window field, unscaled (RFC 9293, 3.1).
    pub fn last_window(&self) -> u16 {
        self.run.map_or(self.window, |run| run.window)
    }

    /// Payload before that of the last packet: 0 for a single one (RFC 9293, 3.1).
    pub fn lead_bytes(&self) -> u32 {
        let segment_bytes = self.run.map_or(0, |run| run.segment_bytes);
        match segment_bytes {
            0 => 0,
            _ => self.payload_bytes.saturating_sub(1) / segment_bytes * segment_bytes,
        }
    }
}
