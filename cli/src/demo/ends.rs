//! The two ends of a demo: their links, and the TCPs that they are to have.

use std::net::SocketAddr;

use host::clock::Clock;
use host::transport::{LinkConfig, Tuning};
use tcp::Secret;

use super::arguments::DemoArguments;
use super::stacks::Stacks;
use crate::shared::bus::BusName;
use crate::shared::stack::PORT;

/// The link of an end: 1 is this machine, 2 the peer.
pub fn link(host: u8, arguments: &DemoArguments) -> LinkConfig {
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

/// The TCPs of both ends, by a clock, with the secret of our own.
pub fn stacks(arguments: &DemoArguments, clock: Clock, secret: Secret) -> Stacks {
    let (transport, peer) = (arguments.transport, arguments.peer);
    Stacks { transport, peer, controller: arguments.controller, secret, clock }
}
