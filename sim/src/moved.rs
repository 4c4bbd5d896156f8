//! Bytes through any design that has the card's ports: whether it is a card.
//!
//! ```text
//!   application ── provider ── smoltcp ══ design ══ wire ══ smoltcp ── peer
//! ```

use host::driver::device::DeviceConfig;
use host::transport::{LinkConfig, Tuning};
use lab::exchange::{Blind, Exchange};
use lab::machine::{CardModel, Machine};
use pcie_sim::PcieConfig;
use verilate::design::Design;

use crate::bus::SimulatedBus;
use crate::card::SimulatedCard;

/// Moves bytes each way between an application and a peer, both smoltcp, over IPv4 (address 0) or
/// IPv6 (address 1); what went wrong.
pub fn moves_bytes(design: &Design, plan: &Exchange, address: usize) -> Result<(), String> {
    fn text(error: impl ToString) -> String {
        error.to_string()
    }
    let pcie = PcieConfig::default();
    let card = SimulatedCard::of(design, pcie.clone()).map_err(text)?;
    let (bus, card) = SimulatedBus::with_card(card, &pcie).map_err(text)?;
    let links = [1, 2].map(|end| LinkConfig::lab(end, 1500, Tuning::REAL_TIME));
    let config = DeviceConfig::with_seed(1);
    let mut machine = Machine::with_smoltcp(bus, card, &links, config).map_err(text)?;
    let remote = (links[1].addresses[address].address, 5001).into();
    let outcome = machine.exchange(remote, plan, &mut Blind).map_err(text)?;
    let violations = machine.card.violations();
    match (outcome.is_exact(), violations.first()) {
        (true, None) => Ok(()),
        (_, Some(violation)) => Err(violation.clone()),
        (false, None) => Err("bytes differ".to_owned()),
    }
}
