//! The two ends of a demo: the TCP of this machine, and the peer.

use std::net::SocketAddr;

use anyhow::Result;
use host::clock::Clock;
use host::tcp::TcpProtocol;
use host::transport::peer::{KernelPeer, SmoltcpPeer, WirePeer};
use host::transport::{LinkConfig, LinuxTransport, SmoltcpTransport, Transport, Tuning};
use tcp::config::Law;
use tcp::{Config, Secret};

use super::arguments::{Controller, DemoArguments};
use crate::shared::bus::BusName;
use crate::shared::stack::{choose, Stack, PORT};

/// The law of `--controller`, and its name.
pub fn law(arguments: &DemoArguments) -> (Law, &'static str) {
    match arguments.controller {
        Controller::Model => (Law::Model, "model-based controller"),
        Controller::Cubic => (Law::Cubic, "CUBIC"),
        Controller::Dctcp => (Law::Dctcp, "DCTCP"),
    }
}

/// Our own TCP for a wire of one's own.
pub fn own_tcp(arguments: &DemoArguments, secret: Secret) -> TcpProtocol {
    let config = Config { law: law(arguments).0, ..Config::private_wire() };
    TcpProtocol::new(&link(1, arguments), config, secret)
}

fn link(host: u8, arguments: &DemoArguments) -> LinkConfig {
    let tuning = match (&arguments.bus, &arguments.wave) {
        (BusName::Card(_), _) => Tuning::REAL_TIME,
        (BusName::Sim, None) => Tuning::SIMULATION,
        (BusName::Sim, Some(_)) => Tuning::TRACED_SIMULATION,
    };
    LinkConfig::lab(host, arguments.mtu, tuning)
}

/// Where the peer listens.
pub fn remote(arguments: &DemoArguments) -> SocketAddr {
    let address = link(2, arguments).addresses[usize::from(arguments.ipv6)].address;
    (address, PORT).into()
}

/// The TCP of this machine, and its name.
pub fn open_transport(
    wish: Stack,
    arguments: &DemoArguments,
    clock: &Clock,
) -> Result<(Box<dyn Transport>, &'static str)> {
    let link = link(1, arguments);
    choose::<Box<dyn Transport>>(
        wish,
        || Ok(Box::new(LinuxTransport::open(&link)?)),
        || Ok(Box::new(SmoltcpTransport::open(&link, clock.clone())?)),
    )
}

/// The peer, and its name.
pub fn open_peer(
    arguments: &DemoArguments,
    clock: &Clock,
) -> Result<(Box<dyn WirePeer>, &'static str)> {
    let link = link(2, arguments);
    choose::<Box<dyn WirePeer>>(
        arguments.peer,
        || Ok(Box::new(KernelPeer::open(&link)?)),
        || Ok(Box::new(SmoltcpPeer::open(&link, clock.clone())?)),
    )
}
