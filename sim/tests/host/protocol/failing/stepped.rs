//! A protocol of which one connection fails while others wait for the same step.

use std::net::SocketAddr;

use abi::config::SMALL;
use host::driver::device::DeviceConfig;
use host::driver::error::DriverError;
use host::error::protocol::ProtocolError;
use host::error::{HostError, Result};
use host::protocol::{
    Arrival, ConnectOptions, FlowIndex, FlowKey, HeaderSink, Install, Packet, Protocol,
    ProtocolEvent,
};
use host::provider::{ApplicationId, Completion, Provider};
use lab::golden_card::{GoldenBus, GoldenCard};

use crate::protocol::plain_tcp::PlainTcp;
use crate::protocol::{LOCAL, REMOTE};

/// The key of the second connection fails.
struct Second(PlainTcp);

impl Protocol for Second {
    type Remote = SocketAddr;

    fn connect(
        &mut self,
        _now_ns: u64,
        _flow: FlowIndex,
        _remote: SocketAddr,
        _options: &ConnectOptions,
    ) -> Result<()> {
        Ok(())
    }

    fn addresses(&self, flow: FlowIndex) -> Result<(SocketAddr, SocketAddr)> {
        self.0.addresses(flow)
    }

    fn key(&self, flow: FlowIndex) -> Result<Option<FlowKey>> {
        match flow.0 {
            1 => Err(HostError::Driver(DriverError::Gone)),
            _ => Ok(None),
        }
    }

    fn install(&mut self, _flow: FlowIndex) -> Result<Install> {
        Ok(Install { profile: 0, receive_first: 0, send_first: 0, early: Vec::new() })
    }

    fn finish(&mut self, _now_ns: u64, _flow: FlowIndex) -> Result<()> {
        Ok(())
    }

    fn close(&mut self, _now_ns: u64, _flow: FlowIndex) -> Result<()> {
        Ok(())
    }

    fn abort(&mut self, _now_ns: u64, _flow: FlowIndex) -> Result<()> {
        Ok(())
    }

    fn arrive(&mut self, _: u64, flow: FlowIndex, _: &Packet<'_>) -> Result<Arrival> {
        Err(HostError::Protocol(ProtocolError::UnknownFlow(flow.0)))
    }

    fn flow_of(&self, _packet: &Packet<'_>) -> Option<FlowIndex> {
        None
    }

    fn arrive_without_flow(&mut self, _now_ns: u64, _packet: &Packet<'_>) -> Result<()> {
        Ok(())
    }

    fn extend_receive(&mut self, _now_ns: u64, _flow: FlowIndex, _end: u64) {}

    fn extend_send(&mut self, _now_ns: u64, _flow: FlowIndex, _end: u64) {}

    fn advance(&mut self, _now_ns: u64) -> Result<()> {
        Ok(())
    }

    fn event(&mut self) -> Option<ProtocolEvent> {
        self.0.event()
    }

    fn transmit(&mut self, _now_ns: u64, _sink: &mut dyn HeaderSink) -> Result<()> {
        Ok(())
    }
}

/// Four connections whose keys are asked for in one poll; the second one's fails.
#[test]
fn steps_behind_a_failure_still_happen() {
    let mut plain = PlainTcp::new(LOCAL);
    plain.open_all(4);
    let bus = GoldenBus::new(GoldenCard::new(SMALL));
    let provider = Provider::open(bus, Second(plain), DeviceConfig::with_seed(1));
    let mut provider = provider.expect("a card");
    let remote = REMOTE.parse().expect("an address");
    let first = ApplicationId::FIRST;
    let ids = [(); 4].map(|()| provider.connect(first, remote).expect("a flow"));
    for _ in 0..20 {
        provider.poll().expect("it polls");
    }
    let mut opened = Vec::new();
    let mut failed = Vec::new();
    while let Some(completion) = provider.next_completion() {
        match completion {
            Completion::Opened(id) => opened.push(id),
            Completion::Failed { connection, .. } => failed.push(connection),
            _ => {}
        }
    }
    assert_eq!((opened, failed), (vec![ids[0], ids[2], ids[3]], vec![ids[1]]));
}
