//! Headers of the TCP on their way to the card.

use super::Observed;
use crate::error::Result;
use crate::headers::layout::SYN;
use crate::headers::packet::{self, clear_checksums, parse_tcp, TcpHeader};
use crate::observed::tuple::Tuple;
use crate::protocol::{HeaderSink, OutgoingHeader, OutgoingPayload};
use crate::transport::{FrameKind, TransmitHeader, Transport};

/// Limit of headers taken from the TCP at once.
const HEADERS_AT_ONCE: usize = 64;

impl<T: Transport> Observed<T> {
    pub(super) fn send_headers(&mut self, sink: &mut dyn HeaderSink) -> Result<()> {
        for _ in 0..HEADERS_AT_ONCE {
            if !sink.has_room() {
                return Ok(());
            }
            let Some(header) = self.transport.poll_header()? else { return Ok(()) };
            self.send_header(header, sink)?;
        }
        Ok(())
    }

    fn send_header(&mut self, header: TransmitHeader, sink: &mut dyn HeaderSink) -> Result<()> {
        let mut bytes = header.bytes;
        let parsed = match header.kind {
            FrameKind::Tcp => parse_tcp(&bytes),
            FrameKind::Whole => None,
        };
        let mut outgoing = OutgoingHeader {
            flow: None,
            bytes: &[],
            layers: parsed.as_ref().map(Into::into),
            payload: None,
        };
        let Some(parsed) = parsed else {
            if header.payload_bytes > 0 {
                self.counters.orphan_headers += 1;
                return Ok(());
            }
            outgoing.bytes = &bytes;
            return sink.send(&outgoing);
        };
        clear_checksums(&mut bytes, &parsed);
        let tuple = (parsed.source, parsed.destination);
        if parsed.flags & SYN != 0 {
            self.release_old_tuple(tuple, parsed.sequence);
            self.handshakes.note_sent(tuple, &bytes, &parsed);
        }
        let index = self.tuples.get(&tuple).copied();
        index.into_iter().for_each(|index| self.touch(index));
        let flow = index.and_then(|index| self.flow_mut(index));
        match flow.filter(|flow| flow.is_installed) {
            Some(flow) => {
                flow.note_sent(&mut bytes, &parsed, header.payload_bytes);
                outgoing.flow = index;
            }
            None if header.payload_bytes > 0 => {
                // An unknown flow has no payload to send.
                self.counters.orphan_headers += 1;
                return Ok(());
            }
            None => match self.handshakes.get_mut(tuple) {
                Some(handshake) => handshake.offer_nothing(&mut bytes, &parsed),
                None => packet::close_window(&mut bytes, &parsed),
            },
        }
        outgoing.payload = payload(&parsed, header.payload_bytes, header.mss_bytes.into());
        outgoing.bytes = &bytes;
        sink.send(&outgoing)
    }

    /// Called for each outgoing SYN. The TCP no longer has the old connection with these addresses,
    /// unless this is a repeated SYN of that connection.
    fn release_old_tuple(&mut self, tuple: Tuple, sequence: u32) {
        let Some(&index) = self.tuples.get(&tuple) else { return };
        let flow = self.flow(index).filter(|flow| flow.is_installed);
        if flow.is_some_and(|flow| flow.send_first != sequence.wrapping_add(1)) {
            self.release_tuple(index);
        }
    }

    /// Repeats the last ACK of connections that were granted more than the window which their peer
    /// knows.
    pub(super) fn send_windows(&mut self, sink: &mut dyn HeaderSink) -> Result<()> {
        let (mut wider, mut failed) = (std::mem::take(&mut self.wider), Ok(()));
        for index in wider.drain(..) {
            let Some(flow) = self.flow_mut(index) else { continue };
            let Some((bytes, parsed)) = flow.window.update(flow.granted) else { continue };
            self.counters.window_updates += 1;
            let sent = sink.send(&OutgoingHeader {
                flow: Some(index),
                bytes: &bytes,
                layers: Some((&parsed).into()),
                payload: None,
            });
            failed = failed.and(sent);
        }
        self.wider = wider;
        failed
    }
}

fn payload(parsed: &TcpHeader, bytes: u32, mss_bytes: u32) -> Option<OutgoingPayload> {
    (bytes > 0).then_some(OutgoingPayload {
        position: parsed.sequence,
        bytes,
        mss_bytes: match mss_bytes {
            0 => bytes,
            mss_bytes => mss_bytes,
        },
    })
}
