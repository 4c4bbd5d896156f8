//! What passes between card and transport: header entries up, headers down.

use std::net::SocketAddr;

use abi::header_entry;
use abi::reason::{Disposition, SendError};

use crate::bus::Bus;
use crate::control::descriptor::{raw, tcp_header, tcp_send, Payload, INLINE_BYTES_MAX};
use crate::control::packet::{self, clear_checksums, parse_tcp, TcpHeader, SYN};
use crate::error::Result;
use crate::provider::{Provider, DEFERRED_BYTES_MAX};
use crate::rings::HeaderEntry;
use crate::transport::{FrameKind, TransmitHeader, Transport};

/// Early payload of connections whose flow is not installed yet, packets.
const EARLY_PACKETS_MAX: usize = 256;
/// Headers taken from the transport in one poll.
const HEADERS_PER_POLL: usize = 64;
/// Send descriptors that may wait for the ring before the transport is left alone.
const SENDS_WAITING_MAX: usize = 64;

impl<B: Bus, T: Transport> Provider<B, T> {
    pub(crate) fn take_headers(&mut self) -> Result<()> {
        let mut any = false;
        while let Some(entry) = self.device.next_header()? {
            any = true;
            self.counters.header_entries += 1;
            if header_entry::KIND.get(&entry.metadata) == u64::from(header_entry::KIND_EVENT) {
                self.take_event(&entry)?;
            } else {
                self.take_packet(entry)?;
            }
        }
        if any {
            self.device.return_headers()?;
        }
        Ok(())
    }

    fn take_event(&mut self, entry: &HeaderEntry) -> Result<()> {
        let code = header_entry::DISPOSITION.get(&entry.metadata) as u8;
        let flow = header_entry::FLOW.get(&entry.metadata) as u16;
        let error = SendError::from_code(code);
        if error == Some(SendError::StaleSend) {
            // A retransmission that crossed its acknowledgement: nothing is missing.
            return Ok(());
        }
        let name = error.map_or("unknown", SendError::name);
        let hit = self
            .connections
            .iter()
            .find(|(_, c)| c.name.flow == flow)
            .map(|(id, _)| *id);
        match hit {
            Some(id) => self.fail(id, format!("send failed: {name}")),
            None => Ok(()),
        }
    }

    fn take_packet(&mut self, entry: HeaderEntry) -> Result<()> {
        let parsed = parse_tcp(&entry.header);
        let code = header_entry::DISPOSITION.get(&entry.metadata) as u8;
        let disposition = Disposition::from_code(code);
        let Some(parsed) = parsed else {
            if disposition == Some(Disposition::Unverified) {
                self.counters.withheld_fragments += 1;
                return Ok(());
            }
            let mut frame = entry.header;
            frame.extend(entry.deferred.unwrap_or_default());
            return Ok(self.transport.deliver_frame(&frame)?);
        };
        let tuple = (parsed.destination, parsed.source);
        if parsed.flags & SYN != 0 {
            let handshake = self.handshakes.entry(tuple).or_default();
            handshake.remote = Some(parsed.sequence);
            handshake.remote_scales = parsed.window_scale.is_some();
        }
        let payload_bytes = header_entry::PAYLOAD_BYTES.get(&entry.metadata) as usize;
        if payload_bytes > 0 && !self.keep_payload(tuple, &parsed, &entry, disposition) {
            self.counters.withheld_headers += 1;
            return Ok(());
        }
        Ok(self.transport.deliver(&entry.header, payload_bytes)?)
    }

    /// Notes where a packet's payload is. False: over budget, the header must be withheld.
    fn keep_payload(
        &mut self,
        tuple: (SocketAddr, SocketAddr),
        parsed: &TcpHeader,
        entry: &HeaderEntry,
        disposition: Option<Disposition>,
    ) -> bool {
        let payload_bytes = header_entry::PAYLOAD_BYTES.get(&entry.metadata);
        let trimmed = header_entry::TRIMMED_BYTES.get(&entry.metadata);
        let connection = self
            .tuples
            .get(&tuple)
            .and_then(|id| self.connections.get_mut(id));
        let receive = connection.and_then(|c| c.receive.as_mut());
        let Some(receive) = receive else {
            let handshake = self.handshakes.entry(tuple).or_default();
            let Some(payload) = &entry.deferred else {
                return true;
            };
            if handshake.early.len() >= EARLY_PACKETS_MAX {
                return false;
            }
            handshake.early.push((parsed.sequence, payload.clone()));
            return true;
        };
        match disposition {
            Some(Disposition::PlacedInOrder | Disposition::PlacedAhead) => {
                let first = parsed.sequence.wrapping_add(trimmed as u32);
                if let Some(start) = receive.offset(first) {
                    receive.landed(start, payload_bytes - trimmed);
                }
                true
            }
            _ => match (&entry.deferred, receive.offset(parsed.sequence)) {
                (Some(payload), Some(start)) => {
                    receive.defer(start, payload.clone(), DEFERRED_BYTES_MAX)
                }
                _ => true,
            },
        }
    }

    pub(crate) fn take_transport_headers(&mut self) -> Result<()> {
        for _ in 0..HEADERS_PER_POLL {
            if self.device.sends_waiting() > SENDS_WAITING_MAX {
                return Ok(());
            }
            let Some(header) = self.transport.poll_header()? else {
                return Ok(());
            };
            self.send_header(header);
        }
        Ok(())
    }

    fn send_header(&mut self, header: TransmitHeader) {
        let mut bytes = header.bytes;
        if bytes.len() > INLINE_BYTES_MAX {
            self.counters.oversize_frames += 1;
            return;
        }
        let parsed = match header.kind {
            FrameKind::Tcp => parse_tcp(&bytes),
            FrameKind::Whole => None,
        };
        let Some(parsed) = parsed else {
            return self.device.send(raw(&bytes));
        };
        clear_checksums(&mut bytes, &parsed);
        let tuple = (parsed.source, parsed.destination);
        if parsed.flags & SYN != 0 {
            let handshake = self.handshakes.entry(tuple).or_default();
            handshake.local = Some(parsed.sequence);
            handshake.local_scale = parsed.window_scale;
        }
        let connection = self
            .tuples
            .get(&tuple)
            .and_then(|id| self.connections.get_mut(id));
        let Some(connection) = connection else {
            packet::close_window(&mut bytes, &parsed);
            return self.device.send(tcp_header(&bytes, &parsed));
        };
        match &connection.receive {
            Some(side) => {
                let acknowledged = side.offset(parsed.acknowledgement).unwrap_or(0);
                let (payload, end) = (header.payload_bytes, side.window_end());
                connection
                    .window
                    .lower(&mut bytes, &parsed, payload, acknowledged, end);
            }
            None => packet::close_window(&mut bytes, &parsed),
        }
        if header.payload_bytes == 0 {
            return self.device.send(tcp_header(&bytes, &parsed));
        }
        let index = connection
            .send
            .as_ref()
            .and_then(|s| s.segment_index(parsed.sequence));
        let mss = match header.segment_bytes {
            0 => header.payload_bytes as u16,
            mss => mss,
        };
        let payload = Payload {
            name: connection.name,
            position: parsed.sequence,
            bytes: header.payload_bytes,
            mss_bytes: mss,
            segment_index: index.unwrap_or(0),
        };
        self.device.send(tcp_send(&bytes, &parsed, &payload));
    }
}
