//! What passes between card and transport: header entries up, headers down.

use std::net::SocketAddr;

use abi::header_entry;
use abi::reason::{Disposition, SendError};

use crate::bus::Bus;
use crate::control::descriptor::{raw, tcp_header, tcp_send, Payload, INLINE_BYTES_MAX};
use crate::control::packet::{self, clear_checksums, parse_tcp, TcpHeader, SYN};
use crate::error::Result;
use crate::provider::{ConnectionId, Provider, DEFERRED_BYTES_MAX};
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
        let generation = header_entry::GENERATION.get(&entry.metadata) as u8;
        let error = SendError::from_code(code);
        if error == Some(SendError::StaleSend) {
            // A retransmission that crossed its acknowledgement: nothing is missing.
            return Ok(());
        }
        let name = error.map_or("unknown", SendError::name);
        match self.connection_of(flow, generation) {
            Some(id) => self.fail(id, format!("send failed: {name}")),
            None => Ok(()),
        }
    }

    /// The connection whose flow has this id and generation.
    pub(crate) fn connection_of(&self, flow: u16, generation: u8) -> Option<ConnectionId> {
        let id = self.flows.get(&flow)?;
        let connection = self.connections.get(id)?;
        (connection.name.generation == generation).then_some(*id)
    }

    fn take_packet(&mut self, entry: HeaderEntry) -> Result<()> {
        if header_entry::UNFLUSHED.get(&entry.metadata) == 1 {
            // Nobody knows whether the payload is there: the transport must not acknowledge it.
            let flow = header_entry::FLOW.get(&entry.metadata) as u16;
            let generation = header_entry::GENERATION.get(&entry.metadata) as u8;
            return match self.connection_of(flow, generation) {
                Some(id) => self.fail(id, format!("flow {flow}: its memory answers no flush")),
                None => Ok(()),
            };
        }
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
            let handshake = self.handshakes.of(tuple);
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
            let handshake = self.handshakes.of(tuple);
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
            self.send_header(header)?;
        }
        Ok(())
    }

    fn send_header(&mut self, header: TransmitHeader) -> Result<()> {
        let mut bytes = header.bytes;
        if bytes.len() > INLINE_BYTES_MAX {
            self.counters.oversize_frames += 1;
            return Ok(());
        }
        let parsed = match header.kind {
            FrameKind::Tcp => parse_tcp(&bytes),
            FrameKind::Whole => None,
        };
        let Some(parsed) = parsed else {
            self.device.send(raw(&bytes));
            return Ok(());
        };
        clear_checksums(&mut bytes, &parsed);
        let tuple = (parsed.source, parsed.destination);
        if parsed.flags & SYN != 0 {
            let handshake = self.handshakes.of(tuple);
            handshake.local = Some(parsed.sequence);
            handshake.local_scale = parsed.window_scale;
        }
        let connection = self
            .tuples
            .get(&tuple)
            .and_then(|id| self.connections.get_mut(id));
        let side = connection.as_ref().and_then(|c| c.receive.as_ref());
        let offer = side.map(|side| {
            let acknowledged = side.offset(parsed.acknowledgement).unwrap_or(0);
            (acknowledged, side.window_end())
        });
        let (Some(connection), Some((acknowledged, end))) = (connection, offer) else {
            match self.handshakes.get_mut(tuple) {
                Some(handshake) => handshake.offer_nothing(&mut bytes, &parsed),
                None => packet::close_window(&mut bytes, &parsed),
            }
            self.device.send(tcp_header(&bytes, &parsed));
            return Ok(());
        };
        let payload_bytes = header.payload_bytes;
        connection
            .window
            .lower(&mut bytes, &parsed, payload_bytes, acknowledged, end);
        let owner = connection.owner;
        if header.payload_bytes == 0 {
            return self.device.send_of(owner, tcp_header(&bytes, &parsed));
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
        self.device
            .send_of(owner, tcp_send(&bytes, &parsed, &payload))
    }
}
