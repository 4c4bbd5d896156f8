//! Applications and shards: who is protected from whom, and who shares rings.
//!
//! ```text
//!   application (domain) 0 ─┐
//!   application (domain) 1 ─┴─► shard (owner) 1 ── rings, header queue, interrupt
//!   application (domain) 2 ───► shard (owner) 2
//!                               owner 0 ── the driver's: commands, packets without a flow
//! ```
//! A domain is a client, an owner a set of rings that one thread serves. The card checks the domain
//! of a flow against that of each region that it reaches, whoever shares rings. What it cannot know
//! is which application a request on a shared ring is from: the provider checks each buffer against
//! the domain of its connection before it is posted
//! ([`crate::error::region::RegionError::ForeignRegion`]). An application that is handed over to
//! another process names its connections through the provider's caller, which must know whose they
//! are.

use super::names::{ApplicationId, ShardId};
use crate::error::application::ApplicationError;
use crate::error::table::TableError;
use crate::error::{HostError, Result};

/// The domain of the provider itself, which no application has.
pub(super) const PROVIDER_DOMAIN: u16 = u16::MAX;
/// Domains for applications.
const DOMAINS: usize = PROVIDER_DOMAIN as usize;

/// The shard of each open application.
#[derive(Debug, Default)]
pub(super) struct Applications {
    /// By domain; nothing for one that was closed.
    shards: Vec<Option<ShardId>>,
    closed: Vec<u16>,
}

impl Applications {
    fn open(&self) -> usize {
        self.shards.len() - self.closed.len()
    }

    /// A new application of a shard.
    pub fn add(&mut self, shard: ShardId) -> Result<ApplicationId> {
        if let Some(domain) = self.closed.pop() {
            self.shards[usize::from(domain)] = Some(shard);
            return Ok(ApplicationId(domain));
        }
        let domain = u16::try_from(self.shards.len()).ok();
        let domain = domain.filter(|domain| *domain != PROVIDER_DOMAIN);
        let domain =
            domain.ok_or(HostError::Table(TableError::Full { what: "domains", limit: DOMAINS }))?;
        self.shards.push(Some(shard));
        Ok(ApplicationId(domain))
    }

    /// The shard of an application.
    pub fn shard(&self, application: ApplicationId) -> Result<ShardId> {
        let shard = self.shards.get(usize::from(application.0));
        shard.copied().flatten().ok_or(HostError::Application(ApplicationError::Unknown {
            application: application.0,
            open: self.open(),
        }))
    }

    /// Number of the open applications of a shard.
    pub fn of(&self, shard: ShardId) -> usize {
        self.shards.iter().flatten().filter(|other| **other == shard).count()
    }

    /// Forgets an application, whose domain is used again.
    pub fn remove(&mut self, application: ApplicationId) {
        if let Some(shard) = self.shards.get_mut(usize::from(application.0)) {
            if shard.take().is_some() {
                self.closed.push(application.0);
            }
        }
    }
}
