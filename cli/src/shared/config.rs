//! The card's configurations and its models by name, as options.

use abi::config::{CardConfig, DEFAULT, DEFAULT_SLICES, LAB, SMALL};
use clap::ValueEnum;

use crate::shared::options::UsageError;

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

/// Model of the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModelName {
    /// The emitted Verilog, in Verilator.
    Rtl,
    /// The golden model: the same contract, no clock.
    Golden,
}

impl ModelName {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ModelName::Rtl => "rtl",
            ModelName::Golden => "golden",
        }
    }

    /// The model, if a waveform can be had of it.
    pub fn with_wave(self, has_wave: bool) -> Result<Self, UsageError> {
        match self {
            ModelName::Golden if has_wave => {
                let message = "--wave needs --model rtl: the golden model has no signals";
                Err(UsageError(message.to_owned()))
            }
            model => Ok(model),
        }
    }
}
