//! The card's configurations and its models by name, as options.

use abi::config::{CardConfig, CONFIGS, DEFAULT, DEFAULT_SLICES, LAB, SMALL};
use clap::ValueEnum;
use host::driver::device::CardSizes;

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

/// The configuration of these sizes, if one has them.
pub fn configuration(sizes: &CardSizes) -> Option<&'static str> {
    let of = |config: &CardConfig| {
        [
            config.flow_bits,
            config.bucket_bits,
            config.segment_bits,
            config.region_bits,
            config.page_bits,
            config.owner_bits,
        ]
    };
    let here = [
        sizes.flow_bits,
        sizes.bucket_bits,
        sizes.segment_bits,
        sizes.region_bits,
        sizes.page_bits,
        sizes.owner_bits,
    ];
    let found = CONFIGS.iter().find(|config| of(config) == here.map(|bits| bits as usize));
    found.map(|config| config.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_name_their_configuration() {
        let config = abi::config::LAB;
        let bits = |bits: usize| bits as u32;
        let sizes = CardSizes {
            flow_bits: bits(config.flow_bits),
            bucket_bits: bits(config.bucket_bits),
            segment_bits: bits(config.segment_bits),
            region_bits: bits(config.region_bits),
            page_bits: bits(config.page_bits),
            owner_bits: bits(config.owner_bits),
        };
        assert_eq!(configuration(&sizes), Some("lab"));
        assert_eq!(configuration(&CardSizes { flow_bits: 3, ..sizes }), None);
    }
}
