//! Bytes through any design that has the card's ports: whether it is a card.
//!
//! ```text
//!   application ── provider ── smoltcp ══ design ══ wire ══ smoltcp ── peer
//! ```

use std::cell::RefCell;
use std::fmt::Display;
use std::rc::Rc;

use host::clock::{Clock, ManualClock};
use host::driver::device::DeviceConfig;
use host::observed::Observed;
use host::provider::Provider;
use host::transport::peer::SmoltcpPeer;
use host::transport::{LinkConfig, SmoltcpTransport, Tuning};
use lab::exchange::{Blind, Exchange, Lab};
use pcie_sim::PcieConfig;
use verilate::design::Design;

use crate::bus::SimulatedBus;
use crate::card::SimulatedCard;

/// Moves bytes each way between an application and a peer, both smoltcp, over IPv4 (address 0) or
/// IPv6 (address 1); what went wrong.
pub fn moves_bytes(design: &Design, plan: &Exchange, address: usize) -> Result<(), String> {
    fn said(error: impl Display) -> String {
        error.to_string()
    }
    let pcie = PcieConfig::default();
    let card = SimulatedCard::of(design, pcie.clone()).map_err(said)?;
    let mut card = Rc::new(RefCell::new(card));
    let time = ManualClock::default();
    let clock = || Clock::Manual(time.clone());
    let link = |end| LinkConfig::lab(end, 1500, Tuning::REAL_TIME);
    let transport = SmoltcpTransport::open(&link(1), clock()).map_err(said)?;
    let mut peer = SmoltcpPeer::open(&link(2), clock()).map_err(said)?;
    let bus = SimulatedBus::new(card.clone(), &pcie).map_err(said)?;
    let provider = Provider::open(bus, Observed::new(transport), DeviceConfig::with_seed(1));
    let mut provider = provider.map_err(said)?;
    let mut lab =
        Lab { provider: &mut provider, card: &mut card, peer: &mut peer, clock: Some(time) };
    let remote = (link(2).addresses[address].address, 5001).into();
    let outcome = lab.run(remote, plan, &mut Blind).map_err(said)?;
    let violations = card.borrow().violations();
    match (outcome.is_exact(), violations.first()) {
        (true, None) => Ok(()),
        (_, Some(violation)) => Err(violation.clone()),
        (false, None) => Err("bytes differ".to_owned()),
    }
}
