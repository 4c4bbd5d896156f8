//! Our own TCP as a protocol of the provider: the engine of crate `tcp`, with addresses and flows.
//!
//! ```text
//!   Provider ── Protocol ──► TcpProtocol ─┬─► tcp::Endpoint    numbers, timers, what is sent next
//!        ▲                                ├─► Neighbours       ARP, NDP
//!        └── headers for the send ring ◄──┴── Route            Ethernet, IP, TCP
//! ```
//! The engine sees a header and the length of its payload, and says at once which bytes stand: so
//! nothing is inferred, and no payload passes the host.
//!
//! Invariants
//! 1. Payload that came beside the flow, before it was installed, is not accepted: the window is
//!    closed until then, and the peer sends it again.
//! 2. A header whose next machine is not known waits until that has answered, [`PARKED_MAX`] of
//!    them at most; one more, and one that nobody answers for, is dropped, as a wire would, and the
//!    engine repeats it.
//! 3. A connection that both ends have closed is no failure and is not reported as ended.
//!
//! Source: RFC 9293, 3.9 (interfaces); the engine names the clauses of all it does.

mod neighbours;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use ::tcp::connection::{Counters as TcpCounters, End, Event};
use ::tcp::endpoint::{Departure, OpenError};
use ::tcp::receive::Verdict as EngineVerdict;
use ::tcp::segment::{Codepoint, Timestamps};
use ::tcp::wire::{self, HEADER_BYTES_MAX};
use ::tcp::{Config, ConnectionId, Endpoint, Limits, Secret, Tuple};

use self::neighbours::Neighbours;
use crate::error::protocol::ProtocolError;
use crate::error::{HostError, Result};
use crate::failure::Failure;
use crate::headers::builder::{Route, Tcp};
use crate::headers::packet::{flow_key, parse_tcp};
use crate::protocol::{
    Arrival, ConnectOptions, FlowIndex, FlowKey, Guards, HeaderSink, Install, OutgoingHeader,
    OutgoingPayload, Packet, PacketPayload, Protocol, ProtocolEvent, Verdict,
};
use crate::transport::{LinkConfig, ListenerId, NextTimer, TransportError};

/// Most headers that wait for a link address.
pub const PARKED_MAX: usize = 64;
/// The first port of those that are chosen (RFC 6335, 6).
const PORT_FIRST: u16 = 49_152;
const PORTS: u16 = u16::MAX - PORT_FIRST;
const TCP_BYTES: usize = 20;
/// IP and TCP headers without options, bytes: with IPv4, with IPv6.
const HEADERS_BYTES: [u16; 2] = [40, 60];

/// A connection of the provider.
#[derive(Clone, Copy, Debug)]
struct Flow {
    id: ConnectionId,
    tuple: Tuple,
    is_installed: bool,
    /// Everything before is accepted.
    accepted_to: u64,
}

/// The protocol. See the head of this file.
#[derive(Debug)]
pub struct TcpProtocol {
    endpoint: Endpoint,
    mac: [u8; 6],
    neighbours: Neighbours,
    flows: Vec<Option<Flow>>,
    by_id: HashMap<ConnectionId, FlowIndex>,
    by_tuple: HashMap<Tuple, FlowIndex>,
    listeners: BTreeMap<ListenerId, (::tcp::ListenerId, SocketAddr)>,
    listeners_made: u32,
    next_port: u16,
    parked: VecDeque<Departure>,
}

fn unknown_listener(listener: ListenerId) -> HostError {
    TransportError::UnknownListener(listener).into()
}

/// What a segment says, whose header ends before its payload; `None` if it is no TCP.
fn read(packet: &Packet<'_>) -> Option<(Tuple, ::tcp::Segment)> {
    let header = parse_tcp(packet.header)?;
    let tcp = packet.header.get(header.l4_offset..)?;
    let mut read = wire::parse(tcp, packet.payload_bytes, Codepoint::NotCapable).ok()?;
    read.run = packet.run.map(|run| ::tcp::segment::Run {
        segment_bytes: run.segment_bytes,
        acknowledgement: run.acknowledgement,
        window: run.window,
        timestamps: run.timestamps.map(|(value, echo)| Timestamps { value, echo }),
    });
    Some((Tuple { local: header.destination, remote: header.source }, read))
}

impl TcpProtocol {
    /// On a link, with settings of the engine whose segment size is that of the link. The secret is
    /// to be drawn anew at each start (RFC 9293, 3.4.1).
    pub fn new(link: &LinkConfig, config: Config, secret: Secret) -> Self {
        let has_ipv6 = link.addresses.iter().any(|own| own.address.is_ipv6());
        let headers_bytes = HEADERS_BYTES[usize::from(has_ipv6)];
        let config = Config { mss_bytes: link.mtu_bytes - headers_bytes, ..config };
        Self {
            endpoint: Endpoint::new(config, secret, Limits::default()),
            mac: link.mac,
            neighbours: Neighbours::new(link),
            flows: Vec::new(),
            by_id: HashMap::new(),
            by_tuple: HashMap::new(),
            listeners: BTreeMap::new(),
            listeners_made: 0,
            next_port: 0,
            parked: VecDeque::new(),
        }
    }

    /// What the connection between two ends has counted; `None`: there is none.
    pub fn counters_between(&self, local: SocketAddr, remote: SocketAddr) -> Option<TcpCounters> {
        let index = self.by_tuple.get(&Tuple { local, remote })?;
        let flow = self.flow(*index).ok()?;
        self.endpoint.connection(flow.id).map(|connection| connection.counters())
    }

    fn flow(&self, index: FlowIndex) -> Result<&Flow> {
        let flow = self.flows.get(usize::from(index.0)).and_then(Option::as_ref);
        flow.ok_or(HostError::Protocol(ProtocolError::UnknownFlow(index.0)))
    }

    fn flow_mut(&mut self, index: FlowIndex) -> Result<&mut Flow> {
        let flow = self.flows.get_mut(usize::from(index.0)).and_then(Option::as_mut);
        flow.ok_or(HostError::Protocol(ProtocolError::UnknownFlow(index.0)))
    }

    /// A connection of the engine gets the provider's name.
    fn bind(&mut self, index: FlowIndex, id: ConnectionId, tuple: Tuple) {
        let place = usize::from(index.0);
        if self.flows.len() <= place {
            self.flows.resize(place + 1, None);
        }
        self.flows[place] = Some(Flow { id, tuple, is_installed: false, accepted_to: 0 });
        self.by_id.insert(id, index);
        self.by_tuple.insert(tuple, index);
    }

    /// The provider gives its name back.
    fn unbind(&mut self, index: FlowIndex) -> Result<ConnectionId> {
        let flow = self.flows.get_mut(usize::from(index.0)).and_then(Option::take);
        let flow = flow.ok_or(HostError::Protocol(ProtocolError::UnknownFlow(index.0)))?;
        self.by_id.remove(&flow.id);
        self.by_tuple.remove(&flow.tuple);
        Ok(flow.id)
    }

    /// The local end of a connection to be opened; with port 0 it is chosen.
    fn local_end(&self, remote: SocketAddr, asked: Option<SocketAddr>) -> Result<SocketAddr> {
        let asked_ip = asked.map(|asked| asked.ip()).filter(|ip| !ip.is_unspecified());
        if let Some(ip) = asked_ip.filter(|ip| !self.neighbours.is_ours(*ip)) {
            return Err(TransportError::NotLocal(ip).into());
        }
        let reached = self.neighbours.local_for(remote.ip());
        let reached = reached.ok_or(TransportError::Unreachable(remote.ip()))?;
        let ip = asked_ip.unwrap_or(reached);
        Ok(SocketAddr::new(ip, asked.map_or(0, |asked| asked.port())))
    }

    /// The next of the ports that are chosen, in turn. It may be in use.
    fn take_port(&mut self, ip: IpAddr) -> SocketAddr {
        let port = PORT_FIRST + self.next_port;
        self.next_port = (self.next_port + 1) % PORTS;
        SocketAddr::new(ip, port)
    }

    /// Opens a connection from a port that is free for it.
    fn open(&mut self, now_ns: u64, tuple: Tuple) -> Result<(ConnectionId, Tuple)> {
        if tuple.local.port() != 0 {
            let opened = self.endpoint.connect(now_ns, tuple);
            return match opened {
                Ok(id) => Ok((id, tuple)),
                Err(OpenError::Exists(_) | OpenError::Waits(_)) => {
                    Err(TransportError::AddressInUse(tuple.local).into())
                }
            };
        }
        for _ in 0..PORTS {
            let local = self.take_port(tuple.local.ip());
            let tuple = Tuple { local, ..tuple };
            if let Ok(id) = self.endpoint.connect(now_ns, tuple) {
                return Ok((id, tuple));
            }
        }
        Err(TransportError::PortsExhausted { ports: PORTS.into() }.into())
    }

    /// Listens on a port that nobody listens on.
    fn listen_anywhere(&mut self, ip: IpAddr) -> Result<(::tcp::ListenerId, SocketAddr)> {
        let found = (0..PORTS).find_map(|_| {
            let local = self.take_port(ip);
            self.endpoint.listen(local).ok().map(|listener| (listener, local))
        });
        found.ok_or_else(|| TransportError::PortsExhausted { ports: PORTS.into() }.into())
    }

    /// Sends a header, if its next machine is known; otherwise it waits for that.
    fn depart(
        &mut self,
        now_ns: u64,
        departure: Departure,
        sink: &mut dyn HeaderSink,
    ) -> Result<()> {
        let Tuple { local, remote } = departure.tuple;
        let Some(next) = self.neighbours.mac_of(now_ns, remote.ip()) else {
            if self.parked.len() < PARKED_MAX {
                self.parked.push_back(departure);
            }
            return Ok(());
        };
        let index = departure.connection.and_then(|id| self.by_id.get(&id).copied());
        let is_installed =
            |index: &FlowIndex| self.flow(*index).is_ok_and(|flow| flow.is_installed);
        let flow = index.filter(is_installed);
        let (segment, mss_bytes) = (&departure.outgoing.segment, departure.outgoing.mss_bytes);
        let bytes = segment.payload_bytes;
        if bytes > 0 && flow.is_none() {
            // It was given up meanwhile: its payload is nowhere any more.
            return Ok(());
        }
        let mut tcp = [0; HEADER_BYTES_MAX];
        let tcp_bytes = wire::emit(segment, [local.port(), remote.port()], &mut tcp);
        let route = Route { macs: [self.mac, next], from: local, to: remote };
        let header = Tcp {
            sequence: segment.sequence,
            acknowledgement: segment.acknowledgement,
            flags: segment.flags.0,
            window: segment.window,
            options: &tcp[TCP_BYTES..tcp_bytes],
        };
        let (header, layers) = route.tcp(&header, bytes as usize);
        let position = segment.sequence;
        let payload = (bytes > 0).then_some(OutgoingPayload { position, bytes, mss_bytes });
        sink.send(&OutgoingHeader { flow, bytes: &header, layers: Some(layers), payload })
    }

    /// What waited for a link address: it goes where that is known now, and is dropped where
    /// nobody is asked any more.
    fn unpark(&mut self, now_ns: u64, sink: &mut dyn HeaderSink) -> Result<()> {
        for departure in std::mem::take(&mut self.parked) {
            let remote = departure.tuple.remote.ip();
            let is_known = self.neighbours.is_known(remote);
            match is_known && sink.has_room() {
                true => self.depart(now_ns, departure, sink)?,
                false if is_known || self.neighbours.is_asked(remote) => {
                    self.parked.push_back(departure);
                }
                false => {}
            }
        }
        Ok(())
    }

    /// The questions and answers of the link, before anything else: without them nothing goes.
    fn transmit_frames(&mut self, sink: &mut dyn HeaderSink) -> Result<()> {
        while sink.has_room() {
            let Some(frame) = self.neighbours.frame() else { break };
            sink.send(&OutgoingHeader { flow: None, bytes: &frame, layers: None, payload: None })?;
        }
        Ok(())
    }

    /// An event in the provider's terms; `None` for one that is nothing to it.
    fn translate(&self, id: ConnectionId, event: Event) -> Option<ProtocolEvent> {
        let flow = *self.by_id.get(&id)?;
        Some(match event {
            Event::Opened => ProtocolEvent::Opened(flow),
            Event::Accepted(to) => ProtocolEvent::Accepted { flow, to },
            Event::Acknowledged(to) => ProtocolEvent::Acknowledged { flow, to },
            Event::EndOfStream => ProtocolEvent::EndOfStream(flow),
            Event::Ended(end) => {
                let errno = match end {
                    End::Closed => return None,
                    End::Reset => libc::ECONNRESET,
                    End::Refused => libc::ECONNREFUSED,
                    End::TimedOut(_) => libc::ETIMEDOUT,
                    End::Unreachable(_) => libc::EHOSTUNREACH,
                    End::Aborted => libc::ECONNABORTED,
                };
                let accepted_to = self.flow(flow).map_or(0, |flow| flow.accepted_to);
                let reason = Failure::protocol(errno, end.to_string());
                ProtocolEvent::Ended { flow, reason, accepted_to }
            }
        })
    }
}

impl Protocol for TcpProtocol {
    type Remote = SocketAddr;

    fn connect(
        &mut self,
        now_ns: u64,
        flow: FlowIndex,
        remote: SocketAddr,
        options: &ConnectOptions,
    ) -> Result<()> {
        let local = self.local_end(remote, options.local)?;
        let (id, tuple) = self.open(now_ns, Tuple { local, remote })?;
        self.bind(flow, id, tuple);
        Ok(())
    }

    fn listen(&mut self, local: SocketAddr) -> Result<ListenerId> {
        let is_ours = local.ip().is_unspecified() || self.neighbours.is_ours(local.ip());
        if !is_ours {
            return Err(TransportError::NotLocal(local.ip()).into());
        }
        let (listener, local) = match local.port() {
            0 => self.listen_anywhere(local.ip())?,
            _ => {
                let listener = self.endpoint.listen(local);
                (listener.map_err(|_| TransportError::AddressInUse(local))?, local)
            }
        };
        self.listeners_made += 1;
        let id = ListenerId(self.listeners_made);
        self.listeners.insert(id, (listener, local));
        Ok(id)
    }

    fn listener_address(&self, listener: ListenerId) -> Result<SocketAddr> {
        let found = self.listeners.get(&listener).map(|(_, local)| *local);
        found.ok_or_else(|| unknown_listener(listener))
    }

    fn unlisten(&mut self, listener: ListenerId) -> Result<()> {
        let found = self.listeners.remove(&listener);
        let (id, _) = found.ok_or_else(|| unknown_listener(listener))?;
        self.endpoint.unlisten(id);
        Ok(())
    }

    fn accept(&mut self, _now_ns: u64, listener: ListenerId, flow: FlowIndex) -> Result<bool> {
        let found = self.listeners.get(&listener).map(|(id, _)| *id);
        let id = self.endpoint.accept(found.ok_or_else(|| unknown_listener(listener))?);
        let accepted = id.and_then(|id| Some((id, self.endpoint.tuple(id)?)));
        if let Some((id, tuple)) = accepted {
            self.bind(flow, id, tuple);
        }
        Ok(accepted.is_some())
    }

    fn refuse(&mut self, _now_ns: u64, listener: ListenerId) -> Result<bool> {
        let found = self.listeners.get(&listener).map(|(id, _)| *id);
        Ok(self.endpoint.refuse(found.ok_or_else(|| unknown_listener(listener))?))
    }

    fn addresses(&self, flow: FlowIndex) -> Result<(SocketAddr, SocketAddr)> {
        self.flow(flow).map(|flow| (flow.tuple.local, flow.tuple.remote))
    }

    fn key(&self, flow: FlowIndex) -> Result<Option<FlowKey>> {
        let (local, remote) = self.addresses(flow)?;
        Ok(Some(flow_key(remote, local)))
    }

    fn install(&mut self, index: FlowIndex) -> Result<Install> {
        let flow = self.flow_mut(index)?;
        flow.is_installed = true;
        let id = flow.id;
        let positions = self.endpoint.connection(id).and_then(|it| it.first_positions());
        let (receive_first, send_first) =
            positions.ok_or(HostError::Protocol(ProtocolError::UnknownFlow(index.0)))?;
        Ok(Install { profile: 0, receive_first, send_first, early: Vec::new() })
    }

    fn guards(&self, flow: FlowIndex, send_floor: u32) -> Guards {
        let id = self.flow(flow).map(|flow| flow.id);
        let connection = id.ok().and_then(|id| self.endpoint.connection(id));
        let timestamp_floor = connection.and_then(|it| it.guards().1);
        Guards { ack_low: send_floor, timestamp_floor }
    }

    fn finish(&mut self, _now_ns: u64, flow: FlowIndex) -> Result<()> {
        let id = self.flow(flow)?.id;
        self.endpoint.finish(id);
        Ok(())
    }

    fn close(&mut self, now_ns: u64, flow: FlowIndex) -> Result<()> {
        let id = self.unbind(flow)?;
        self.endpoint.release(now_ns, id);
        Ok(())
    }

    fn abort(&mut self, _now_ns: u64, flow: FlowIndex) -> Result<()> {
        let id = self.unbind(flow)?;
        self.endpoint.abort(id);
        Ok(())
    }

    fn arrive(&mut self, now_ns: u64, index: FlowIndex, packet: &Packet<'_>) -> Result<Arrival> {
        let Flow { id, tuple, .. } = *self.flow(index)?;
        let Some((_, read)) = read(packet) else { return Ok(Verdict::Refused.into()) };
        let is_kept = packet.payload != PacketPayload::Nowhere || packet.payload_bytes == 0;
        let has_room = packet.has_room && is_kept;
        let (_, arrival) = self.endpoint.arrive(now_ns, &tuple, &read, has_room);
        let flow = self.flow_mut(index)?;
        flow.accepted_to = flow.accepted_to.max(arrival.accepted_to);
        let connection = self.endpoint.connection(id);
        let verdict = match arrival.verdict {
            // It may lie over what was accepted, also after both ends have closed.
            EngineVerdict::Refused if connection.is_some_and(|it| it.is_repetition(&read)) => {
                Verdict::Ignored
            }
            EngineVerdict::Taken(_) => Verdict::Taken { accepted_to: arrival.accepted_to },
            EngineVerdict::Ignored => Verdict::Ignored,
            EngineVerdict::Refused => Verdict::Refused,
        };
        Ok(Arrival { verdict, acknowledged_to: arrival.acknowledged_to })
    }

    fn flow_of(&self, packet: &Packet<'_>) -> Option<FlowIndex> {
        let (tuple, _) = read(packet)?;
        self.by_tuple.get(&tuple).copied()
    }

    fn arrive_without_flow(&mut self, now_ns: u64, packet: &Packet<'_>) -> Result<()> {
        let ours = read(packet).filter(|(tuple, _)| self.neighbours.is_ours(tuple.local.ip()));
        if let Some((tuple, read)) = ours {
            let has_room = read.payload_bytes == 0;
            self.endpoint.arrive(now_ns, &tuple, &read, has_room);
        }
        Ok(())
    }

    fn arrive_frame(&mut self, _now_ns: u64, frame: &[u8]) -> Result<()> {
        self.neighbours.arrive_frame(frame);
        Ok(())
    }

    fn extend_receive(&mut self, _now_ns: u64, flow: FlowIndex, end: u64) {
        if let Ok(id) = self.flow(flow).map(|flow| flow.id) {
            self.endpoint.granted(id, end);
        }
    }

    fn extend_send(&mut self, _now_ns: u64, flow: FlowIndex, end: u64) {
        if let Ok(id) = self.flow(flow).map(|flow| flow.id) {
            self.endpoint.offered(id, end);
        }
    }

    fn advance(&mut self, now_ns: u64) -> Result<()> {
        self.neighbours.advance(now_ns);
        self.endpoint.advance(now_ns);
        Ok(())
    }

    fn event(&mut self) -> Option<ProtocolEvent> {
        while let Some((id, event)) = self.endpoint.event() {
            if let Some(event) = self.translate(id, event) {
                return Some(event);
            }
        }
        None
    }

    fn transmit(&mut self, now_ns: u64, sink: &mut dyn HeaderSink) -> Result<()> {
        self.transmit_frames(sink)?;
        self.unpark(now_ns, sink)?;
        while sink.has_room() {
            let Some(departure) = self.endpoint.transmit(now_ns) else { break };
            self.depart(now_ns, departure, sink)?;
        }
        self.transmit_frames(sink)
    }

    fn deadline(&mut self) -> NextTimer {
        let timers = [self.endpoint.deadline(), self.neighbours.deadline_ns()];
        timers.into_iter().flatten().min().map_or(NextTimer::Never, NextTimer::At)
    }
}
