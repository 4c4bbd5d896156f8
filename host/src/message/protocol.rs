//! The protocol of messages, one flow for each.
//!
//! ```text
//!   expected ─► flow with the message's number in its key ─► data taken, position acknowledged
//!   sent ─────► flow without a key ─► data up to the window ─► acknowledged, or sent again
//! ```

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;

use super::header::{key, profile, Header, Meaning, Station, PROFILE};
use super::inbox::Incoming;
use super::outbox::Outgoing;
use crate::error::protocol::ProtocolError;
use crate::error::{HostError, Result};
use crate::protocol::{
    Arrival, ConnectOptions, FlowIndex, FlowKey, HeaderSink, Install, OutgoingHeader,
    OutgoingPayload, Protocol, ProtocolEvent, Segment, Verdict,
};
use crate::records::profile::Profile;
use crate::transport::{NextTimer, TransportError};

/// Names a message: address of the other end, and number given by the sender.
type Name = (SocketAddr, u64);

/// Complete messages that are remembered, to acknowledge repeated packets.
const REMEMBERED_MAX: usize = 1024;

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
    transfers: Vec<Option<Transfer>>,
    incoming: HashMap<Name, FlowIndex>,
    outgoing: HashMap<Name, FlowIndex>,
    remembered: VecDeque<(Name, Station, u32)>,
    /// Acknowledgements of complete messages that are due.
    repeated: Vec<(Station, u64, u32)>,
    events: VecDeque<ProtocolEvent>,
}

impl Messages {
    /// The protocol of a station, with packets of up to `payload_bytes_max` bytes of payload.
    pub fn new(local: Station, payload_bytes_max: u32) -> Self {
        Self {
            local,
            payload_bytes_max,
            transfers: Vec::new(),
            incoming: HashMap::new(),
            outgoing: HashMap::new(),
            remembered: VecDeque::new(),
            repeated: Vec::new(),
            events: VecDeque::new(),
        }
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
                if incoming.complete_to() == incoming.bytes {
                    if self.remembered.len() == REMEMBERED_MAX {
                        self.remembered.pop_front();
                    }
                    let (from, bytes) = (incoming.from, incoming.bytes);
                    self.remembered.push_back((name, from, bytes));
                }
            }
            Transfer::Outgoing(outgoing) => {
                let name = (outgoing.to.address, outgoing.message);
                self.outgoing.remove(&name);
            }
        }
        self.events.retain(|event| event.flow() != flow);
        Ok(())
    }

    fn take_acknowledgement(&mut self, name: Name, position: u32, now_ns: u64) {
        let Some(&flow) = self.outgoing.get(&name) else {
            return;
        };
        if let Some(Transfer::Outgoing(outgoing)) = self.transfer_mut(flow) {
            outgoing.acknowledge(position, now_ns);
            let to = outgoing.acknowledged_bytes().into();
            self.events.push_back(ProtocolEvent::Acknowledged { flow, to });
        }
    }

    fn acknowledgement<'a>(
        &self,
        to: &Station,
        (message, position, bytes): (u64, u32, u32),
        packet: &'a mut Vec<u8>,
    ) -> OutgoingHeader<'a> {
        let header = Header { message, bytes, meaning: Meaning::Acknowledge(position) };
        let layers;
        (*packet, layers) = header.packet(&self.local, to, 0);
        OutgoingHeader { flow: None, bytes: packet, layers: Some(layers), payload: None }
    }

    fn send_acknowledgements(&mut self, sink: &mut dyn HeaderSink) -> Result<()> {
        let mut packet = Vec::new();
        while let Some((to, message, bytes)) = self.repeated.pop() {
            let acknowledgement = self.acknowledgement(&to, (message, bytes, bytes), &mut packet);
            sink.send(&acknowledgement)?;
        }
        for at in 0..self.transfers.len() {
            let Some(Transfer::Incoming(incoming)) = &mut self.transfers[at] else {
                continue;
            };
            if !std::mem::take(&mut incoming.acknowledgement_due) {
                continue;
            }
            let (from, position) = (incoming.from, incoming.complete_to());
            let numbers = (incoming.message, position, incoming.bytes);
            sink.send(&self.acknowledgement(&from, numbers, &mut packet))?;
        }
        Ok(())
    }

    fn send_data(&mut self, now_ns: u64, sink: &mut dyn HeaderSink) -> Result<()> {
        for (transfer, index) in self.transfers.iter_mut().zip(0..) {
            let Some(Transfer::Outgoing(outgoing)) = transfer else {
                continue;
            };
            while outgoing.is_offered && sink.has_room_for(FlowIndex(index)) {
                let Some((position, bytes)) = outgoing.packet(self.payload_bytes_max, now_ns)
                else {
                    break;
                };
                let header = Header {
                    message: outgoing.message,
                    bytes: outgoing.bytes,
                    meaning: Meaning::Data(position),
                };
                let (packet, layers) = header.packet(&self.local, &outgoing.to, bytes as usize);
                sink.send(&OutgoingHeader {
                    flow: Some(FlowIndex(index)),
                    bytes: &packet,
                    layers: Some(layers),
                    payload: Some(OutgoingPayload { position, bytes, mss_bytes: bytes }),
                })?;
            }
        }
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
        let (names, transfer) = match remote.is_incoming {
            true => {
                let incoming = Incoming::new(station, message, remote.bytes);
                (&mut self.incoming, Transfer::Incoming(incoming))
            }
            false => {
                let outgoing = Outgoing::new(station, message, remote.bytes);
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

    fn arrive(&mut self, now_ns: u64, flow: FlowIndex, segment: &Segment<'_>) -> Result<Arrival> {
        let Some((from, header)) = Header::read(segment.header, segment.l4_offset) else {
            return Ok(Verdict::Refused.into());
        };
        if let Meaning::Acknowledge(position) = header.meaning {
            // Of a message that is sent the other way under the same number.
            self.take_acknowledgement((from, header.message), position, now_ns);
            return Ok(Verdict::Refused.into());
        }
        let verdict = match self.transfer_mut(flow) {
            Some(Transfer::Incoming(incoming)) => incoming.take(segment),
            _ => Verdict::Refused,
        };
        Ok(verdict.into())
    }

    fn flow_of(&self, segment: &Segment<'_>) -> Option<FlowIndex> {
        let (from, header) = Header::read(segment.header, segment.l4_offset)?;
        match header.meaning {
            Meaning::Data(_) => self.incoming.get(&(from, header.message)).copied(),
            Meaning::Acknowledge(_) => None,
        }
    }

    /// Acknowledgements have no flow; nor has the data of a message that is complete.
    fn arrive_without_flow(&mut self, now_ns: u64, segment: &Segment<'_>) -> Result<()> {
        let Some((from, header)) = Header::read(segment.header, segment.l4_offset) else {
            return Ok(());
        };
        let name = (from, header.message);
        match header.meaning {
            Meaning::Acknowledge(position) => {
                self.take_acknowledgement(name, position, now_ns);
            }
            Meaning::Data(_) => {
                let known = self.remembered.iter().find(|(other, ..)| *other == name);
                if let Some(&(_, to, bytes)) = known {
                    self.repeated.push((to, header.message, bytes));
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
        }
    }

    fn advance(&mut self, _now_ns: u64) -> Result<()> {
        Ok(())
    }

    fn event(&mut self) -> Option<ProtocolEvent> {
        self.events.pop_front()
    }

    fn transmit(&mut self, now_ns: u64, sink: &mut dyn HeaderSink) -> Result<()> {
        self.send_acknowledgements(sink)?;
        self.send_data(now_ns, sink)
    }

    fn deadline(&mut self) -> NextTimer {
        let outgoing = self.transfers.iter().filter_map(|transfer| match transfer {
            Some(Transfer::Outgoing(outgoing)) => outgoing.deadline_ns(),
            _ => None,
        });
        outgoing.min().map_or(NextTimer::Never, NextTimer::At)
    }
}
