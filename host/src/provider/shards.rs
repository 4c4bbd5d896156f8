//! The calls that open shards and applications, and close applications.
//!
//! ```text
//!   open_shard ─► rings ─┬─ open_application ─► domain ─► close_application
//!                        └─ ...
//! ```

use super::bounce::Bounce;
use super::{ApplicationId, Provider, ShardId};
use crate::driver::bus::Bus;
use crate::driver::error::{HostError, Result};
use crate::driver::rings::RingSizes;
use crate::protocol::Protocol;

impl<B: Bus, P: Protocol> Provider<B, P> {
    /// Opens one more shard: rings of their own, for the applications that it is given, and a flow
    /// of the card for what its connections beyond the flow table send.
    pub fn open_shard(&mut self, rings: RingSizes) -> Result<ShardId> {
        let name = self.connections.reserve_flow()?;
        let owner = self.device.open_owner(rings);
        let owner = owner.inspect_err(|_| self.connections.give_back(name))?;
        self.bounces.push(Bounce::new(owner, name));
        Ok(ShardId(owner))
    }

    /// Opens one more application, with a protection domain of its own, in the rings of a shard.
    pub fn open_application(&mut self, shard: ShardId) -> Result<ApplicationId> {
        let open = self.device.owners();
        match (1..open).contains(&usize::from(shard.0)) {
            true => self.applications.add(shard),
            false => Err(HostError::UnknownOwner { owner: shard.0, open }),
        }
    }

    /// Closes an application that has nothing left: no listener, no connection that is not reported
    /// closed, no region that the card may still use. Its domain is used again.
    pub fn close_application(&mut self, application: ApplicationId) -> Result<()> {
        self.applications.shard(application)?;
        let domain = application.0;
        let of_it = |other: &&ApplicationId| **other == application;
        let listeners = self.listeners.values().filter(of_it).count();
        let connections = self.connections.iter();
        let connections = connections.filter(|(_, c)| c.domain == domain).count();
        let regions = self.regions.all().filter(|r| r.domain == domain).count();
        if listeners + connections + regions > 0 {
            return Err(HostError::ApplicationBusy {
                application: domain,
                listeners,
                connections,
                regions,
            });
        }
        self.applications.remove(application);
        Ok(())
    }
}
