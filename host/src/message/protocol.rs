//! The protocol of messages, one flow for each.
//!
//! ```text
//!   expected ─► flow with the message's number in its key ─► data taken, position acknowledged
//!   sent ─────► flow without a key ─► data up to the window ─► acknowledged, or sent again
//!   said ─────► channel of the station ─► packets without a flow ─► told
//! ```

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;

use super::channels::Channels;
use super::header::{key, profile, Header, Meaning, Station, MESSAGES_END, PROFILE};
use super::inbox::{read_blocks, Incoming};
use super::outbox::Outgoing;
use super::path::{InOrder, Path};
use crate::control::flow::ranges::RangeSet;
use crate::error::protocol::ProtocolError;
use crate::error::{HostError, Result};
use crate::protocol::{
    Arrival, ConnectOptions, FlowIndex, FlowKey, HeaderSink, Install, OutgoingHeader,
    OutgoingPayload, Packet, PacketPayload, Protocol, ProtocolEvent, Verdict,
};
use crate::records::profile::Profile;
use crate::transport::{NextTimer, TransportError};

/// Names a message: address of the other end, and number given by the sender.
type Name = (SocketAddr, u64);

/// The far end of a connection: one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    /// The other station.
    pub station: Station,
    /// Number of the message, given by its sender.
    pub message: u64,
    /// Bytes of the message.
    pub bytes: u32,
    /// It is received here, not sent.
    pub is_incoming: bool,
}

/// A message in transfer.
#[derive(Debug)]
enum Transfer {
    Incoming(Incoming),
    Outgoing(Outgoing),
}

/// The protocol. See the head of this file.
#[derive(Debug)]
pub struct Messages {
    local: Station,
    payload_bytes_max: u32,
    /// Most payload of packets to a station, where that is less.
    limits: HashMap<SocketAddr, u32>,
    /// What is in flight to each station.
    paths: HashMap<SocketAddr, Path>,
    transfers: Vec<Option<Transfer>>,
    incoming: HashMap<Name, FlowIndex>,
    outgoing: HashMap<Name, FlowIndex>,
    /// Incoming messages whose acknowledgement is due, and outgoing ones of which something is to
    /// be sent, the oldest first; among them some that are neither any more. Others are not looked
    /// at.
    due: Vec<FlowIndex>,
    unsent: Vec<FlowIndex>,
    /// Numbers of the messages of each station that are complete: their packets are acknowledged
    /// again. Numbers in order take no memory.
    complete: HashMap<SocketAddr, RangeSet>,
    /// Acknowledgements of complete messages that are due.
    repeated: Vec<(Station, u64, u32)>,
    events: VecDeque<ProtocolEvent>,
    /// Packets that were taken for lost and sent again.
    sent_again: u64,
    channels: Channels,
}

impl Messages {
    /// The protocol of a station, with packets of up to `payload_bytes_max` bytes of payload.
    /// `incarnation` names this opening of the card: another one than the last.
    pub fn new(local: Station, payload_bytes_max: u32, incarnation: u64) -> Self {
        Self {
            channels: Channels::new(local, incarnation),
            limits: HashMap::new(),
            paths: HashMap::new(),
            local,
            payload_bytes_max,
            transfers: Vec::new(),
            incoming: HashMap::new(),
            outgoing: HashMap::new(),
            due: Vec::new(),
            unsent: Vec::new(),
            complete: HashMap::new(),
            repeated: Vec::new(),
            events: VecDeque::new(),
            sent_again: 0,
        }
    }

    /// Packets that were taken for lost and sent again. Where one was not, both copies arrive.
    pub fn sent_again(&self) -> u64 {
        self.sent_again
    }

    fn transfer(&self, flow: FlowIndex) -> Result<&Transfer> {
        let transfer = self.transfers.get(usize::from(flow.0));
        let transfer = transfer.and_then(Option::as_ref);
        transfer.ok_or(HostError::Protocol(ProtocolError::UnknownFlow(flow.0)))
    }

    fn transfer_mut(&mut self, flow: FlowIndex) -> Option<&mut Transfer> {
        self.transfers.get_mut(usize::from(flow.0))?.as_mut()
    }

    /// Forgets a message; one that is complete is remembered.
    fn forget(&mut self, flow: FlowIndex) -> Result<()> {
        let place = self.transfers.get_mut(usize::from(flow.0));
        let transfer = place.and_then(Option::take);
        match transfer.ok_or(HostError::Protocol(ProtocolError::UnknownFlow(flow.0)))? {
            Transfer::Incoming(incoming) => {
                let name = (incoming.from.address, incoming.message);
                self.incoming.remove(&name);
                if incoming.is_complete() {
                    let (from, message) = name;
                    self.complete.entry(from).or_default().insert(message, message + 1);
                }
            }
            Transfer::Outgoing(outgoing) => {
                let name = (outgoing.to.address, outgoing.message);
                self.outgoing.remove(&name);
                if let Some(path) = self.paths.get_mut(&outgoing.to.address) {
                    path.drop_bytes(outgoing.in_flight_bytes());
                }
            }
        }
        self.events.retain(|event| event.flow() != flow);
        Ok(())
    }

    fn take_acknowledgement(
        &mut self,
        name: Name,
        (position, blocks): (u32, &[(u32, u32)]),
        now_ns: u64,
    ) {
        let Some(&flow) = self.outgoing.get(&name) else {
            return;
        };
        let Some(Transfer::Outgoing(outgoing)) = self.transfer_mut(flow) else {
            return;
        };
        let delivered = outgoing.acknowledge(position, blocks, now_ns);
        let to = outgoing.acknowledged_bytes().into();
        let station = outgoing.to;
        self.channels.note_life(station, now_ns);
        if let Some(path) = self.paths.get_mut(&name.0) {
            path.acknowledge(&delivered, now_ns);
        }
        self.events.push_back(ProtocolEvent::Acknowledged { flow, to });
    }

    /// What was overtaken, or has not come for a timeout, is lost and sent again.
    fn find_lost(&mut self, now_ns: u64) {
        let (paths, transfers, unsent) = (&mut self.paths, &mut self.transfers, &mut self.unsent);
        for path in paths.values_mut() {
            let mut lose = |path: &mut Path, sent: InOrder| {
                let place = transfers.get_mut(usize::from(sent.flow.0)).and_then(Option::as_mut);
                let Some(Transfer::Outgoing(outgoing)) = place else {
                    return;
                };
                if outgoing.message != sent.message {
                    return;
                }
                if let Some(bytes) = outgoing.lose(sent.number, sent.order) {
                    if !std::mem::replace(&mut outgoing.is_unsent, true) {
                        unsent.push(sent.flow);
                    }
                    path.lose(sent.order, bytes, now_ns);
                }
            };
            while let Some(sent) = path.overtaken() {
                lose(path, sent);
            }
            for sent in path.expired(now_ns) {
                lose(path, sent);
            }
        }
    }

    fn acknowledgement<'a>(
        &self,
        to: &Station,
        (message, position, bytes): (u64, u32, u32),
        blocks: &[u8],
        packet: &'a mut Vec<u8>,
    ) -> OutgoingHeader<'a> {
        let header = Header { message, bytes, meaning: Meaning::Acknowledge(position) };
        let layers;
        (*packet, layers) = header.packet_with(&self.local, to, blocks, 0);
        OutgoingHeader { flow: None, bytes: packet, layers: Some(layers), payload: None }
    }

    fn send_acknowledgements(&mut self, now_ns: u64, sink: &mut dyn HeaderSink) -> Result<()> {
        let mut packet = Vec::new();
        while let Some((to, message, bytes)) = self.repeated.pop() {
            let acknowledgement =
                self.acknowledgement(&to, (message, bytes, bytes), &[], &mut packet);
            sink.send(&acknowledgement)?;
        }
        let mut due = std::mem::take(&mut self.due);
        for flow in due.drain(..) {
            let Some(Transfer::Incoming(incoming)) = self.transfer_mut(flow) else {
                continue;
            };
            if !std::mem::take(&mut incoming.acknowledgement_due) {
                continue;
            }
            let (from, position) = (incoming.from, incoming.complete_to());
            let numbers = (incoming.message, position, incoming.bytes());
            let blocks = incoming.blocks();
            self.channels.note_life(from, now_ns);
            sink.send(&self.acknowledgement(&from, numbers, &blocks, &mut packet))?;
        }
        self.due = due;
        Ok(())
    }

    /// The control messages.
    pub fn channels(&mut self) -> &mut Channels {
        &mut self.channels
    }

    /// Packets to a station carry no more than this.
    pub fn limit_payload(&mut self, station: Station, payload_bytes_max: u32) {
        let bytes_max = payload_bytes_max.min(self.payload_bytes_max);
        let before = self.limits.insert(station.address, bytes_max);
        let has_changed = before.unwrap_or(self.payload_bytes_max) != bytes_max;
        if let Some(path) = self.paths.get_mut(&station.address).filter(|_| has_changed) {
            path.change_payload(bytes_max);
        }
    }

    fn send_data(&mut self, now_ns: u64, sink: &mut dyn HeaderSink) -> Result<()> {
        let mut packet;
        let mut unsent = std::mem::take(&mut self.unsent);
        let mut kept = 0;
        for at in 0..unsent.len() {
            let flow = unsent[at];
            let place = self.transfers.get_mut(usize::from(flow.0)).and_then(Option::as_mut);
            let Some(Transfer::Outgoing(outgoing)) = place else {
                continue;
            };
            let Some(path) = self.paths.get_mut(&outgoing.to.address) else {
                continue;
            };
            while let Some((number, bytes)) = outgoing.next() {
                if !path.has_room(bytes) || !sink.has_room_for(flow) {
                    break;
                }
                let message = outgoing.message;
                self.sent_again += u64::from(outgoing.is_lost(number));
                let order = path.note_sent((flow, message, number), bytes, now_ns);
                let position = outgoing.note_sent(number, order, now_ns);
                let meaning = Meaning::Data(position);
                let header = Header { message, bytes: outgoing.bytes, meaning };
                let layers;
                (packet, layers) = header.packet(&self.local, &outgoing.to, bytes as usize);
                sink.send(&OutgoingHeader {
                    flow: Some(flow),
                    bytes: &packet,
                    layers: Some(layers),
                    payload: Some(OutgoingPayload { position, bytes, mss_bytes: bytes }),
                })?;
            }
            outgoing.is_unsent = outgoing.next().is_some();
            if outgoing.is_unsent {
                unsent[kept] = flow;
                kept += 1;
            }
        }
        unsent.truncate(kept);
        self.unsent = unsent;
        Ok(())
    }
}

impl Protocol for Messages {
    type Remote = Remote;

    fn profiles(&self) -> Vec<(u8, Profile)> {
        vec![(PROFILE, profile(self.local.address.port()))]
    }

    fn connect(
        &mut self,
        _now_ns: u64,
        flow: FlowIndex,
        remote: Remote,
        options: &ConnectOptions,
    ) -> Result<()> {
        if let Some(other) = options.local.filter(|local| *local != self.local.address) {
            return Err(TransportError::NotLocal(other.ip()).into());
        }
        let (station, message) = (remote.station, remote.message);
        if message >= MESSAGES_END {
            return Err(HostError::Protocol(ProtocolError::MessageNumber(message)));
        }
        let (names, transfer) = match remote.is_incoming {
            true => {
                let incoming = Incoming::new(station, message, remote.bytes);
                (&mut self.incoming, Transfer::Incoming(incoming))
            }
            false => {
                let limit = self.limits.get(&station.address).copied();
                let bytes_max = limit.unwrap_or(self.payload_bytes_max);
                let path = self.paths.entry(station.address);
                path.or_insert_with(|| Path::new(bytes_max));
                let outgoing = Outgoing::new(station, message, remote.bytes, bytes_max);
                (&mut self.outgoing, Transfer::Outgoing(outgoing))
            }
        };
        let name = (station.address, message);
        if names.contains_key(&name) {
            return Err(HostError::Protocol(ProtocolError::MessageKnown(message)));
        }
        names.insert(name, flow);
        let place = usize::from(flow.0);
        if self.transfers.len() <= place {
            self.transfers.resize_with(place + 1, || None);
        }
        self.transfers[place] = Some(transfer);
        self.events.push_back(ProtocolEvent::Opened(flow));
        Ok(())
    }

    fn addresses(&self, flow: FlowIndex) -> Result<(SocketAddr, SocketAddr)> {
        let remote = match self.transfer(flow)? {
            Transfer::Incoming(incoming) => incoming.from,
            Transfer::Outgoing(outgoing) => outgoing.to,
        };
        Ok((self.local.address, remote.address))
    }

    fn key(&self, flow: FlowIndex) -> Result<Option<FlowKey>> {
        Ok(match self.transfer(flow)? {
            Transfer::Incoming(incoming) => {
                let (from, message) = (incoming.from.address, incoming.message);
                Some(key(from, self.local.address, message))
            }
            Transfer::Outgoing(_) => None,
        })
    }

    fn install(&mut self, _flow: FlowIndex) -> Result<Install> {
        Ok(Install { profile: PROFILE, receive_first: 0, send_first: 0, early: Vec::new() })
    }

    fn finish(&mut self, _now_ns: u64, _flow: FlowIndex) -> Result<()> {
        Ok(())
    }

    fn close(&mut self, _now_ns: u64, flow: FlowIndex) -> Result<()> {
        self.forget(flow)
    }

    fn abort(&mut self, _now_ns: u64, flow: FlowIndex) -> Result<()> {
        self.forget(flow)
    }

    fn arrive(&mut self, _now_ns: u64, flow: FlowIndex, packet: &Packet<'_>) -> Result<Arrival> {
        let Some((_, header)) = Header::read(packet.header, packet.l4_offset) else {
            return Ok(Verdict::Refused.into());
        };
        let is_data = matches!(header.meaning, Meaning::Data(_));
        let Some(Transfer::Incoming(incoming)) = self.transfer_mut(flow).filter(|_| is_data) else {
            return Ok(Verdict::Refused.into());
        };
        let did_end = incoming.ends_early();
        let was_due = incoming.acknowledgement_due;
        let verdict = incoming.take(header.bytes, packet);
        let (ends_early, is_due) = (incoming.ends_early(), incoming.acknowledgement_due);
        if ends_early && !did_end {
            self.events.push_back(ProtocolEvent::EndOfStream(flow));
        }
        if is_due && !was_due {
            self.due.push(flow);
        }
        Ok(verdict.into())
    }

    fn flow_of(&self, packet: &Packet<'_>) -> Option<FlowIndex> {
        let (from, header) = Header::read(packet.header, packet.l4_offset)?;
        match header.meaning {
            Meaning::Data(_) => self.incoming.get(&(from, header.message)).copied(),
            _ => None,
        }
    }

    /// Acknowledgements and control messages have no flow; nor has the data of a message that is
    /// complete.
    fn arrive_without_flow(&mut self, now_ns: u64, packet: &Packet<'_>) -> Result<()> {
        let Some((from, header)) = Header::read(packet.header, packet.l4_offset) else {
            return Ok(());
        };
        let name = (from, header.message);
        match header.meaning {
            Meaning::Acknowledge(position) => {
                let blocks = match packet.payload {
                    PacketPayload::Deferred(content) => read_blocks(content),
                    _ => Vec::new(),
                };
                self.take_acknowledgement(name, (position, &blocks), now_ns);
            }
            Meaning::Data(_) => {
                let message = header.message;
                let complete = self.complete.get(&from);
                let is_known =
                    complete.is_some_and(|set| set.held_to(message, message + 1) > message);
                if let (true, Some(&mac)) = (is_known, packet.header[6..].first_chunk()) {
                    self.repeated.push((Station { mac, address: from }, message, header.bytes));
                }
            }
            Meaning::Control(_) | Meaning::Heard | Meaning::Probe => {
                if self.channels.hear(now_ns, (from, &header), packet) {
                    self.complete.remove(&from);
                }
            }
        }
        Ok(())
    }

    /// A message has its whole buffer from the start.
    fn extend_receive(&mut self, _now_ns: u64, _flow: FlowIndex, _end: u64) {}

    fn extend_send(&mut self, _now_ns: u64, flow: FlowIndex, end: u64) {
        if let Some(Transfer::Outgoing(outgoing)) = self.transfer_mut(flow) {
            outgoing.is_offered = end >= outgoing.bytes.into();
            if outgoing.is_offered && !std::mem::replace(&mut outgoing.is_unsent, true) {
                self.unsent.push(flow);
            }
        }
    }

    fn advance(&mut self, now_ns: u64) -> Result<()> {
        self.find_lost(now_ns);
        self.channels.find_lost(now_ns);
        Ok(())
    }

    fn event(&mut self) -> Option<ProtocolEvent> {
        self.events.pop_front()
    }

    fn transmit(&mut self, now_ns: u64, sink: &mut dyn HeaderSink) -> Result<()> {
        self.channels.transmit(now_ns, sink)?;
        self.send_acknowledgements(now_ns, sink)?;
        self.send_data(now_ns, sink)
    }

    fn deadline(&mut self) -> NextTimer {
        let paths = self.paths.values().filter_map(Path::deadline_ns);
        paths.chain(self.channels.deadline_ns()).min().map_or(NextTimer::Never, NextTimer::At)
    }
}
