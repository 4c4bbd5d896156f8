//! Faults of a wire, as options.

use clap::Args;
use lab::wire::Disturbance;

use crate::shared::options::probability;

/// What a wire does to frames, in both directions.
#[derive(Clone, Copy, Debug, Args)]
pub struct Faults {
    /// Probability that the wire loses a frame (0.01 or 1%)
    #[arg(long, default_value = "0", value_parser = probability, value_name = "P")]
    loss: f64,
    /// Probability that a frame is overtaken
    #[arg(long, default_value = "0", value_parser = probability, value_name = "P")]
    reorder: f64,
    /// Probability that a frame arrives twice
    #[arg(long, default_value = "0", value_parser = probability, value_name = "P")]
    duplicate: f64,
    /// Probability that a bit flips (in half of the cases with a frame check sequence that matches)
    #[arg(long, default_value = "0", value_parser = probability, value_name = "P")]
    corrupt: f64,
}

impl Faults {
    /// As the wire takes them.
    pub fn disturbance(&self) -> Disturbance {
        Disturbance {
            loss: self.loss,
            reorder: self.reorder,
            duplicate: self.duplicate,
            corrupt: self.corrupt / 2.0,
            corrupt_unseen: self.corrupt / 2.0,
            delay_ps: 0,
        }
    }

    /// The options of those that can happen.
    pub fn option_names(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            ("--loss", self.loss),
            ("--reorder", self.reorder),
            ("--duplicate", self.duplicate),
            ("--corrupt", self.corrupt),
        ];
        all.into_iter().filter(|(_, probability)| *probability > 0.0).map(|(name, _)| name)
    }
}
