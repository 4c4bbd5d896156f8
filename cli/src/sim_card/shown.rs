//! What the loop of `zeronic sim-card` asks of a model beside its part as a card.

use anyhow::Result;
use served::{GoldenModel, Model};

/// A model that is served, and spoken of.
pub trait Shown: Model {
    /// Whether it has a time of its own, which passes while a client has it.
    fn has_time(&self) -> bool {
        false
    }

    /// Whether it takes more frames from the wire now.
    fn has_room(&self) -> bool {
        true
    }

    /// Notices what has failed.
    fn check(&mut self) -> Result<()> {
        Ok(())
    }

    /// A client has come.
    fn join(&mut self) {}

    /// It has gone; what is to be said of its time here.
    fn leave(&mut self) -> Result<String> {
        Ok(String::new())
    }
}

impl Shown for GoldenModel {}
