//! Registration: application memory becomes a region of the card, and leaves it again.
//!
//! Called by applications; `register_memory` also by a poll that needs a bounce region.

use crate::control::regions::{Region, Regions};
use crate::driver::bus::{Bus, DmaMemory, MemoryKind};
use crate::error::region::RegionError;
use crate::error::{HostError, Result};
use crate::memory::{ApplicationMapping, MemoryRange};
use crate::protocol::Protocol;
use crate::provider::applications::PROVIDER_DOMAIN;
use crate::provider::{ApplicationId, Provider, RegionId};

impl<B: Bus, P: Protocol> Provider<B, P> {
    /// Allocates memory for an application and registers it with the card.
    pub fn register(
        &mut self,
        application: ApplicationId,
        kind: MemoryKind,
        bytes: usize,
    ) -> Result<RegionId> {
        self.applications.shard(application)?;
        Regions::check_length(bytes as u64)?;
        let memory = self.device.bus().allocate_region(kind, bytes)?;
        self.register_or_release(application, memory)
    }

    /// Registers memory that an application already has, whole pages: of a sealed memfd
    /// ([`MemoryFile::adopt`](crate::memory::MemoryFile::adopt)), or at an address
    /// ([`AddressRange`](crate::memory::AddressRange)). Card and application share these pages from
    /// here on. A range may be registered several times, each time as another region.
    /// [`Provider::deregister`] ends the sharing; the memory stays the application's.
    pub fn register_existing(
        &mut self,
        application: ApplicationId,
        range: MemoryRange,
    ) -> Result<RegionId> {
        self.applications.shard(application)?;
        range.check_pages()?;
        Regions::check_length(range.bytes() as u64)?;
        let memory = self.device.bus().map(&range)?;
        self.register_or_release(application, memory)
    }

    fn register_or_release(
        &mut self,
        application: ApplicationId,
        memory: DmaMemory,
    ) -> Result<RegionId> {
        let registered = self.register_memory(application.0, memory);
        if registered.is_err() {
            self.device.bus().release(memory)?;
        }
        registered
    }

    pub(in crate::provider) fn register_memory(
        &mut self,
        domain: u16,
        memory: DmaMemory,
    ) -> Result<RegionId> {
        let range = self.device.bus().share(&memory)?;
        let (region, commands) = self.regions.register(memory, domain)?;
        if let Err(error) = self.copier.add(region.name(), &range) {
            self.regions.forget(region.index);
            return Err(error);
        }
        for entry in commands {
            let ticket = self.device.command(entry);
            self.regions.note_install(region.index, ticket);
        }
        Ok(RegionId(region.index))
    }

    /// Removes a region: its memory is released when the card no longer uses it. The payload of
    /// connections that still have buffers in it is deferred, and they fail when it would have to
    /// be copied there.
    pub fn deregister(&mut self, region: RegionId) -> Result<()> {
        self.region(region)?;
        let entry = self.regions.removal(region.0)?;
        let ticket = self.device.command(entry);
        self.removals.push((ticket, region.0));
        Ok(())
    }

    /// The memory of a region.
    pub fn memory(&self, region: RegionId) -> Result<DmaMemory> {
        Ok(self.region(region)?.memory)
    }

    /// Maps a region for the application, which must not touch a buffer between its request and its
    /// completion.
    pub fn map(&mut self, region: RegionId) -> Result<ApplicationMapping> {
        let memory = self.memory(region)?;
        let range = self.device.bus().share(&memory)?;
        let region = region.0;
        range.map().map_err(|source| HostError::Region(RegionError::Mapping { region, source }))
    }

    /// A region that is registered and not being removed.
    pub(in crate::provider) fn region(&self, region: RegionId) -> Result<&Region> {
        let leaving = self.removals.iter().any(|(_, index)| *index == region.0);
        self.regions
            .get(region.0)
            .filter(|region| !leaving && region.domain != PROVIDER_DOMAIN)
            .ok_or(HostError::Region(RegionError::UnknownRegion(region.0)))
    }
}
