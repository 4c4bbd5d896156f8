//! The card's configurations by name, as an option.

use abi::config::{CardConfig, DEFAULT, DEFAULT_SLICES, LAB, SMALL};
use clap::ValueEnum;

/// Sizes of the card's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ConfigName {
    /// 16,384 flows.
    Default,
    /// The same, with a list in the neighbour die.
    DefaultSlices,
    /// 8,192 flows: fits one die.
    Lab,
    /// 64 flows.
    Small,
}

impl ConfigName {
    /// The sizes that it names.
    pub fn sizes(self) -> CardConfig {
        match self {
            ConfigName::Default => DEFAULT,
            ConfigName::DefaultSlices => DEFAULT_SLICES,
            ConfigName::Lab => LAB,
            ConfigName::Small => SMALL,
        }
    }

    /// The name by which the card is built.
    pub fn name(self) -> &'static str {
        self.sizes().name
    }
}
