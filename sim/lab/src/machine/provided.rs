//! A machine whose card serves an application: a provider with a protocol, and a peer with its own.
//!
//! ```text
//!   application ── calls ──► Provider ─ protocol ── Bus ── card ══ wire ══ peer
//!               ◄─ completions ─
//! ```

use std::net::SocketAddr;
use std::time::Duration;

use host::clock::{Clock, ManualClock};
use host::driver::bus::Bus;
use host::driver::device::DeviceConfig;
use host::observed::Observed;
use host::protocol::Protocol;
use host::provider::{Completion, Provider};
use host::transport::peer::{SmoltcpPeer, WirePeer};
use host::transport::{LinkConfig, SmoltcpTransport};

use super::Machine;
use crate::exchange::{Exchange, Lab, LabError, Observer, Outcome};
use crate::network_side::NetworkSide;

/// A machine with smoltcp at both ends.
pub type SmoltcpMachine<B, C> = Machine<Provider<B, Observed<SmoltcpTransport>>, C, SmoltcpPeer>;

/// smoltcp at both ends of the wire, by one clock: ours at `links[0]`, the peer's at `links[1]`.
pub fn smoltcp_ends(
    links: &[LinkConfig; 2],
    clock: &ManualClock,
) -> Result<(SmoltcpTransport, SmoltcpPeer), LabError> {
    let by = || Clock::Manual(clock.clone());
    Ok((SmoltcpTransport::open(&links[0], by())?, SmoltcpPeer::open(&links[1], by())?))
}

impl<B: Bus, C: NetworkSide> SmoltcpMachine<B, C> {
    /// Opens a card with smoltcp at both ends, by a clock of the machine's own.
    pub fn with_smoltcp(
        bus: B,
        card: C,
        links: &[LinkConfig; 2],
        config: DeviceConfig,
    ) -> Result<Self, LabError> {
        let clock = ManualClock::default();
        let (transport, peer) = smoltcp_ends(links, &clock)?;
        let protocol = (Observed::new(transport), config);
        Ok(Self::provided(bus, protocol, card, peer, Some(clock))?)
    }
}

impl<B: Bus, P: Protocol, C, N> Machine<Provider<B, P>, C, N> {
    /// Opens a card with a protocol on it. With a clock, the provider goes by it.
    pub fn provided(
        bus: B,
        (protocol, config): (P, DeviceConfig),
        card: C,
        peer: N,
        clock: Option<ManualClock>,
    ) -> host::error::Result<Self> {
        let mut host = Provider::open(bus, protocol, config)?;
        if let Some(clock) = &clock {
            host.set_clock(Clock::Manual(clock.clone()));
        }
        Ok(Self { host, card, peer, clock })
    }

    /// Polls the provider; what it has completed.
    pub fn poll(&mut self) -> host::error::Result<Vec<Completion>> {
        self.host.poll()?;
        Ok(std::iter::from_fn(|| self.host.next_completion()).collect())
    }

    /// Moves the clock of both ends on, if they have one.
    pub fn pass(&self, time: Duration) {
        if let Some(clock) = &self.clock {
            clock.advance(time);
        }
    }
}

impl<B: Bus, P, C: NetworkSide, N: WirePeer> Machine<Provider<B, P>, C, N>
where
    P: Protocol<Remote = SocketAddr>,
{
    /// The machine as a lab has it.
    pub(crate) fn lab(&mut self) -> Lab<'_, B, P, C> {
        Lab {
            provider: &mut self.host,
            card: &mut self.card,
            peer: &mut self.peer,
            clock: self.clock.clone(),
        }
    }

    /// Connects to the peer at `remote` and moves the bytes of `exchange` each way.
    pub fn exchange(
        &mut self,
        remote: SocketAddr,
        exchange: &Exchange,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, LabError> {
        self.lab().run(remote, exchange, observer)
    }
}
