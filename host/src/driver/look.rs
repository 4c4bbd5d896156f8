//! What a card says of itself, read without opening it.
//!
//! Source: `abi::registers`.

use abi::registers as r;

use super::bus::Bus;
use super::error::Result;
use super::read::read;
use super::start::{read_sizes, CardSizes};
use super::wire::WireState;

/// The registers that identify a card, and its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardLook {
    /// [`r::ID_VALUE`] of a card, [`r::GOLDEN_ID_VALUE`] of a golden image; else it is no card, and
    /// the other words mean nothing.
    pub id: u32,
    /// Version of its contract, major in the upper half.
    pub version: u32,
    /// Sizes of its tables.
    pub sizes: CardSizes,
    /// [`r::FEATURE_IPV6`] and followers.
    pub features: u32,
    /// Its epoch.
    pub epoch: u32,
    /// [`r::CONTROL`]: which directions run.
    pub control: u32,
    /// [`r::STATUS`].
    pub status: u32,
    /// The wire, as the status has it.
    pub wire: WireState,
}

/// Looks at a card. One that is gone is [`super::error::DriverError::Gone`].
pub fn look(bus: &mut dyn Bus) -> Result<CardLook> {
    let id = read(bus, r::ID)?;
    let version = read(bus, r::VERSION)?;
    let sizes = read_sizes(bus)?;
    let features = read(bus, r::FEATURES)?;
    let epoch = read(bus, r::EPOCH)?;
    let control = read(bus, r::CONTROL)?;
    let status = read(bus, r::STATUS)?;
    let wire = WireState::of_status(status);
    Ok(CardLook { id, version, sizes, features, epoch, control, status, wire })
}
