//! Other hash secrets for the flow table, while connections are open.
//!
//! ```text
//!   rekey ─► all keys cleared ── confirmed ─► secrets written ─► all keys set under the new ones
//!                   └── packets find no flow: deferred, and taken by their addresses ──┘
//! ```
//! Whoever has learned the secrets can find addresses that share both buckets. The keys are placed
//! under the new secrets on the host first, so that nothing begins that does not end. Connections
//! that open meanwhile wait.
//!
//! Called by applications; `step_rekeying` by each poll.

use crate::driver::bus::Bus;
use crate::driver::start::secret_words;
use crate::error::request::RequestError;
use crate::error::table::TableError;
use crate::error::{HostError, Result};
use crate::protocol::Protocol;
use crate::provider::secrets::Rekeying;
use crate::provider::Provider;

use abi::flow_key::Secret;

/// Secrets that are tried before the table counts as too full.
const TRIES_MAX: u64 = 16;

impl<B: Bus, P: Protocol> Provider<B, P> {
    /// Changes the hash secrets of the flow table: to random ones, or to those of a seed, for runs
    /// that must repeat. Until [`Provider::is_rekeying`] is false again, what arrives is deferred
    /// and copied. An error changes nothing.
    pub fn rekey(&mut self, seed: Option<u64>) -> Result<()> {
        if self.is_rekeying() {
            return Err(HostError::Request(RequestError::Rekeying));
        }
        for number in 0..TRIES_MAX {
            let words = secret_words(seed.map(|seed| seed.wrapping_add(number)));
            let Some(keys) = self.keys.under(words.map(Secret::new)) else { continue };
            let clears = self.keys.clear_all().into_iter();
            let cleared = clears.map(|entry| self.device.command(entry)).last();
            self.keys = keys;
            self.rekeying = Some(Rekeying { cleared, words });
            return Ok(());
        }
        let slots = self.key_slots();
        Err(HostError::Table(TableError::NoKeySlot { slots }))
    }

    /// Whether hash secrets are being changed.
    pub fn is_rekeying(&self) -> bool {
        self.rekeying.is_some()
    }

    /// Writes the secrets and sets the keys again when all are cleared.
    pub(in crate::provider) fn step_rekeying(&mut self) -> Result<()> {
        let device = &self.device;
        let is_clear = |rekeying: &mut Rekeying| {
            let cleared = rekeying.cleared;
            cleared.is_none_or(|ticket| device.is_confirmed(ticket))
        };
        let Some(rekeying) = self.rekeying.take_if(is_clear) else { return Ok(()) };
        self.device.set_secrets(&rekeying.words)?;
        for entry in self.keys.set_all() {
            self.device.command(entry);
        }
        Ok(())
    }

    /// Slots of the flow table.
    pub(in crate::provider) fn key_slots(&self) -> usize {
        1 << (self.device.sizes().bucket_bits + 3)
    }
}
