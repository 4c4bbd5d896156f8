//! The calls that open and close shards and applications, and restart shards.
//!
//! ```text
//!   open_shard ─► rings ─┬─ open_application ─► domain ─► close_application ─┬─► close_shard
//!                 ▲   │  └─ ...                                              ┘
//!                 │   └── a ring stops ─► connections fail ─► closed ─┐
//!                 └──────────────────── restart_shard ◄───────────────┘
//! ```
//!
//! Called by applications; `usable_shard` by the calls that open connections.

use crate::driver::bus::Bus;
use crate::driver::device::Lost;
use crate::driver::error::DriverError;
use crate::driver::rings::RingSizes;
use crate::error::application::ApplicationError;
use crate::error::{HostError, Result};
use crate::protocol::Protocol;
use crate::provider::bounce::Bounce;
use crate::provider::{ApplicationId, Provider, ShardId};
use crate::records::commands::flow_remove;

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
        self.check_shard(shard)?;
        self.applications.add(shard)
    }

    /// A shard that is open. Owner 0 is the driver's.
    fn check_shard(&self, shard: ShardId) -> Result<()> {
        match shard.0 > 0 && self.device.is_open(shard.0) {
            true => Ok(()),
            false => Err(HostError::Driver(DriverError::UnknownOwner {
                owner: shard.0,
                open: self.device.owners(),
            })),
        }
    }

    /// The shard of an application, whose rings the card has not stopped.
    pub(in crate::provider) fn usable_shard(&self, application: ApplicationId) -> Result<u8> {
        let owner = self.applications.shard(application)?.0;
        let ring = match self.device.known_stopped(owner) {
            (false, false) => return Ok(owner),
            (true, _) => "command",
            (false, true) => "send",
        };
        Err(HostError::Driver(DriverError::RingStopped { owner, ring }))
    }

    /// Starts the rings of a shard again, after the card has stopped one: once all its connections,
    /// which failed with it, are reported closed. Applications, listeners and regions stay as they
    /// are. It waits for a fence of the card, some microseconds. Returns what was lost with the
    /// rings.
    pub fn restart_shard(&mut self, shard: ShardId) -> Result<Lost> {
        self.check_shard(shard)?;
        let connections = self.connections_of(shard);
        if connections > 0 {
            let applications = self.applications.of(shard);
            return Err(HostError::Application(ApplicationError::ShardBusy {
                shard: shard.0,
                applications,
                connections,
            }));
        }
        self.end_bounce(shard);
        Ok(self.device.restart_owner(shard.0)?)
    }

    /// Closes a shard that has neither applications nor connections, be its rings stopped or not.
    /// The memory of its rings goes back; its number is that of the next shard that is opened.
    pub fn close_shard(&mut self, shard: ShardId) -> Result<()> {
        self.check_shard(shard)?;
        let (applications, connections) = (self.applications.of(shard), self.connections_of(shard));
        if applications + connections > 0 {
            return Err(HostError::Application(ApplicationError::ShardBusy {
                shard: shard.0,
                applications,
                connections,
            }));
        }
        self.end_bounce(shard);
        self.device.close_owner(shard.0)?;
        if let Some(at) = self.bounces.iter().position(|bounce| bounce.owner == shard.0) {
            let bounce = self.bounces.swap_remove(at);
            self.connections.give_back(bounce.name);
        }
        Ok(())
    }

    fn connections_of(&self, shard: ShardId) -> usize {
        self.connections.iter().filter(|(_, c)| c.owner == shard.0).count()
    }

    /// Removes the flow and the region of a shard for what is sent beyond the flow table, if it has
    /// them. The next connection beyond the table begins anew.
    fn end_bounce(&mut self, shard: ShardId) {
        let bounce = self.bounces.iter_mut().find(|bounce| bounce.owner == shard.0);
        let Some((bounce, region)) = bounce.and_then(|b| b.region().map(|region| (b, region)))
        else {
            return;
        };
        self.device.command(flow_remove(bounce.name));
        let name = self.connections.next_name(bounce.name);
        *bounce = Bounce::new(shard.0, name);
        // It is there until its removal is confirmed.
        if let Ok(entry) = self.regions.removal(region) {
            let ticket = self.device.command(entry);
            self.removals.push((ticket, region));
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
            return Err(HostError::Application(ApplicationError::Busy {
                application: domain,
                listeners,
                connections,
                regions,
            }));
        }
        self.applications.remove(application);
        Ok(())
    }
}
