//! Header entries on their way to the protocol.
//!
//! `take_headers` is called by each poll, before the protocol advances.

use abi::header_entry;
use abi::reason::{Disposition, SendError};

use crate::control::connection::received_packet::{EntryPacket, Room};
use crate::control::flow::buffer::Misplaced;
use crate::driver::bus::Bus;
use crate::driver::rings::HeaderEntry;
use crate::error::Result;
use crate::failure::Failure;
use crate::headers::layout::{is_ipv6_fragment, tcp_checksum, TcpLayout};
use crate::headers::packet::parse_tcp;
use crate::protocol::{Doubt, FlowIndex, Packet, PacketPayload, Protocol, Verdict};
use crate::provider::{ConnectionId, Provider};

/// Header entries from the present one on whose connections are asked for.
const AHEAD: usize = 8;

impl<B: Bus, P: Protocol> Provider<B, P> {
    /// Prefetches the connection of the entry `entry` places ahead, if the card has published it.
    #[inline]
    fn expect_entry(&self, entry: usize) {
        if let Some((flow, has_payload)) = self.device.flow_ahead(entry as u32) {
            self.connections.expect(flow, has_payload);
            if let Some(ahead) = &self.ahead {
                (ahead.arriving)(&self.protocol, FlowIndex(flow));
            }
        }
    }

    pub(in crate::provider) fn take_headers(&mut self, now_ns: u64) -> Result<()> {
        let mut is_first = true;
        // One entry is used for all.
        let mut entry = HeaderEntry::default();
        while self.device.next_header(&mut entry)? {
            if std::mem::take(&mut is_first) {
                (0..AHEAD).for_each(|entry| self.expect_entry(entry));
            }
            self.expect_entry(AHEAD);
            self.counters.header_entries += 1;
            if header_entry::KIND.get(&entry.metadata) == u64::from(header_entry::KIND_EVENT) {
                self.take_event(&entry);
            } else {
                self.take_packet(now_ns, &entry);
            }
        }
        if !is_first {
            self.device.return_headers()?;
        }
        Ok(())
    }

    fn take_event(&mut self, entry: &HeaderEntry) {
        let code = header_entry::DISPOSITION.get(&entry.metadata) as u8;
        let flow = header_entry::FLOW.get(&entry.metadata) as u16;
        let generation = header_entry::GENERATION.get(&entry.metadata) as u8;
        let position = header_entry::EVENT_VALUE.get(&entry.metadata) as u32;
        if flow == header_entry::FLOW_NONE {
            self.counters.wire_changes += 1;
            return;
        }
        let error = SendError::from_code(code);
        if error == Some(SendError::ReadFailed) {
            // A ring that stops says so by an event of no flow of its owner.
            self.device.suspect(entry.owner);
        }
        let of_flow = self.connections.of_flow(flow, generation);
        let connection = of_flow.and_then(|id| Some((id, self.connections.get(id)?)));
        let of_flow = connection.filter(|(_, c)| c.owner == entry.owner).map(|(id, c)| {
            let send = c.send.as_ref();
            (id, send.is_some_and(|send| send.has_passed(position)))
        });
        let bounce = || self.bounce_of(flow, generation)?.sender(position);
        let Some((id, is_passed)) = of_flow.or_else(bounce) else { return };
        match error {
            // A repetition that crossed its acknowledgement, before or after the card looked up its
            // flow. What of it is not acknowledged TCP will repeat.
            Some(SendError::StaleSend) => self.counters.overtaken_sends += 1,
            Some(SendError::SendNoSegment) if is_passed => self.counters.overtaken_sends += 1,
            _ => self.fail(id, Failure::SendFailed { error }),
        }
    }

    fn take_packet(&mut self, now_ns: u64, entry: &HeaderEntry) {
        if header_entry::UNFLUSHED.get(&entry.metadata) == 1 {
            // The payload may not be visible, so the transport must not acknowledge it.
            let flow = header_entry::FLOW.get(&entry.metadata) as u16;
            let generation = header_entry::GENERATION.get(&entry.metadata) as u8;
            if let Some(id) = self.connections.of_flow(flow, generation) {
                self.fail(id, Failure::Unflushed { flow });
            }
            return;
        }
        if let Some(run) = &entry.run {
            self.counters.run_entries += 1;
            self.counters.run_packets += u64::from(run.packets);
        }
        let code = header_entry::DISPOSITION.get(&entry.metadata) as u8;
        let disposition = Disposition::from_code(code);
        match disposition {
            Some(Disposition::Unverified) => self.counters.withheld_fragments += 1,
            Some(Disposition::NotTransport) => self.take_frame(now_ns, entry),
            // The keys of flows are of the protocol alone; other packets may be of anything.
            _ if is_of_protocol(entry) => {
                self.show_packet(now_ns, EntryPacket::of(entry, disposition, now_ns))
            }
            _ => self.take_frame(now_ns, entry),
        }
    }

    /// Takes a whole frame that the card did not split. After IPv6 extension headers it may still
    /// be TCP. It is then verified and split here; otherwise the protocol would accept bytes that
    /// are not kept.
    fn take_frame(&mut self, now_ns: u64, entry: &HeaderEntry) {
        let mut frame = entry.header.to_vec();
        frame.extend(entry.deferred.iter().flatten());
        if is_ipv6_fragment(&frame) {
            self.counters.withheld_fragments += 1;
            return;
        }
        let (Some(parsed), Ok(layout)) = (parse_tcp(&frame), TcpLayout::parse(&frame)) else {
            let taken = self.protocol.arrive_frame(now_ns, &frame);
            return self.note_protocol(taken);
        };
        let end = layout.payload + layout.payload_bytes;
        if end > frame.len() || tcp_checksum(&frame, &layout) != 0 {
            self.counters.withheld_broken += 1;
            return;
        }
        let payload = &frame[layout.payload..end];
        let received = Packet {
            header: &frame[..layout.payload],
            l4_offset: layout.segment,
            position: parsed.sequence,
            payload_bytes: payload.len() as u32,
            payload: match payload {
                [] => PacketPayload::Nowhere,
                _ => PacketPayload::Deferred(payload),
            },
            arrived_ns: now_ns,
            run: None,
            has_room: true,
        };
        let (flow, hit) = (None, None);
        self.show_packet(now_ns, EntryPacket { received, flow, hit, first: 0 });
    }

    /// Takes a packet whose payload the card has placed behind the end of a buffer that was
    /// truncated: as if the payload had been deferred.
    #[cold]
    fn take_misplaced(
        &mut self,
        now_ns: u64,
        (id, misplaced): (ConnectionId, Misplaced),
        packet: EntryPacket<'_>,
    ) {
        let Misplaced::Behind(region, offset) = misplaced else {
            self.counters.withheld_headers += 1;
            return;
        };
        let bytes = packet.received.payload_bytes as usize;
        match self.copier.read(region, offset, bytes) {
            Ok(payload) => {
                let payload = PacketPayload::Deferred(&payload);
                let received = Packet { payload, ..packet.received };
                self.show_packet(now_ns, EntryPacket { received, ..packet });
            }
            Err(error) => self.fail(id, Failure::of(&error)),
        }
    }

    /// Shows a packet to the protocol. An error of the protocol ends the packet's connection.
    fn show_packet(&mut self, now_ns: u64, packet: EntryPacket<'_>) {
        let installed = self.find_connection(&packet);
        let Some(id) = installed else {
            let taken = self.protocol.arrive_without_flow(now_ns, &packet.received);
            return self.note_protocol(taken);
        };
        if let Err(error) = self.show_packet_of(id, now_ns, packet) {
            self.fail(id, Failure::of(&error));
        }
    }

    fn show_packet_of(
        &mut self,
        id: ConnectionId,
        now_ns: u64,
        mut packet: EntryPacket<'_>,
    ) -> Result<()> {
        let Some(connection) = self.connections.get_mut(id) else { return Ok(()) };
        if let Some(misplaced) = connection.find_misplaced(&packet) {
            self.take_misplaced(now_ns, (id, misplaced), packet);
            return Ok(());
        }
        let index = connection.index();
        let room = connection.room_of(&packet.received);
        if room == Room::Budget {
            if let Some(receive) = &mut connection.receive {
                receive.set_room(self.budget.room_bytes(connection.domain));
            }
            packet.received.has_room = connection.has_room(&packet.received);
        }
        let is_its_own = connection.owns(&packet);
        let mut stays_at_rest = false;
        let arrival = match is_its_own {
            // After an error nothing of it was accepted, and it may lie over what was.
            true => self.protocol.arrive(now_ns, index, &packet.received),
            false => Ok(Verdict::Refused.into()),
        };
        let arrival = arrival.inspect_err(|_| connection.note_overwritten(&packet))?;
        let to = arrival.acknowledged_to;
        let is_quiet = to == 0 || connection.take_acknowledged(to);
        let is_kept = match arrival.verdict {
            // Nothing of the receive side changes.
            Verdict::Taken { .. } if room == Room::Nothing => {
                if !is_quiet {
                    self.connections.touch(id);
                }
                return Ok(());
            }
            Verdict::Taken { accepted_to } => {
                let is_kept = connection.keep(&packet.received, Doubt::None);
                connection.take_accepted(accepted_to);
                stays_at_rest = room != Room::Budget && connection.absorb();
                is_kept
            }
            Verdict::Later(doubt) => {
                let is_kept = connection.keep(&packet.received, doubt);
                if is_kept {
                    self.protocol.take_later(now_ns, index, &packet.received)?;
                }
                is_kept
            }
            Verdict::Refused => {
                connection.note_overwritten(&packet);
                is_its_own
            }
            Verdict::Ignored => is_its_own,
        };
        self.counters.withheld_headers += u64::from(!is_kept);
        if room == Room::Budget || stays_at_rest {
            connection.charge(&mut self.budget);
        }
        if !stays_at_rest || !is_quiet {
            self.connections.touch(id);
        }
        Ok(())
    }

    /// The connection of a packet, once its flow is being installed: that of the flow which the
    /// card found, or the one that the protocol knows.
    fn find_connection(&self, packet: &EntryPacket<'_>) -> Option<ConnectionId> {
        let by_flow = packet.hit.and_then(|name| self.connections.installed_flow(name));
        by_flow.or_else(|| {
            let index = self.protocol.flow_of(&packet.received)?;
            let id = self.connections.of_index(index)?;
            let connection = self.connections.get(id);
            connection.filter(|connection| connection.is_installed())?;
            Some(id)
        })
    }
}

/// Whether a packet that the card has split is one of the protocol: of a flow, of a header profile,
/// or TCP.
fn is_of_protocol(entry: &HeaderEntry) -> bool {
    header_entry::FLOW.get(&entry.metadata) != u64::from(header_entry::FLOW_NONE)
        || header_entry::PROFILE.get(&entry.metadata) != 0
        || parse_tcp(&entry.header).is_some()
}
