//! A protocol around a TCP that is a black box: it sees the headers, and does not say which packets
//! it accepted.
//!
//! ```text
//!   arrive ─► judge (expected, window) ─► later(doubt) ─ take_later ─► Transport::deliver
//!   granted, offered ───────────────────────────────────────────────► drain, feed   (advance)
//!   events ◄── accepted, acknowledged, ended ◄─────────────────────── drain, status (advance)
//!   sink ◄──── window lowered to what is granted ◄─────────────────── poll_header   (transmit)
//! ```
//! | file | what |
//! |---|---|
//! | `flow.rs` | one connection: what its TCP was shown, and what speaks against a packet |
//! | `arrive.rs` | packets and frames on their way to the TCP |
//! | `advance.rs` | bytes drained and fed, and the events that follow from it |
//! | `transmit.rs` | headers of the TCP on their way to the card |
//! | `handshake.rs` | the two SYNs, and payload from before the flow was installed |
//! | `expected.rs` | which packets a TCP is expected to accept |
//! | `window.rs` | the window that is offered to the peer |
//!
//! Invariants
//! 1. A packet is delivered only after its payload is kept, and only one doubtful copy of each byte
//!    ([`crate::control::flow::valid_copies`]).
//! 2. The TCP is drained only as far as memory is granted, and fed only what was offered.

mod advance;
mod arrive;
pub mod expected;
mod flow;
pub mod handshake;
mod transmit;
mod tuple;
pub mod window;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

use ahash::HashMap;

use self::flow::Flow;
use self::handshake::Handshakes;
pub use self::tuple::Tuple;
use crate::error::protocol::ProtocolError;
use crate::error::{HostError, Result};
use crate::headers::packet::{flow_key, TcpHeader};
use crate::protocol::{
    Arrival, ConnectOptions, Doubt, FlowIndex, FlowKey, Guards, HeaderSink, Install, Packet,
    Protocol, ProtocolCounters, ProtocolEvent,
};
use crate::transport::{ListenerId, NextTimer, StreamId, Transport, TransportError};

/// A TCP and what is known of it. See the head of this file.
pub struct Observed<T: Transport> {
    transport: T,
    /// Connections, by their flows.
    flows: Vec<Option<Box<Flow>>>,
    streams: HashMap<StreamId, FlowIndex>,
    tuples: HashMap<Tuple, FlowIndex>,
    handshakes: Handshakes,
    /// Connections that something has happened to.
    touched: Vec<FlowIndex>,
    /// Connections that may have to offer a wider window.
    wider: Vec<FlowIndex>,
    /// The packet that was judged last.
    judged: Option<(TcpHeader, Doubt)>,
    events: VecDeque<ProtocolEvent>,
    counters: ProtocolCounters,
}

impl<T: Transport> Observed<T> {
    /// A TCP without connections.
    pub fn new(transport: T) -> Self {
        Self {
            transport,
            flows: Vec::new(),
            streams: HashMap::default(),
            tuples: HashMap::default(),
            handshakes: Handshakes::default(),
            touched: Vec::new(),
            wider: Vec::new(),
            judged: None,
            events: VecDeque::new(),
            counters: ProtocolCounters::default(),
        }
    }

    /// The TCP.
    pub fn transport(&mut self) -> &mut T {
        &mut self.transport
    }

    fn flow(&self, index: FlowIndex) -> Option<&Flow> {
        self.flows.get(usize::from(index.0))?.as_deref()
    }

    fn flow_mut(&mut self, index: FlowIndex) -> Option<&mut Flow> {
        self.flows.get_mut(usize::from(index.0))?.as_deref_mut()
    }

    fn find_flow(&self, index: FlowIndex) -> Result<&Flow> {
        let flow = self.flow(index);
        flow.ok_or(HostError::Protocol(ProtocolError::UnknownFlow(index.0)))
    }

    fn known_mut(&mut self, index: FlowIndex) -> Result<&mut Flow> {
        let flow = self.flow_mut(index);
        flow.ok_or(HostError::Protocol(ProtocolError::UnknownFlow(index.0)))
    }

    /// Something happened to a connection: the next [`Protocol::advance`] looks at it.
    fn touch(&mut self, index: FlowIndex) {
        if let Some(flow) = self.flow_mut(index) {
            if !std::mem::replace(&mut flow.is_touched, true) {
                self.touched.push(index);
            }
        }
    }

    /// Names a stream of the TCP.
    fn adopt(&mut self, index: FlowIndex, stream: StreamId) -> Result<()> {
        let tuple = self.transport.addresses(stream)?;
        let place = usize::from(index.0);
        if self.flows.len() <= place {
            self.flows.resize_with(place + 1, || None);
        }
        self.flows[place] = Some(Box::new(Flow::new(stream, tuple)));
        self.streams.insert(stream, index);
        self.tuples.insert(tuple, index);
        self.handshakes.claim(tuple);
        self.touch(index);
        Ok(())
    }

    /// A connection gives up its addresses, which another may use.
    fn release_tuple(&mut self, index: FlowIndex) {
        let Some(flow) = self.flow_mut(index) else { return };
        let tuple = flow.tuple;
        flow.has_addresses = false;
        if self.tuples.get(&tuple) == Some(&index) {
            self.tuples.remove(&tuple);
            self.handshakes.remove(tuple);
        }
    }

    /// Forgets a connection. Returns its stream.
    fn forget(&mut self, index: FlowIndex) -> Result<StreamId> {
        self.release_tuple(index);
        let place = self.flows.get_mut(usize::from(index.0));
        let flow = place.and_then(Option::take);
        let stream = flow.ok_or(HostError::Protocol(ProtocolError::UnknownFlow(index.0)))?.stream;
        self.streams.remove(&stream);
        self.touched.retain(|touched| *touched != index);
        self.wider.retain(|wider| *wider != index);
        let is_of = |event: &ProtocolEvent| event.flow() == index;
        self.events.retain(|event| !is_of(event));
        Ok(stream)
    }
}

impl<T: Transport> Protocol for Observed<T> {
    type Remote = SocketAddr;

    fn connect(
        &mut self,
        _now_ns: u64,
        flow: FlowIndex,
        remote: SocketAddr,
        options: &ConnectOptions,
    ) -> Result<()> {
        let stream = self.transport.connect(remote, options.local)?;
        self.adopt(flow, stream)
    }

    fn listen(&mut self, local: SocketAddr) -> Result<ListenerId> {
        Ok(self.transport.listen(local)?)
    }

    fn listener_address(&self, listener: ListenerId) -> Result<SocketAddr> {
        Ok(self.transport.listener_address(listener)?)
    }

    fn unlisten(&mut self, listener: ListenerId) -> Result<()> {
        Ok(self.transport.close_listener(listener)?)
    }

    fn accept(&mut self, _now_ns: u64, listener: ListenerId, flow: FlowIndex) -> Result<bool> {
        match self.transport.accept(listener)? {
            Some(stream) => self.adopt(flow, stream).map(|()| true),
            None => Ok(false),
        }
    }

    fn refuse(&mut self, _now_ns: u64, listener: ListenerId) -> Result<bool> {
        match self.transport.accept(listener)? {
            Some(stream) => {
                self.transport.abort(stream)?;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    fn addresses(&self, flow: FlowIndex) -> Result<(SocketAddr, SocketAddr)> {
        self.find_flow(flow).map(|flow| flow.tuple)
    }

    fn key(&self, flow: FlowIndex) -> Result<Option<FlowKey>> {
        let (local, remote) = self.find_flow(flow)?.tuple;
        Ok(Some(flow_key(remote, local)))
    }

    fn install(&mut self, index: FlowIndex) -> Result<Install> {
        let tuple = self.find_flow(index)?.tuple;
        let forgotten = || HostError::Protocol(ProtocolError::HandshakeForgotten(index.0));
        let handshake = self.handshakes.get(tuple).ok_or_else(forgotten)?;
        let numbers = handshake.local.zip(handshake.remote);
        let (local, remote) = numbers.ok_or_else(forgotten)?;
        let expected = handshake.expected_packets().ok_or_else(forgotten)?;
        let window = handshake.open_window();
        let early = self.handshakes.remove(tuple);
        let early = early.map_or_else(Vec::new, |handshake| handshake.early);
        let expected = expected.with_old_acks(self.transport.takes_old_acks());
        self.known_mut(index)?.install((local, remote), expected, window);
        self.touch(index);
        Ok(Install {
            profile: 0,
            receive_first: remote.wrapping_add(1),
            send_first: local.wrapping_add(1),
            early,
        })
    }

    fn guards(&self, flow: FlowIndex, send_floor: u32) -> Guards {
        let flow = self.flow(flow);
        flow.map_or_else(Guards::default, |flow| Guards {
            ack_low: flow.expected.ack_low(send_floor),
            timestamp_floor: flow.expected.timestamp(),
        })
    }

    fn finish(&mut self, _now_ns: u64, flow: FlowIndex) -> Result<()> {
        self.known_mut(flow)?.finish_asked = true;
        self.touch(flow);
        Ok(())
    }

    fn close(&mut self, _now_ns: u64, flow: FlowIndex) -> Result<()> {
        let stream = self.forget(flow)?;
        Ok(self.transport.close(stream)?)
    }

    fn abort(&mut self, _now_ns: u64, flow: FlowIndex) -> Result<()> {
        let stream = self.forget(flow)?;
        Ok(self.transport.abort(stream)?)
    }

    fn arrive(&mut self, _now_ns: u64, flow: FlowIndex, packet: &Packet<'_>) -> Result<Arrival> {
        Ok(self.judge(flow, packet)?.into())
    }

    fn take_later(&mut self, _now_ns: u64, flow: FlowIndex, packet: &Packet<'_>) -> Result<()> {
        self.take_judged(flow, packet)
    }

    fn flow_of(&self, packet: &Packet<'_>) -> Option<FlowIndex> {
        self.of_addresses(packet)
    }

    fn arrive_without_flow(&mut self, _now_ns: u64, packet: &Packet<'_>) -> Result<()> {
        self.take_without_flow(packet)
    }

    fn arrive_frame(&mut self, _now_ns: u64, frame: &[u8]) -> Result<()> {
        let delivered = self.transport.deliver_frame(frame);
        self.count_refused(delivered)
    }

    fn extend_receive(&mut self, _now_ns: u64, index: FlowIndex, end: u64) {
        let Some(flow) = self.flow_mut(index) else { return };
        let is_more = end > flow.granted;
        flow.granted = end;
        if is_more {
            self.wider.push(index);
            self.touch(index);
        }
    }

    fn extend_send(&mut self, _now_ns: u64, index: FlowIndex, end: u64) {
        if let Some(flow) = self.flow_mut(index) {
            flow.offered = end;
            self.touch(index);
        }
    }

    fn advance(&mut self, _now_ns: u64) -> Result<()> {
        self.take_transport_events()?;
        self.step_touched()
    }

    fn event(&mut self) -> Option<ProtocolEvent> {
        self.events.pop_front()
    }

    fn transmit(&mut self, _now_ns: u64, sink: &mut dyn HeaderSink) -> Result<()> {
        self.send_headers(sink)?;
        self.send_windows(sink)
    }

    fn deadline(&mut self) -> NextTimer {
        self.transport.next_timer()
    }

    fn readiness(&self) -> Option<BorrowedFd<'_>> {
        self.transport.readiness()
    }

    fn counters(&self) -> ProtocolCounters {
        self.counters
    }
}

/// Checks that a transport took no more than it was asked to take.
fn within(call: &'static str, asked: u64, taken: u64) -> std::result::Result<u64, TransportError> {
    match taken <= asked {
        true => Ok(taken),
        false => Err(TransportError::TookTooMuch { call, asked, taken }),
    }
}
