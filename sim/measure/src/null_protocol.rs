//! The least protocol that a provider can run on: a TCP that works in order and costs almost
//! nothing, so that what is measured around it is the control stack.
//!
//! ```text
//!   arrive ── SYN-ACK, payload in order, ACK numbers ──► Flow ──► accepted, acknowledged
//!   transmit ◄── ACKs that are due ◄── ACKs of the poll ◄── data, in turn ◄── offered
//! ```
//! For measurements and tests alone: no loss, no reordering, no timers, no end of a stream. What
//! does not follow in order is refused, and ends the connection.
//!
//! - A connection acknowledges once in a poll, and at most [`ACK_BYTES_MAX`] at once, or a run, as
//!   a TCP behind receive offload does; or once for so many segments.
//! - Its local port is its flow and a constant.

mod flow;
pub mod header;

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use host::ahead::LookAhead;
use host::error::protocol::ProtocolError;
use host::error::{HostError, Result};
use host::failure::Failure;
use host::headers::layers::Layers;
use host::headers::layout::{ACK, SYN};
use host::headers::packet::flow_key;
use host::large_pages::{self, LargePageVec};
use host::prefetch::expect_all;
use host::protocol::{
    Arrival, ConnectOptions, FlowIndex, FlowKey, Guards, HeaderSink, Install, OutgoingHeader,
    OutgoingPayload, Packet, Protocol, ProtocolEvent, Verdict,
};
use host::transport::TransportError;

pub use self::flow::ACK_BYTES_MAX;
use self::flow::{Flow, SEQUENCE};
use self::header::{
    addresses, get16, get32, set_numbers, set_payload, syn, HEADER_BYTES, TCP, WINDOW_SCALE,
};

/// Local port of the first flow.
const PORT_FIRST: u16 = 1024;
/// How a connection ends whose bytes do not follow in order: `EPROTO`.
const ENDED_ERRNO: i32 = 71;
/// Flows that have ports.
const FLOWS_MAX: usize = 60_000;
const LAYERS: Layers = Layers { l3_offset: 14, l4_offset: TCP, ipv6: false, udp: false };

/// How a [`NullProtocol`] sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NullConfig {
    /// Address of this side.
    pub local: Ipv4Addr,
    /// Payload of a header, bytes.
    pub send_bytes: u32,
    /// Payload of a frame, bytes.
    pub mss_bytes: u16,
    /// Segments for each ACK; `None` for one ACK in a poll, of 64 KiB at most.
    pub segments_per_ack: Option<u32>,
    /// Headers with payload that a flow sends in a row in a poll before the next one does.
    pub burst: u32,
}

/// The protocol. See the head of this file.
#[derive(Debug)]
pub struct NullProtocol {
    config: NullConfig,
    flows: LargePageVec<Option<Flow>>,
    syns: VecDeque<FlowIndex>,
    /// Flows and ACK numbers that are due.
    due: VecDeque<(FlowIndex, u32)>,
    /// Flows that acknowledge at the end of the poll.
    acking: VecDeque<FlowIndex>,
    sending: VecDeque<FlowIndex>,
    /// Headers that the flow in front may still send before the next one does.
    left: u32,
    events: VecDeque<ProtocolEvent>,
}

/// ACK number and window of a header.
#[inline]
fn numbers(header: &[u8]) -> (u32, u16) {
    (get32(header, TCP + 8), get16(header, TCP + 14))
}

impl NullProtocol {
    /// A protocol without connections.
    pub fn new(config: NullConfig) -> Self {
        Self {
            config,
            flows: large_pages::vector(FLOWS_MAX),
            syns: VecDeque::new(),
            due: VecDeque::new(),
            acking: VecDeque::new(),
            sending: VecDeque::new(),
            left: config.burst,
            events: VecDeque::new(),
        }
    }

    /// Makes `acks` ACKs due on a connection that has nothing new to acknowledge.
    pub fn acknowledge(&mut self, index: FlowIndex, acks: usize) -> Result<()> {
        let number = self.flow(index)?.expected;
        self.due.extend(std::iter::repeat_n((index, number), acks));
        Ok(())
    }

    fn flow(&self, index: FlowIndex) -> Result<&Flow> {
        let flow = self.flows.get(usize::from(index.0));
        let flow = flow.and_then(Option::as_ref);
        flow.ok_or(HostError::Protocol(ProtocolError::UnknownFlow(index.0)))
    }

    fn flow_mut(&mut self, index: FlowIndex) -> Option<&mut Flow> {
        self.flows.get_mut(usize::from(index.0))?.as_mut()
    }

    fn forget(&mut self, index: FlowIndex) -> Result<()> {
        self.flow(index)?;
        self.flows[usize::from(index.0)] = None;
        self.due.retain(|(due, _)| *due != index);
        for queue in [&mut self.acking, &mut self.sending, &mut self.syns] {
            queue.retain(|queued| *queued != index);
        }
        self.events.retain(|event| event.flow() != index);
        Ok(())
    }

    fn may_send(&mut self, index: FlowIndex) {
        if let Some(flow) = self.flow_mut(index) {
            if flow.has_work() && !std::mem::replace(&mut flow.is_sending, true) {
                self.sending.push_back(index);
            }
        }
    }

    /// The packet that answers the SYN.
    fn open(&mut self, index: FlowIndex, header: &[u8]) {
        if let Some(flow) = self.flow_mut(index) {
            flow.expected = get32(header, TCP + 4).wrapping_add(1);
            let due = (index, flow.expected);
            self.take_numbers(index, numbers(header));
            self.due.push_back(due);
            self.events.push_back(ProtocolEvent::Opened(index));
        }
    }

    /// Takes ACK number and window. Returns the stream offset that is acknowledged, 0 if it is not
    /// a new one.
    #[inline]
    fn take_numbers(&mut self, index: FlowIndex, (number, window): (u32, u16)) -> u64 {
        let Some(flow) = self.flow_mut(index) else {
            return 0;
        };
        flow.edge = number.wrapping_add(u32::from(window) << WINDOW_SCALE);
        let more = number.wrapping_sub(flow.acknowledged_number);
        let mut acknowledged_to = 0;
        if more > 0 && (more as i32) > 0 {
            flow.acknowledged_number = number;
            flow.acknowledged += u64::from(more);
            acknowledged_to = flow.acknowledged;
        }
        self.may_send(index);
        acknowledged_to
    }

    /// Takes payload in order.
    #[inline]
    fn take_payload(&mut self, index: FlowIndex, packet: &Packet<'_>) -> Verdict {
        let config = self.config;
        let Some(flow) = self.flow_mut(index) else {
            return Verdict::Refused;
        };
        let bytes = packet.payload_bytes;
        if packet.position != flow.expected || !packet.has_room {
            let reason = format!("byte {} came, {} was expected", packet.position, flow.expected);
            let accepted_to = flow.accepted;
            let (reason, flow) = (Failure::protocol(ENDED_ERRNO, reason), index);
            self.events.push_back(ProtocolEvent::Ended { flow, reason, accepted_to });
            return Verdict::Refused;
        }
        flow.expected = flow.expected.wrapping_add(bytes);
        flow.accepted += u64::from(bytes);
        flow.unacknowledged_bytes += bytes;
        flow.unacknowledged_segments += packet.packets();
        let (expected, accepted_to) = (flow.expected, flow.accepted);
        let is_due = match config.segments_per_ack {
            Some(segments) => flow.unacknowledged_segments >= segments,
            None => flow.unacknowledged_bytes + u32::from(config.mss_bytes) > ACK_BYTES_MAX,
        };
        if is_due {
            (flow.unacknowledged_bytes, flow.unacknowledged_segments) = (0, 0);
            self.due.push_back((index, expected));
        } else if config.segments_per_ack.is_none() && !std::mem::replace(&mut flow.is_acking, true)
        {
            self.acking.push_back(index);
        }
        Verdict::Taken { accepted_to }
    }

    /// The next ACK that is due.
    fn next_ack(&mut self) -> Option<(FlowIndex, u32)> {
        if let Some(due) = self.due.pop_front() {
            return Some(due);
        }
        loop {
            let index = self.acking.pop_front()?;
            let Some(flow) = self.flow_mut(index) else {
                continue;
            };
            flow.is_acking = false;
            let is_new = std::mem::take(&mut flow.unacknowledged_bytes) > 0;
            flow.unacknowledged_segments = 0;
            if is_new || flow.has_wider_window() {
                return Some((index, flow.expected));
            }
        }
    }

    fn send_ack(
        &mut self,
        (index, number): (FlowIndex, u32),
        sink: &mut dyn HeaderSink,
    ) -> Result<()> {
        let Some(flow) = self.flow_mut(index) else {
            return Ok(());
        };
        flow.set_window(number);
        set_payload(&mut flow.header, 0);
        set_numbers(&mut flow.header, flow.sequence, number);
        sink.send(&OutgoingHeader {
            flow: Some(index),
            bytes: &flow.header,
            layers: Some(LAYERS),
            payload: None,
        })
    }

    /// Sends the next header with payload of the flow in front. Flows take turns.
    fn send_data(&mut self, index: FlowIndex, sink: &mut dyn HeaderSink) -> Result<()> {
        let config = self.config;
        self.left = self.left.saturating_sub(1);
        let is_last = self.left == 0;
        let Some(flow) = self.flow_mut(index) else {
            self.end_turn(index);
            return Ok(());
        };
        let offered = flow.offered.wrapping_sub(flow.sequence);
        let window = flow.edge.wrapping_sub(flow.sequence);
        let payload = OutgoingPayload {
            position: flow.sequence,
            bytes: config.send_bytes.min(offered).min(window),
            mss_bytes: config.mss_bytes.into(),
        };
        flow.set_window(flow.expected);
        set_numbers(&mut flow.header, flow.sequence, flow.expected);
        set_payload(&mut flow.header, payload.bytes);
        flow.sequence = flow.sequence.wrapping_add(payload.bytes);
        sink.send(&OutgoingHeader {
            flow: Some(index),
            bytes: &flow.header,
            layers: Some(LAYERS),
            payload: Some(payload),
        })?;
        if is_last || !flow.has_work() {
            self.end_turn(index);
        }
        Ok(())
    }

    /// The next flow has its turn.
    fn end_turn(&mut self, index: FlowIndex) {
        self.left = self.config.burst;
        self.sending.pop_front();
        if let Some(flow) = self.flow_mut(index) {
            flow.is_sending = false;
        }
        self.may_send(index);
    }
}

impl LookAhead for NullProtocol {
    #[inline]
    fn arriving(&self, index: FlowIndex) {
        if let Some(flow) = self.flows.get(usize::from(index.0)) {
            expect_all(flow);
        }
    }

    fn sending(&self, place: usize) -> Option<FlowIndex> {
        let next = *self.sending.get(place)?;
        self.arriving(next);
        Some(next)
    }
}

impl Protocol for NullProtocol {
    type Remote = SocketAddr;

    fn connect(
        &mut self,
        _now_ns: u64,
        index: FlowIndex,
        remote: SocketAddr,
        options: &ConnectOptions,
    ) -> Result<()> {
        let SocketAddr::V4(remote) = remote else {
            return Err(TransportError::Unreachable(remote.ip()).into());
        };
        let place = usize::from(index.0);
        if place >= FLOWS_MAX {
            return Err(TransportError::PortsExhausted { ports: FLOWS_MAX }.into());
        }
        if self.flows.len() <= place {
            self.flows.resize_with(place + 1, || None);
        }
        let local = SocketAddrV4::new(self.config.local, PORT_FIRST + index.0);
        if let Some(other) = options.local.filter(|asked| *asked != SocketAddr::V4(local)) {
            return Err(TransportError::NotLocal(other.ip()).into());
        }
        self.flows[place] = Some(Flow::new(local, remote));
        self.syns.push_back(index);
        Ok(())
    }

    fn addresses(&self, index: FlowIndex) -> Result<(SocketAddr, SocketAddr)> {
        let (local, remote) = addresses(&self.flow(index)?.header);
        Ok((local.into(), remote.into()))
    }

    fn key(&self, index: FlowIndex) -> Result<Option<FlowKey>> {
        let (local, remote) = addresses(&self.flow(index)?.header);
        Ok(Some(flow_key(remote.into(), local.into())))
    }

    fn install(&mut self, index: FlowIndex) -> Result<Install> {
        let flow = self.flow(index)?;
        Ok(Install {
            profile: 0,
            receive_first: flow.expected.wrapping_sub(flow.accepted as u32),
            send_first: SEQUENCE.wrapping_add(1),
            early: Vec::new(),
        })
    }

    fn guards(&self, _flow: FlowIndex, send_floor: u32) -> Guards {
        Guards { ack_low: send_floor, timestamp_floor: None }
    }

    fn finish(&mut self, _now_ns: u64, _flow: FlowIndex) -> Result<()> {
        Ok(())
    }

    fn close(&mut self, _now_ns: u64, index: FlowIndex) -> Result<()> {
        self.forget(index)
    }

    fn abort(&mut self, _now_ns: u64, index: FlowIndex) -> Result<()> {
        self.forget(index)
    }

    // Inlined: a result that goes through memory waits for all stores before it, those to the rings
    // included.
    #[inline]
    fn arrive(&mut self, _now_ns: u64, index: FlowIndex, packet: &Packet<'_>) -> Result<Arrival> {
        if packet.header.len() < HEADER_BYTES {
            return Ok(Verdict::Refused.into());
        }
        let acknowledged_to = match &packet.run {
            None => self.take_numbers(index, numbers(packet.header)),
            Some(run) => self.take_numbers(index, (run.acknowledgement, run.window)),
        };
        let verdict = match packet.payload_bytes {
            0 => Verdict::Taken { accepted_to: 0 },
            _ => self.take_payload(index, packet),
        };
        Ok(Arrival { verdict, acknowledged_to })
    }

    fn flow_of(&self, packet: &Packet<'_>) -> Option<FlowIndex> {
        let header = packet.header.get(..HEADER_BYTES)?;
        let index = FlowIndex(get16(header, TCP + 2).wrapping_sub(PORT_FIRST));
        self.flow(index).ok().map(|_| index)
    }

    fn arrive_without_flow(&mut self, _now_ns: u64, packet: &Packet<'_>) -> Result<()> {
        let is_answer = |header: &&[u8]| header[TCP + 13] == SYN | ACK;
        let header = packet.header.get(..HEADER_BYTES).filter(is_answer);
        if let (Some(header), Some(index)) = (header, self.flow_of(packet)) {
            self.open(index, header);
        }
        Ok(())
    }

    fn extend_receive(&mut self, _now_ns: u64, index: FlowIndex, end: u64) {
        let Some(flow) = self.flow_mut(index) else {
            return;
        };
        flow.granted = end;
        if flow.has_wider_window() && !std::mem::replace(&mut flow.is_acking, true) {
            self.acking.push_back(index);
        }
    }

    fn extend_send(&mut self, _now_ns: u64, index: FlowIndex, end: u64) {
        if let Some(flow) = self.flow_mut(index) {
            flow.offered = SEQUENCE.wrapping_add(1).wrapping_add(end as u32);
            self.may_send(index);
        }
    }

    fn advance(&mut self, _now_ns: u64) -> Result<()> {
        Ok(())
    }

    fn event(&mut self) -> Option<ProtocolEvent> {
        self.events.pop_front()
    }

    fn transmit(&mut self, _now_ns: u64, sink: &mut dyn HeaderSink) -> Result<()> {
        while sink.has_room() {
            if let Some(ack) = self.next_ack() {
                self.send_ack(ack, sink)?;
            } else if let Some(&index) = self.sending.front() {
                self.send_data(index, sink)?;
            } else if let Some(index) = self.syns.pop_front() {
                let mut bytes = syn(&self.flow(index)?.header, SYN);
                set_numbers(&mut bytes, SEQUENCE, 0);
                sink.send(&OutgoingHeader {
                    flow: None,
                    bytes: &bytes,
                    layers: Some(LAYERS),
                    payload: None,
                })?;
            } else {
                return Ok(());
            }
        }
        Ok(())
    }
}
