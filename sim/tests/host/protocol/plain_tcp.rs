//! A TCP of two hundred lines: what a protocol must do that loses nothing, and no more.
//!
//! ```text
//!   connect ─► SYN, again after RTO ─► SYN-ACK ─► opened
//!   arrive ──► in the window and kept? ─► taken, in any order ─► ACK
//!   offered ─► data up to the peer's window; after RTO without an ACK all of it again, or a probe
//!              of a closed window
//! ```
//! IPv4, no options but the segment size, no measured round trip, no congestion control: for a wire
//! of its own. The timeout doubles while nothing is acknowledged, so a peer that waits longer than
//! it is not drowned. It says of each packet at once whether its payload stands, so nothing is
//! inferred.
//!
//! Source: RFC 9293, 3.8.6.1 and 3.10; RFC 6298, 5.5.

use std::collections::BTreeMap;
use std::net::{SocketAddr, SocketAddrV4};

use host::control::flow::ranges::RangeSet;
use host::control::position::Positions;
use host::error::protocol::ProtocolError;
use host::error::{HostError, Result};
use host::failure::Failure;
use host::headers::builder::{Route, Tcp};
use host::headers::layers::Layers;
use host::headers::layout::{ACK, FIN, RST, SYN};
use host::headers::packet::{flow_key, parse_tcp, TcpHeader};
use host::protocol::{
    Arrival, ConnectOptions, FlowIndex, FlowKey, Guards, HeaderSink, Install, OutgoingHeader,
    OutgoingPayload, Packet, PacketPayload, Protocol, ProtocolEvent, Verdict,
};
use host::transport::{NextTimer, TransportError};

const MSS_BYTES: u32 = 1460;
/// Time without an answer after which everything is sent again, at first.
pub const RTO_NS: u64 = 2_000_000;
/// Longest timeout: the first one, doubled so often.
const BACKOFFS_MAX: u32 = 10;
const ISS: u32 = 0xffff_f000;
/// How the positions of what is sent are counted: the SYN is before the first byte.
const SENT: Positions = Positions { first: ISS.wrapping_add(1) };
/// Ethernet addresses: of this end, of the other one.
const MACS: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];
const ECONNRESET: i32 = 104;

/// One connection. Offsets count from the first byte of a stream; a FIN takes one.
struct Flow {
    local: SocketAddrV4,
    remote: SocketAddrV4,
    is_open: bool,
    /// Next byte to send, the furthest sent, acknowledged; what may be sent, and the peer's edge.
    next: u64,
    sent: u64,
    acknowledged: u64,
    offered: u64,
    edge: u64,
    is_finished: bool,
    timer_ns: u64,
    /// Timeouts since the last progress.
    timeouts: u32,
    receive_first: u32,
    arrived: RangeSet,
    fin_at: Option<u64>,
    is_ended: bool,
    granted: u64,
    /// Right edge of the window that the peer knows.
    window_to: u64,
    is_ack_due: bool,
}

impl Flow {
    /// How the positions of what arrives are counted.
    fn receive_positions(&self) -> Positions {
        Positions { first: self.receive_first }
    }

    fn accepted_bytes(&self) -> u64 {
        self.arrived.held_to(0, u64::MAX)
    }

    /// The end of the stream that is sent, its FIN included.
    fn end(&self) -> u64 {
        self.offered + u64::from(self.is_finished)
    }

    /// An ACK number, and the window behind it.
    fn take_numbers(&mut self, parsed: &TcpHeader, now_ns: u64) -> bool {
        let more = SENT.distance_from(parsed.acknowledgement, self.acknowledged);
        let Ok(more) = u64::try_from(more) else { return false };
        let is_known = self.acknowledged + more <= self.sent;
        if is_known {
            self.edge = self.edge.max(self.acknowledged + more + u64::from(parsed.window));
            self.acknowledged += more;
            self.next = self.next.max(self.acknowledged);
            if more > 0 {
                self.timeouts = 0;
                self.timer_ns = now_ns + RTO_NS;
            }
        }
        is_known && more > 0
    }

    /// Payload, and a FIN behind it.
    fn take_payload(&mut self, parsed: &TcpHeader, packet: &Packet<'_>) -> Verdict {
        let (accepted, bytes) = (self.accepted_bytes(), i64::from(packet.payload_bytes));
        let ahead = self.receive_positions().distance_from(packet.position, accepted);
        let start = accepted as i64 + i64::from(ahead);
        let end = start + bytes;
        self.is_ack_due |= bytes > 0 || parsed.flags & FIN != 0;
        let is_known = end <= accepted as i64;
        let is_lost = packet.payload == PacketPayload::Nowhere && bytes > 0 && !is_known;
        if is_lost || !packet.has_room || end > self.window_to as i64 {
            return Verdict::Refused;
        }
        self.arrived.insert(start.max(0) as u64, end.max(0) as u64);
        if parsed.flags & FIN != 0 {
            self.fin_at = Some(end as u64);
        }
        Verdict::Taken { accepted_to: self.accepted_bytes() }
    }

    /// The header of the next packet; its checksums are the card's.
    fn header(&mut self, flags: u8, at: u64, payload_bytes: u32) -> (Vec<u8>, Layers) {
        let options: &[u8] = match flags & SYN {
            0 => &[],
            _ => &[2, 4, (MSS_BYTES >> 8) as u8, MSS_BYTES as u8],
        };
        let accepted = self.accepted_bytes();
        let window = self.granted.max(self.window_to) - accepted;
        let window = window.min(u16::MAX.into());
        self.window_to = self.window_to.max(accepted + window);
        let has_end = self.fin_at == Some(accepted);
        let acknowledgement = self.receive_positions().of(accepted + u64::from(has_end));
        let sequence = match flags & SYN {
            0 => SENT.of(at),
            _ => ISS,
        };
        self.is_ack_due = false;
        let route = Route { macs: MACS, from: self.local.into(), to: self.remote.into() };
        let window = window as u16;
        let tcp = Tcp { sequence, acknowledgement, flags, window, options };
        route.tcp(&tcp, payload_bytes as usize)
    }

    fn send(
        &mut self,
        index: FlowIndex,
        (flags, at, bytes): (u8, u64, u32),
        sink: &mut dyn HeaderSink,
    ) -> Result<()> {
        let (header, layers) = self.header(flags, at, bytes);
        let payload = (bytes > 0).then_some(OutgoingPayload {
            position: SENT.of(at),
            bytes,
            mss_bytes: MSS_BYTES,
        });
        sink.send(&OutgoingHeader {
            flow: Some(index),
            bytes: &header,
            layers: Some(layers),
            payload,
        })
    }

    /// Everything that is due; after a timeout all again.
    fn transmit(&mut self, index: FlowIndex, now_ns: u64, sink: &mut dyn HeaderSink) -> Result<()> {
        let is_due = now_ns >= self.timer_ns;
        if is_due {
            self.timer_ns = now_ns + (RTO_NS << self.timeouts);
            self.timeouts = (self.timeouts + 1).min(BACKOFFS_MAX);
            self.next = self.acknowledged;
        }
        if !self.is_open {
            return if is_due { self.send(index, (SYN, 0, 0), sink) } else { Ok(()) };
        }
        while self.next < self.end() && sink.has_room_for(index) {
            let data = self.offered.min(self.edge).saturating_sub(self.next) as u32;
            let bytes = data.min(MSS_BYTES);
            let at = self.next;
            match bytes {
                // A closed window is probed with the byte behind it, at each timeout. What opened
                // it may be lost. While anything is not acknowledged, its repetition is the probe.
                0 if at < self.offered => {
                    if is_due && at == self.acknowledged {
                        self.sent = self.sent.max(at + 1);
                        self.send(index, (ACK, at, 1), sink)?;
                    }
                    break;
                }
                0 => self.send(index, (FIN | ACK, at, 0), sink)?,
                _ => self.send(index, (ACK, at, bytes), sink)?,
            }
            self.next += u64::from(bytes.max(1));
            self.sent = self.sent.max(self.next);
        }
        let reach = self.granted.min(self.accepted_bytes() + u64::from(u16::MAX));
        let more = reach.saturating_sub(self.window_to);
        match self.is_ack_due || more >= 2 * u64::from(MSS_BYTES) {
            true if sink.has_room_for(index) => self.send(index, (ACK, self.next, 0), sink),
            _ => Ok(()),
        }
    }
}

/// The protocol. See the head of this file.
pub struct PlainTcp {
    local: SocketAddrV4,
    flows: BTreeMap<FlowIndex, Flow>,
    frames: Vec<Vec<u8>>,
    events: Vec<ProtocolEvent>,
}

impl PlainTcp {
    pub fn new(local: SocketAddrV4) -> Self {
        Self { local, flows: BTreeMap::new(), frames: Vec::new(), events: Vec::new() }
    }

    /// Says of so many connections that they are open.
    pub fn open_all(&mut self, flows: u16) {
        self.events.extend((0..flows).map(|flow| ProtocolEvent::Opened(FlowIndex(flow))));
    }

    fn flow(&self, index: FlowIndex) -> Result<&Flow> {
        let flow = self.flows.get(&index);
        flow.ok_or(HostError::Protocol(ProtocolError::UnknownFlow(index.0)))
    }
}

impl Protocol for PlainTcp {
    type Remote = SocketAddr;

    fn connect(
        &mut self,
        _now_ns: u64,
        index: FlowIndex,
        remote: SocketAddr,
        options: &ConnectOptions,
    ) -> Result<()> {
        let SocketAddr::V4(remote) = remote else {
            return Err(HostError::Protocol(ProtocolError::NotOffered("IPv6")));
        };
        let local = SocketAddrV4::new(*self.local.ip(), self.local.port() + index.0);
        if let Some(other) = options.local.filter(|asked| *asked != SocketAddr::V4(local)) {
            return Err(TransportError::NotLocal(other.ip()).into());
        }
        let flow = Flow {
            local,
            remote,
            is_open: false,
            next: 0,
            sent: 0,
            acknowledged: 0,
            offered: 0,
            edge: 0,
            is_finished: false,
            timer_ns: 0,
            timeouts: 0,
            receive_first: 0,
            arrived: RangeSet::default(),
            fin_at: None,
            is_ended: false,
            granted: 0,
            window_to: 0,
            is_ack_due: false,
        };
        self.flows.insert(index, flow);
        Ok(())
    }

    fn addresses(&self, index: FlowIndex) -> Result<(SocketAddr, SocketAddr)> {
        let flow = self.flow(index)?;
        Ok((flow.local.into(), flow.remote.into()))
    }

    fn key(&self, index: FlowIndex) -> Result<Option<FlowKey>> {
        let (local, remote) = self.addresses(index)?;
        Ok(Some(flow_key(remote, local)))
    }

    fn install(&mut self, index: FlowIndex) -> Result<Install> {
        Ok(Install {
            profile: 0,
            receive_first: self.flow(index)?.receive_first,
            send_first: SENT.of(0),
            early: Vec::new(),
        })
    }

    fn guards(&self, _index: FlowIndex, send_floor: u32) -> Guards {
        Guards { ack_low: send_floor, timestamp_floor: None }
    }

    fn finish(&mut self, _now_ns: u64, index: FlowIndex) -> Result<()> {
        if let Some(flow) = self.flows.get_mut(&index) {
            flow.is_finished = true;
        }
        Ok(())
    }

    fn close(&mut self, now_ns: u64, index: FlowIndex) -> Result<()> {
        self.abort(now_ns, index)
    }

    fn abort(&mut self, _now_ns: u64, index: FlowIndex) -> Result<()> {
        self.flows.remove(&index);
        self.events.retain(|event| event.flow() != index);
        Ok(())
    }

    fn arrive(&mut self, now_ns: u64, index: FlowIndex, packet: &Packet<'_>) -> Result<Arrival> {
        let flow = self.flows.get_mut(&index);
        let (Some(flow), Some(parsed)) = (flow, parse_tcp(packet.header)) else {
            return Ok(Verdict::Refused.into());
        };
        if parsed.flags & RST != 0 {
            self.events.push(ProtocolEvent::Ended {
                flow: index,
                reason: Failure::protocol(ECONNRESET, "reset by the peer"),
                accepted_to: flow.accepted_bytes(),
            });
            return Ok(Verdict::Refused.into());
        }
        if parsed.flags & SYN != 0 {
            flow.is_ack_due = true;
            return Ok(Verdict::Refused.into());
        }
        let newest = packet.run.map_or(parsed, |run| run.last(&parsed));
        let acknowledged_to = match flow.take_numbers(&newest, now_ns) {
            true => flow.acknowledged.min(flow.offered),
            false => 0,
        };
        let verdict = flow.take_payload(&parsed, packet);
        let is_at_end = flow.fin_at == Some(flow.accepted_bytes());
        if is_at_end && !std::mem::replace(&mut flow.is_ended, true) {
            self.events.push(ProtocolEvent::EndOfStream(index));
        }
        Ok(Arrival { verdict, acknowledged_to })
    }

    fn flow_of(&self, packet: &Packet<'_>) -> Option<FlowIndex> {
        let parsed = parse_tcp(packet.header)?;
        let is_of = |flow: &Flow| {
            parsed.destination == flow.local.into() && parsed.source == flow.remote.into()
        };
        let found = self.flows.iter().find(|(_, flow)| is_of(flow));
        found.map(|(index, _)| *index)
    }

    /// The SYN-ACK.
    fn arrive_without_flow(&mut self, now_ns: u64, packet: &Packet<'_>) -> Result<()> {
        let index = self.flow_of(packet);
        let flow = index.and_then(|index| self.flows.get_mut(&index));
        let (Some(flow), Some(parsed)) = (flow, parse_tcp(packet.header)) else { return Ok(()) };
        let is_answer = parsed.flags & (SYN | ACK | RST) == SYN | ACK;
        if is_answer && parsed.acknowledgement == SENT.of(0) && !flow.is_open {
            flow.receive_first = parsed.sequence.wrapping_add(1);
            flow.is_open = true;
            flow.is_ack_due = true;
            flow.timeouts = 0;
            flow.take_numbers(&parsed, now_ns);
            self.events.extend(index.map(ProtocolEvent::Opened));
        }
        Ok(())
    }

    /// Answers to whoever asks for the link address.
    fn arrive_frame(&mut self, _now_ns: u64, frame: &[u8]) -> Result<()> {
        let is_arp = frame.get(12..22) == Some(&[8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
        if is_arp && frame.get(38..42) == Some(&self.local.ip().octets()) {
            let us = [2, 0, 0, 0, 0, 1];
            let mut answer = [&frame[6..12], &us, &frame[12..20], &[0, 2], &us].concat();
            answer.extend(self.local.ip().octets());
            answer.extend(&frame[22..32]);
            answer.resize(60, 0);
            self.frames.push(answer);
        }
        Ok(())
    }

    fn extend_receive(&mut self, _now_ns: u64, index: FlowIndex, end: u64) {
        if let Some(flow) = self.flows.get_mut(&index) {
            flow.granted = end;
        }
    }

    fn extend_send(&mut self, now_ns: u64, index: FlowIndex, end: u64) {
        if let Some(flow) = self.flows.get_mut(&index) {
            // The timer runs for what was sent before.
            if flow.is_open && flow.acknowledged == flow.sent {
                flow.timer_ns = now_ns + RTO_NS;
            }
            flow.offered = end;
        }
    }

    fn advance(&mut self, _now_ns: u64) -> Result<()> {
        Ok(())
    }

    fn event(&mut self) -> Option<ProtocolEvent> {
        (!self.events.is_empty()).then(|| self.events.remove(0))
    }

    fn transmit(&mut self, now_ns: u64, sink: &mut dyn HeaderSink) -> Result<()> {
        for frame in self.frames.drain(..) {
            sink.send(&OutgoingHeader { flow: None, bytes: &frame, layers: None, payload: None })?;
        }
        for (index, flow) in &mut self.flows {
            flow.transmit(*index, now_ns, sink)?;
        }
        Ok(())
    }

    fn deadline(&mut self) -> NextTimer {
        let waits = |flow: &&Flow| !flow.is_open || flow.acknowledged < flow.end();
        let first = self.flows.values().filter(waits).map(|flow| flow.timer_ns);
        first.min().map_or(NextTimer::Never, NextTimer::At)
    }
}
