//! Headers between card and transport: header entries to the transport, its headers to the card.

use abi::config::FRAME_BYTES_MAX;
use abi::header_entry;
use abi::reason::{Disposition, SendError};

use super::{errno, ConnectionId, Provider};
use crate::control::connection::arrived::Packet;
use crate::control::descriptor::{raw, tcp_header, tcp_send, Payload};
use crate::control::flow::send::DESCRIPTOR_BYTES_MAX;
use crate::control::packet::{self, clear_checksums, parse_tcp, TcpHeader};
use crate::driver::bus::Bus;
use crate::driver::error::Result;
use crate::driver::rings::HeaderEntry;
use crate::transport::header::{is_ipv6_fragment, tcp_checksum, TcpLayout, SYN};
use crate::transport::{self, FrameKind, TransmitHeader, Transport};

/// Limit of headers taken from the transport in one poll.
const HEADERS_PER_POLL: usize = 64;
/// Send descriptors queued for the ring above which no more headers are taken from the transport.
const SENDS_WAITING_MAX: usize = 64;

impl<B: Bus, T: Transport> Provider<B, T> {
    pub(super) fn take_headers(&mut self) -> Result<()> {
        let mut any = false;
        // One entry is used for all.
        let mut entry = HeaderEntry::default();
        while self.device.next_header(&mut entry)? {
            any = true;
            self.counters.header_entries += 1;
            if header_entry::KIND.get(&entry.metadata) == u64::from(header_entry::KIND_EVENT) {
                self.take_event(&entry)?;
            } else {
                self.take_packet(&entry)?;
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
        let Some(id) = self.connections.of_flow(flow, generation) else {
            return Ok(());
        };
        let send = self.connections.get(id).and_then(|c| c.send.as_ref());
        let position = header_entry::EVENT_VALUE.get(&entry.metadata) as u32;
        let is_passed = send.is_some_and(|send| send.has_passed(position));
        let error = SendError::from_code(code);
        match error {
            // A repetition that crossed its acknowledgement, before or after the card looked up its
            // flow. What of it is not acknowledged TCP will repeat.
            Some(SendError::StaleSend) => self.counters.overtaken_sends += 1,
            Some(SendError::SendNoSegment) if is_passed => self.counters.overtaken_sends += 1,
            _ => {
                let name = error.map_or("unknown", SendError::name);
                return self.fail(id, errno::of_send(error), format!("send failed: {name}"));
            }
        }
        Ok(())
    }

    fn take_packet(&mut self, entry: &HeaderEntry) -> Result<()> {
        if header_entry::UNFLUSHED.get(&entry.metadata) == 1 {
            // The payload may not be visible, so the transport must not acknowledge it.
            let flow = header_entry::FLOW.get(&entry.metadata) as u16;
            let generation = header_entry::GENERATION.get(&entry.metadata) as u8;
            return match self.connections.of_flow(flow, generation) {
                Some(id) => self.fail(
                    id,
                    libc::EIO,
                    format!("flow {flow}: no flush read of its memory completed"),
                ),
                None => Ok(()),
            };
        }
        let code = header_entry::DISPOSITION.get(&entry.metadata) as u8;
        let disposition = Disposition::from_code(code);
        let split_here = matches!(
            disposition,
            Some(Disposition::NotTransport | Disposition::Unverified)
        );
        match parse_tcp(&entry.header).filter(|_| !split_here) {
            Some(parsed) => self.take_tcp(&parsed, &Packet::placed_by(entry, disposition)),
            None if disposition == Some(Disposition::Unverified) => {
                self.counters.withheld_fragments += 1;
                Ok(())
            }
            None => self.take_frame(entry),
        }
    }

    /// Takes a whole frame that the card did not split. After IPv6 extension headers it may still
    /// be TCP. It is then verified and split here; otherwise the transport would accept bytes that
    /// are not kept.
    fn take_frame(&mut self, entry: &HeaderEntry) -> Result<()> {
        let mut frame = entry.header.to_vec();
        frame.extend(entry.deferred.iter().flatten());
        if is_ipv6_fragment(&frame) {
            self.counters.withheld_fragments += 1;
            return Ok(());
        }
        let (Some(parsed), Ok(layout)) = (parse_tcp(&frame), TcpLayout::parse(&frame)) else {
            let delivered = self.transport.deliver_frame(&frame);
            return self.count_refused(delivered);
        };
        let end = layout.payload + layout.payload_bytes;
        if end > frame.len() || tcp_checksum(&frame, &layout) != 0 {
            self.counters.withheld_broken += 1;
            return Ok(());
        }
        let payload = &frame[layout.payload..end];
        let packet = Packet {
            header: &frame[..layout.payload],
            payload_bytes: payload.len() as u64,
            deferred: (!payload.is_empty()).then_some(payload),
            placed: None,
            flow: None,
            hit: None,
        };
        self.take_tcp(&parsed, &packet)
    }

    fn take_tcp(&mut self, parsed: &TcpHeader, packet: &Packet<'_>) -> Result<()> {
        let installed = self.installed(parsed, packet);
        let deliver = match installed {
            Some(id) => {
                self.connections.touch(id);
                let Some(connection) = self.connections.get_mut(id) else {
                    return Ok(());
                };
                if !connection.expected.is_for_us(packet.header, parsed) {
                    connection.spoilt(parsed, packet);
                    self.counters.withheld_foreign += 1;
                    return Ok(());
                }
                if let Some(receive) = &mut connection.receive {
                    receive.set_room(self.budget.room_bytes(connection.domain));
                }
                let is_kept = connection.keep_payload(parsed, packet);
                connection.charge(&mut self.budget);
                is_kept
            }
            None => {
                let tuple = (parsed.destination, parsed.source);
                if !self.handshakes.is_for_us(tuple, packet.header, parsed) {
                    self.counters.withheld_foreign += 1;
                    return Ok(());
                }
                self.handshakes.note_received(tuple, parsed);
                if let Some(id) = self.connections.of_tuple(&tuple) {
                    self.connections.touch(id);
                }
                match packet.deferred {
                    Some(payload) => self.handshakes.keep_early(tuple, parsed, payload),
                    // Placed or dropped for an old flow with the same addresses: the payload is
                    // lost.
                    None => packet.payload_bytes == 0 || !parsed.may_carry(),
                }
            }
        };
        if !deliver {
            self.counters.withheld_headers += 1;
            return Ok(());
        }
        let payload_bytes = packet.payload_bytes as usize;
        let delivered = self.transport.deliver(packet.header, payload_bytes);
        self.count_refused(delivered)
    }

    /// A packet that the transport refuses is dropped and counted. Its peer repeats it, or its
    /// connection ends.
    fn count_refused(&mut self, delivered: transport::Result<()>) -> Result<()> {
        match delivered {
            Err(error) if error.is_of_packet() => {
                self.counters.refused_headers += 1;
                Ok(())
            }
            other => Ok(other?),
        }
    }

    /// The connection of a packet, once its handshake is known: that of the flow which the card
    /// found, or that of its addresses. A connection without its addresses takes no more packets.
    fn installed(&self, parsed: &TcpHeader, packet: &Packet<'_>) -> Option<ConnectionId> {
        let by_flow = packet
            .hit
            .and_then(|name| self.connections.of_flow(name.flow, name.generation));
        let is_installed = |id: &ConnectionId| {
            let connection = self.connections.get(*id);
            connection.is_some_and(|c| c.has_addresses && c.receive.is_some())
        };
        by_flow.filter(is_installed).or_else(|| {
            let tuple = (parsed.destination, parsed.source);
            self.connections.of_tuple(&tuple).filter(is_installed)
        })
    }

    pub(super) fn take_transport_headers(&mut self) -> Result<()> {
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
        let parsed = match header.kind {
            FrameKind::Tcp => parse_tcp(&bytes),
            FrameKind::Whole => None,
        };
        let Some(parsed) = parsed else {
            if header.payload_bytes > 0 {
                self.counters.orphan_headers += 1;
                return Ok(());
            }
            self.device.send(raw(&bytes));
            return Ok(());
        };
        clear_checksums(&mut bytes, &parsed);
        let tuple = (parsed.source, parsed.destination);
        if parsed.flags & SYN != 0 {
            self.release_old_tuple(tuple, parsed.sequence);
            self.handshakes.note_sent(tuple, &bytes, &parsed);
        }
        let id = self.connections.of_tuple(&tuple);
        id.into_iter().for_each(|id| self.connections.touch(id));
        let connection = id.and_then(|id| self.connections.get_mut(id));
        let (Some(connection), Some(id)) = (connection.filter(|c| c.receive.is_some()), id) else {
            if header.payload_bytes > 0 {
                // An unknown flow has no payload to send.
                self.counters.orphan_headers += 1;
                return Ok(());
            }
            match self.handshakes.get_mut(tuple) {
                Some(handshake) => handshake.offer_nothing(&mut bytes, &parsed),
                None => packet::close_window(&mut bytes, &parsed),
            }
            self.device.send(tcp_header(&bytes, &parsed));
            return Ok(());
        };
        connection.note_sent(&mut bytes, &parsed, header.payload_bytes);
        let owner = connection.owner;
        if header.payload_bytes == 0 {
            return self.device.send_of(owner, tcp_header(&bytes, &parsed));
        }
        let side = connection.send.as_ref();
        let mss_bytes = match header.mss_bytes {
            0 => header.payload_bytes,
            mss => mss.into(),
        };
        if header.payload_bytes > DESCRIPTOR_BYTES_MAX || mss_bytes > FRAME_BYTES_MAX as u32 {
            let why = format!(
                "the transport sends {} bytes in frames of {mss_bytes}; the limits are {} and {}",
                header.payload_bytes, DESCRIPTOR_BYTES_MAX, FRAME_BYTES_MAX
            );
            return self.fail(id, libc::EMSGSIZE, why);
        }
        let payload = Payload {
            name: connection.name,
            position: parsed.sequence,
            bytes: header.payload_bytes,
            mss_bytes: mss_bytes as u16,
            segment_index: side.map_or(0, |side| side.segment_index(parsed.sequence)),
        };
        self.device
            .send_of(owner, tcp_send(&bytes, &parsed, &payload))
    }
}
