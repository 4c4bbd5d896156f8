//! A transport of your own: stop and wait over UDP, on a wire that loses a tenth of all packets.
//!
//! ```text
//!   application ─ Provider ─ StopAndWait          StopAndWait ─ Provider ─ application
//!                    └────── card ── UDP | position 4 | accepted 4 | payload ── card
//! ```
//! One packet is on the way; the next one goes when the other end has said that it has it, and the
//! same one again when it has not for too long. The card learns the header from a profile and
//! places the payload; the protocol sees headers. `docs/own-transport.md` goes through this file.
//!
//! ```sh
//! cargo run --release -p zeronic-lab --example own_transport
//! ```

use std::net::SocketAddr;
use std::time::Duration;

use abi::config::SMALL;
use abi::flow_key::{FAMILY_PROFILE, PROTOCOL};
use anyhow::{ensure, Result};
use host::clock::{Clock, ManualClock};
use host::driver::bus::MemoryKind;
use host::driver::device::DeviceConfig;
use host::error::Result as HostResult;
use host::headers::builder::Route;
use host::headers::packet::flow_key;
use host::memory::ApplicationMapping;
use host::protocol::{
    Arrival, ConnectOptions, FlowIndex, FlowKey, HeaderSink, Install, OutgoingHeader,
    OutgoingPayload, Packet, PacketPayload, Protocol, ProtocolEvent, Verdict,
};
use host::provider::{ApplicationId, Completion, Provider};
use host::records::profile::Profile;
use host::transport::NextTimer;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::wire::{Disturbance, Wire};

const PORT: u16 = 9000;
const PROFILE: u8 = 1;
const PROTOCOL_UDP: u8 = 17;
/// Position of the payload, and everything before which is accepted.
const HEADER_BYTES: u8 = 8;
const PACKET_BYTES: u64 = 1024;
/// How long an answer may take.
const PATIENCE_NS: u64 = 50_000;

/// The protocol: one connection, which is open from the start. Offsets count from its first byte.
struct StopAndWait {
    route: Route,
    flow: Option<FlowIndex>,
    event: Option<ProtocolEvent>,
    offered: u64,
    acknowledged: u64,
    /// The packet on the way: its bytes, and when it was sent.
    waits: Option<(u64, u64)>,
    accepted: u64,
    owes_answer: bool,
}

impl StopAndWait {
    /// Of this host, to another one.
    fn new(this: u8, other: u8) -> Self {
        let mac = |host| [2, 0, 0, 0, 0, host];
        let address = |host| SocketAddr::from(([10, 0, 0, host], PORT));
        let macs = [mac(this), mac(other)];
        let route = Route { macs, from: address(this), to: address(other) };
        Self {
            route,
            flow: None,
            event: None,
            offered: 0,
            acknowledged: 0,
            waits: None,
            accepted: 0,
            owes_answer: false,
        }
    }

    /// Sends the next bytes, or an answer alone.
    fn send(&mut self, bytes: u64, sink: &mut dyn HeaderSink) -> HostResult<()> {
        let numbers = [self.acknowledged as u32, self.accepted as u32];
        let header = numbers.map(u32::to_be_bytes).concat();
        let (header, layers) = self.route.udp(&header, bytes as usize);
        let payload = (bytes > 0).then_some(OutgoingPayload {
            position: numbers[0],
            bytes: bytes as u32,
            mss_bytes: PACKET_BYTES as u32,
        });
        self.owes_answer = false;
        let layers = Some(layers);
        sink.send(&OutgoingHeader { flow: self.flow, bytes: &header, layers, payload })
    }
}

impl Protocol for StopAndWait {
    type Remote = SocketAddr;

    fn profiles(&self) -> Vec<(u8, Profile)> {
        let (position, message_key) = ((0, 4), (0, 0));
        let header_bytes = HEADER_BYTES;
        vec![(PROFILE, Profile { port: PORT, header_bytes, position, message_key })]
    }

    fn connect(
        &mut self,
        _now_ns: u64,
        flow: FlowIndex,
        _remote: SocketAddr,
        _options: &ConnectOptions,
    ) -> HostResult<()> {
        self.flow = Some(flow);
        self.event = Some(ProtocolEvent::Opened(flow));
        Ok(())
    }

    fn addresses(&self, _flow: FlowIndex) -> HostResult<(SocketAddr, SocketAddr)> {
        Ok((self.route.from, self.route.to))
    }

    fn key(&self, _flow: FlowIndex) -> HostResult<Option<FlowKey>> {
        let mut key = flow_key(self.route.to, self.route.from);
        key[PROTOCOL] = PROTOCOL_UDP;
        key[FAMILY_PROFILE] |= PROFILE << 4;
        Ok(Some(key))
    }

    fn install(&mut self, _flow: FlowIndex) -> HostResult<Install> {
        Ok(Install { profile: PROFILE, receive_first: 0, send_first: 0, early: Vec::new() })
    }

    fn arrive(
        &mut self,
        _now_ns: u64,
        _flow: FlowIndex,
        packet: &Packet<'_>,
    ) -> HostResult<Arrival> {
        let Some([.., a, b, c, d]) = packet.header.last_chunk::<{ HEADER_BYTES as usize }>() else {
            return Ok(Verdict::Refused.into());
        };
        let said = u32::from_be_bytes([*a, *b, *c, *d]);
        if let Some((bytes, _)) = self.waits {
            if said == (self.acknowledged + bytes) as u32 {
                self.acknowledged += bytes;
                self.waits = None;
            }
        }
        let bytes = u64::from(packet.payload_bytes);
        self.owes_answer |= bytes > 0;
        let is_next = packet.position == self.accepted as u32;
        let is_kept = packet.has_room && packet.payload != PacketPayload::Nowhere;
        let verdict = match (bytes > 0, is_next, is_kept) {
            // The last one again: its answer was lost.
            (true, false, _) => Verdict::Ignored,
            (true, true, false) => Verdict::Refused,
            _ => {
                self.accepted += bytes;
                Verdict::Taken { accepted_to: self.accepted }
            }
        };
        Ok(Arrival { verdict, acknowledged_to: self.acknowledged })
    }

    fn transmit(&mut self, now_ns: u64, sink: &mut dyn HeaderSink) -> HostResult<()> {
        let bytes = (self.offered - self.acknowledged).min(PACKET_BYTES);
        let is_due = self.waits.is_none_or(|(_, sent_ns)| now_ns >= sent_ns + PATIENCE_NS);
        let has_room = self.flow.is_some_and(|flow| sink.has_room_for(flow));
        match has_room {
            true if bytes > 0 && is_due => {
                self.waits = Some((bytes, now_ns));
                self.send(bytes, sink)
            }
            true if self.owes_answer => self.send(0, sink),
            _ => Ok(()),
        }
    }

    fn deadline(&mut self) -> NextTimer {
        let due = self.waits.map(|(_, sent_ns)| sent_ns + PATIENCE_NS);
        due.map_or(NextTimer::Never, NextTimer::At)
    }

    fn extend_receive(&mut self, _now_ns: u64, _flow: FlowIndex, _end: u64) {}

    fn extend_send(&mut self, _now_ns: u64, _flow: FlowIndex, end: u64) {
        self.offered = end;
    }

    fn event(&mut self) -> Option<ProtocolEvent> {
        self.event.take()
    }

    fn flow_of(&self, packet: &Packet<'_>) -> Option<FlowIndex> {
        let is_ours = packet.header.len() == packet.l4_offset + 8 + usize::from(HEADER_BYTES);
        self.flow.filter(|_| is_ours)
    }

    /// Before the flow is installed: it comes again.
    fn arrive_without_flow(&mut self, _now_ns: u64, _packet: &Packet<'_>) -> HostResult<()> {
        Ok(())
    }

    fn advance(&mut self, _now_ns: u64) -> HostResult<()> {
        Ok(())
    }

    fn finish(&mut self, _now_ns: u64, _flow: FlowIndex) -> HostResult<()> {
        Ok(())
    }

    fn close(&mut self, now_ns: u64, flow: FlowIndex) -> HostResult<()> {
        self.abort(now_ns, flow)
    }

    fn abort(&mut self, _now_ns: u64, _flow: FlowIndex) -> HostResult<()> {
        self.flow = None;
        self.waits = None;
        Ok(())
    }
}

const BYTES: u32 = 100_000;
const SEND: u64 = 1;
const RECEIVE: u64 = 2;

/// One host: it sends its first `BYTES` bytes, and receives as many behind them.
struct Host {
    provider: Provider<GoldenBus, StopAndWait>,
    memory: ApplicationMapping,
    done: Vec<u64>,
}

impl Host {
    fn open(bus: GoldenBus, clock: &ManualClock, this: u8, other: u8) -> Result<Self> {
        let protocol = StopAndWait::new(this, other);
        let mut provider = Provider::open(bus, protocol, DeviceConfig::default())?;
        provider.set_clock(Clock::Manual(clock.clone()));
        let application = ApplicationId::FIRST;
        let region = provider.register(application, MemoryKind::Application, 2 * BYTES as usize)?;
        let mut memory = provider.map(region)?;
        memory.write(0, &content(this));
        let remote = provider.protocol().route.to;
        let connection = provider.connect(application, remote)?;
        provider.recv(connection, region.span(BYTES.into(), BYTES), RECEIVE)?;
        provider.send(connection, region.span(0, BYTES), SEND)?;
        Ok(Self { provider, memory, done: Vec::new() })
    }

    /// Lets the host do what is to be done.
    fn poll(&mut self) -> Result<()> {
        self.provider.poll()?;
        while let Some(completion) = self.provider.next_completion() {
            match completion {
                Completion::Opened(_) => {}
                Completion::Sent { request, .. } | Completion::Received { request, .. } => {
                    self.done.push(request);
                }
                other => anyhow::bail!("unexpected: {other:?}"),
            }
        }
        Ok(())
    }
}

/// What a host sends.
fn content(host: u8) -> Vec<u8> {
    (0..BYTES).map(|at| (at % 251) as u8 ^ host).collect()
}

/// Two hosts, their cards and the wire between them.
pub fn main() -> Result<()> {
    let clock = ManualClock::default();
    let mut cards = [GoldenCard::new(SMALL), GoldenCard::new(SMALL)];
    let [first, second] = cards.each_ref().map(|card| GoldenBus::new(card.clone()));
    let mut hosts = [Host::open(first, &clock, 1, 2)?, Host::open(second, &clock, 2, 1)?];
    let disturbance = Disturbance { loss: 0.1, ..Disturbance::default() };
    let mut wires = [1, 2].map(|seed| Wire::new(disturbance, seed));
    while hosts.iter().any(|host| host.done.len() < 2) {
        ensure!(clock.now_ns() < 1_000_000_000, "no end within a second");
        hosts.iter_mut().try_for_each(Host::poll)?;
        let [first, second] = &mut cards;
        wires[0].join(first, second);
        wires[1].join(second, first);
        clock.advance(Duration::from_micros(1));
    }
    for (host, other) in hosts.iter().zip([2, 1]) {
        let mut arrived = vec![0; BYTES as usize];
        host.memory.read(BYTES as usize, &mut arrived);
        ensure!(arrived == content(other), "other bytes have arrived");
    }
    let lost: u64 = wires.iter().map(|wire| wire.statistics().lost).sum();
    let copied = hosts.iter().map(|host| host.provider.counters().copied_payload_bytes);
    ensure!(lost > 0 && copied.sum::<u64>() == 0, "nothing was lost, or software has copied");
    println!("{BYTES} bytes each way, {lost} packets lost, no byte copied by software");
    Ok(())
}
