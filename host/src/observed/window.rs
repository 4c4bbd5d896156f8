//! The window of outgoing headers: never more than is posted, with a right edge that never moves
//! left, except for the rounding of the window scale.
//!
//! The transport offers a window according to its own buffers, which hold filler. The peer may send
//! only as much as the card has segments for. So the window of each outgoing header is lowered, and
//! when segments are posted while the transport is silent, its last ACK is repeated with the new
//! window. The field counts units of the window scale, rounded down. The edge may therefore move
//! left by less than one unit when bytes are acknowledged; rounding up would move it right with
//! every ACK, without bound. Only a remainder below one unit is rounded up, because those bytes
//! could otherwise never be sent, and only while posted bytes remain. Payload beyond the segments
//! is deferred.
//!
//! Sources: RFC 9293, 3.8.6 (shrinking the window is discouraged), RFC 7323, 2 (window scale).

use crate::headers::layout::{ACK, FIN, RST, SYN};
use crate::headers::packet::{clear_syn_options, set_window, TcpHeader};

/// Offered window of one connection.
#[derive(Clone, Debug, Default)]
pub struct OfferedWindow {
    shift: u8,
    /// Furthest right edge offered, as a stream offset.
    edge: u64,
    /// Right edge of the last header: less than `edge` by rounding alone.
    stated: u64,
    /// Furthest right edge that the transport itself has offered.
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

impl OfferedWindow {
    /// Sets the window scale.
    pub fn with_scale(self, shift: u8) -> Self {
        Self { shift, ..self }
    }

    /// Furthest right edge offered, as a stream offset.
    pub fn edge(&self) -> u64 {
        self.edge
    }

    /// Furthest right edge that the transport itself has offered. It accepts nothing beyond.
    pub fn transport_edge(&self) -> u64 {
        self.transport_edge
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
        let syn = parsed.flags & SYN != 0;
        if syn {
            // Nothing is posted before the sequence numbers are known.
            set_window(bytes, parsed, 0);
        }
        if parsed.flags & ACK == 0 {
            return;
        }
        // The window of a SYN is never scaled.
        let offered = u64::from(parsed.window) << if syn { 0 } else { self.shift };
        self.transport_edge = self.transport_edge.max(acknowledged + offered);
        if !syn {
            let field = self.field(acknowledged, posted_end);
            set_window(bytes, parsed, field);
        }
        let fin = u32::from(parsed.flags & FIN != 0);
        let next_sequence =
            parsed.sequence.wrapping_add(payload_bytes).wrapping_add(fin + u32::from(syn));
        let newer = self
            .last
            .as_ref()
            .is_none_or(|last| next_sequence.wrapping_sub(last.next_sequence) as i32 >= 0);
        let next_sequence = match &self.last {
            Some(last) if !newer => last.next_sequence,
            _ => next_sequence,
        };
        // The copy uses the memory of the one before.
        let mut copy = self.last.take().map_or_else(Vec::new, |last| last.bytes);
        copy.clear();
        copy.extend_from_slice(bytes);
        self.last = Some(LastHeader { bytes: copy, parsed: *parsed, next_sequence, acknowledged });
    }

    fn field(&mut self, acknowledged: u64, posted_end: u64) -> u16 {
        let room_end = posted_end.min(self.transport_edge);
        let window = room_end.max(self.edge).saturating_sub(acknowledged);
        let unit = 1u64 << self.shift;
        let field = match window / unit {
            // What was rounded up before is no room: it would be rounded up again and again.
            0 => u64::from(room_end > acknowledged),
            whole => whole.min(u64::from(u16::MAX)),
        };
        self.stated = acknowledged + field * unit;
        self.edge = self.edge.max(self.stated);
        field as u16
    }

    /// The last ACK with a wider window, if segments are posted beyond the edge of the last header.
    pub fn update(&mut self, posted_end: u64) -> Option<(Vec<u8>, TcpHeader)> {
        if posted_end.min(self.transport_edge) <= self.stated {
            return None;
        }
        let acknowledged = self.last.as_ref()?.acknowledged;
        let before = self.stated;
        let field = self.field(acknowledged, posted_end);
        if self.stated == before {
            // The rounded window is unchanged: repeating the ACK would only be a duplicate.
            return None;
        }
        let last = self.last.as_ref()?;
        let mut bytes = last.bytes.clone();
        let sequence = last.parsed.l4_offset + 4;
        bytes[sequence..sequence + 4].copy_from_slice(&last.next_sequence.to_be_bytes());
        bytes[last.parsed.l4_offset + 13] = ACK;
        if last.parsed.flags & SYN != 0 {
            clear_syn_options(&mut bytes, &last.parsed);
        }
        set_window(&mut bytes, &last.parsed, field);
        set_ip_length(&mut bytes, &last.parsed);
        Some((bytes, last.parsed))
    }
}

/// Sets the IP length of a packet that ends with these header bytes.
pub fn set_ip_length(bytes: &mut [u8], parsed: &TcpHeader) {
    let (at, length) = if parsed.ipv6 {
        (parsed.l3_offset + 4, bytes.len() - parsed.l4_offset)
    } else {
        (parsed.l3_offset + 2, bytes.len() - parsed.l3_offset)
    };
    bytes[at..at + 2].copy_from_slice(&(length as u16).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::builder::{Route, Tcp};
    use crate::headers::packet::parse_tcp;

    const NEXT: u32 = 0x1000_0001;

    /// A header without Ethernet padding: IPv4, TCP with `options`, the window field given.
    fn header(flags: u8, sequence: u32, window: u16, options: &[u8]) -> (Vec<u8>, TcpHeader) {
        let (from, to) = (([10, 0, 0, 1], 80).into(), ([10, 0, 0, 2], 0x1000).into());
        let tcp = Tcp { sequence, acknowledgement: 500, flags, window, options };
        let (bytes, _) = Route { macs: [[0; 6]; 2], from, to }.tcp(&tcp, 0);
        let parsed = parse_tcp(&bytes).unwrap();
        (bytes, parsed)
    }

    fn window_of(bytes: &[u8]) -> u16 {
        parse_tcp(bytes).unwrap().window
    }

    #[test]
    fn listening_side_opens_its_window() {
        // Largest segment, SACK permitted, timestamps, window scale.
        let timestamps = [8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
        let options = [&[2, 4, 5, 0xb4, 4, 2][..], &timestamps, &[1, 3, 3, 7]].concat();
        let (mut bytes, parsed) = header(SYN | ACK, NEXT - 1, 64_000, &options);
        let mut window = OfferedWindow::default();
        window.lower(&mut bytes, &parsed, 0, 0, 0);
        assert_eq!(window_of(&bytes), 0);
        let mut window = window.with_scale(7);
        assert!(window.update(0).is_none(), "nothing is posted");
        let (update, _) = window.update(1 << 14).expect("an ACK of its own");
        let sent = parse_tcp(&update).unwrap();
        assert_eq!((sent.flags, sent.sequence, sent.window), (ACK, NEXT, 128));
        let sent_options = [&[1; 6][..], &timestamps, &[1; 4]].concat();
        assert_eq!(update[54..], sent_options);
        assert!(window.update(1 << 14).is_none(), "it is known");
    }

    #[test]
    fn right_edge_stays_within_one_unit() {
        let mut window = OfferedWindow::default().with_scale(7);
        let mut edge = 0;
        // Acknowledged and posted bytes, as they grow.
        for (acknowledged, posted) in
            [(0, 1000), (128, 1000), (900, 1000), (999, 5000), (999, 5100)]
        {
            let (mut bytes, parsed) = header(ACK, NEXT, 60_000, &[]);
            window.lower(&mut bytes, &parsed, 0, acknowledged, posted);
            let offered = acknowledged + (u64::from(window_of(&bytes)) << 7);
            assert!(offered >= edge, "moved left");
            assert!(offered < posted + 128, "{offered} of {posted}");
            edge = edge.max(offered);
        }
    }

    #[test]
    fn rounded_window_is_not_rounded_again() {
        let mut window = OfferedWindow::default().with_scale(7);
        for (acknowledged, expected) in [(900, 1), (999, 1), (1000, 0), (1001, 0)] {
            let (mut bytes, parsed) = header(ACK, NEXT, 60_000, &[]);
            window.lower(&mut bytes, &parsed, 0, acknowledged, 1000);
            assert_eq!(window_of(&bytes), expected, "{acknowledged} acknowledged");
        }
        assert!(window.update(1000).is_none(), "nothing is posted");
        let (update, _) = window.update(1010).expect("a closed window opens");
        assert_eq!(window_of(&update), 1);
    }

    /// The peer takes an ACK only from where our side has come to, whatever is sent again.
    #[test]
    fn update_follows_newest_header_across_wrap() {
        let mut window = OfferedWindow::default();
        for (sequence, payload_bytes) in
            [(0xffff_ff00, 0xf0), (0xffff_fff0, 0x20), (0xffff_ff00, 0)]
        {
            let (mut bytes, parsed) = header(ACK, sequence, 60_000, &[]);
            window.lower(&mut bytes, &parsed, payload_bytes, 0, 0);
        }
        let (update, _) = window.update(1000).expect("an ACK of its own");
        assert_eq!(parse_tcp(&update).unwrap().sequence, 0x10);
    }

    #[test]
    fn reset_and_first_syn_repeat_nothing() {
        let mut window = OfferedWindow::default();
        for flags in [SYN, RST] {
            let (mut bytes, parsed) = header(flags, NEXT, 60_000, &[]);
            window.lower(&mut bytes, &parsed, 0, 0, 0);
        }
        assert!(window.update(1000).is_none());
    }
}
