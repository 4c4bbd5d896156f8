//! `zeronic device doctor`: a card and the machine around it, with advice.
//!
//! ```text
//!   bus, link, settings of PCI Express ─┐
//!   card, wire, counters of faults ─────┼─► checks: good, look, bad, not seen
//!   machine ────────────────────────────┘
//! ```

mod card;
mod link;
mod machine;

use anyhow::Result;
use clap::Args;

use super::card::{look_at, CardArguments};
use super::report::conclude;
use crate::shared::failure::STATUSES;

/// Arguments of `zeronic device doctor`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct DoctorArguments {
    #[command(flatten)]
    card: CardArguments,
}

/// Runs the command. True where nothing is bad.
pub fn run(arguments: &DoctorArguments) -> Result<bool> {
    let json = arguments.card.json()?;
    let mut card = arguments.card.open()?;
    let look = look_at(&mut card)?;
    let mut checks = link::checks(&mut card)?;
    checks.extend(card::checks(&mut card, &look)?);
    checks.extend(machine::checks(card.is_slot()));
    conclude(&checks, json)
}
