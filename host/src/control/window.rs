//! The window field of outgoing headers: never more than what is posted, never a right edge that
//! moves left.
//!
//! The transport offers a window by its own buffers, which hold filler. What the peer may really
//! send is what the card has segments for. So each outgoing header's window is lowered, and when
//! segments are posted while the transport is silent, its last ACK is repeated with the new window.
//! A window is rounded down to the scale's unit, but a last rest below one unit is rounded up: the
//! few bytes beyond the segments are deferred, and no byte of a buffer stays for ever unsendable.
//!
//! Source: RFC 9293, 3.8.6 (shrinking the window is discouraged), RFC 7323, 2 (window scale).

use super::packet::{set_window, TcpHeader, ACK, FIN, RST, SYN};

/// What is needed to offer windows for one connection.
#[derive(Clone, Debug, Default)]
pub struct Window {
    shift: u8,
    /// Furthest right edge offered, as a stream offset.
    edge: u64,
    /// Right edge that the transport itself offered last.
    transport_edge: u64,
    last: Option<LastHeader>,
}

#[derive(Clone, Debug)]
struct LastHeader {
    bytes: Vec<u8>,
    parsed: TcpHeader,
    next_sequence: u32,
    acknowledged: u64,
}

impl Window {
    /// A window scaled by 2^`shift`.
    pub fn new(shift: u8) -> Self {
        Self {
            shift,
            ..Self::default()
        }
    }

    /// Lowers the window of an outgoing header that acknowledges stream offset `acknowledged`, when
    /// segments are posted up to `posted_end`.
    pub fn lower(
        &mut self,
        bytes: &mut [u8],
        parsed: &TcpHeader,
        payload_bytes: u32,
        acknowledged: u64,
        posted_end: u64,
    ) {
        if parsed.flags & RST != 0 {
            return;
        }
        if parsed.flags & SYN != 0 {
            // Nothing can be posted before the sequence numbers are known.
            set_window(bytes, parsed, 0);
            return;
        }
        let offered = u64::from(parsed.window) << self.shift;
        self.transport_edge = self.transport_edge.max(acknowledged + offered);
        let field = self.field(acknowledged, posted_end);
        set_window(bytes, parsed, field);
        let fin = u32::from(parsed.flags & FIN != 0);
        let next_sequence = parsed
            .sequence
            .wrapping_add(payload_bytes)
            .wrapping_add(fin);
        let newer = self
            .last
            .as_ref()
            .is_none_or(|last| next_sequence.wrapping_sub(last.next_sequence) as i32 >= 0);
        let next_sequence = match &self.last {
            Some(last) if !newer => last.next_sequence,
            _ => next_sequence,
        };
        self.last = Some(LastHeader {
            bytes: bytes.to_vec(),
            parsed: *parsed,
            next_sequence,
            acknowledged,
        });
    }

    fn field(&mut self, acknowledged: u64, posted_end: u64) -> u16 {
        let edge = posted_end.min(self.transport_edge).max(self.edge);
        let window = edge.saturating_sub(acknowledged);
        let unit = 1u64 << self.shift;
        let whole = window / unit;
        let field = if whole == 0 {
            window.div_ceil(unit)
        } else {
            whole
        };
        let field = field.min(u64::from(u16::MAX));
        self.edge = self.edge.max(acknowledged + field * unit);
        field as u16
    }

    /// The last ACK with a wider window, when segments were posted beyond what is offered.
    pub fn update(&mut self, posted_end: u64) -> Option<(Vec<u8>, TcpHeader)> {
        if posted_end.min(self.transport_edge) <= self.edge {
            return None;
        }
        let acknowledged = self.last.as_ref()?.acknowledged;
        let offered = self.edge;
        let field = self.field(acknowledged, posted_end);
        if self.edge == offered {
            // Nothing more than the peer knows: repeating it would only be a duplicate ACK.
            return None;
        }
        let last = self.last.as_ref()?;
        let mut bytes = last.bytes.clone();
        let sequence = last.parsed.l4_offset + 4;
        bytes[sequence..sequence + 4].copy_from_slice(&last.next_sequence.to_be_bytes());
        bytes[last.parsed.l4_offset + 13] = ACK;
        set_window(&mut bytes, &last.parsed, field);
        set_ip_length(&mut bytes, &last.parsed);
        Some((bytes, last.parsed))
    }
}

/// Sets the IP length to a packet that ends with these header bytes.
pub fn set_ip_length(bytes: &mut [u8], parsed: &TcpHeader) {
    let (at, length) = if parsed.ipv6 {
        (parsed.l3_offset + 4, bytes.len() - parsed.l4_offset)
    } else {
        (parsed.l3_offset + 2, bytes.len() - parsed.l3_offset)
    };
    bytes[at..at + 2].copy_from_slice(&(length as u16).to_be_bytes());
}
