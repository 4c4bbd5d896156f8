//! Connections beyond the flow table: those for which there was no flow, or no slot for its key.
//!
//! ```text
//!   received: no flow found ─► deferred ─► copied into buffers       sent: Bounce, one a shard
//! ```
//! They keep all rules of the others, but the card has none of their commands: each is confirmed at
//! once ([`NoCard`](crate::records::queue::NoCard)), because the card uses none of their buffers.
//! A connection stays beyond the table until it is closed.
//!
//! `step_bounces` is called by each poll, `bounce_of` by what takes an event or a refusal of its
//! flow, `has_bounce` by the step that installs.

use crate::driver::bus::{Bus, DmaMemory, MemoryKind};
use crate::driver::error::DriverError;
use crate::error::region::RegionError;
use crate::error::{HostError, Result};
use crate::failure::Failure;
use crate::protocol::Protocol;
use crate::provider::applications::PROVIDER_DOMAIN;
use crate::provider::bounce::{Bounce, REGION_BYTES};
use crate::provider::{Provider, RegionId};

impl<B: Bus, P: Protocol> Provider<B, P> {
    /// The bounce flow of this name.
    pub(in crate::provider) fn bounce_of(
        &mut self,
        flow: u16,
        generation: u8,
    ) -> Option<&mut Bounce> {
        let mut bounces = self.bounces.iter_mut();
        bounces.find(|bounce| (bounce.name.flow, bounce.name.generation) == (flow, generation))
    }

    /// Whether an owner can send for connections beyond the table. The first one starts it.
    pub(in crate::provider) fn has_bounce(&mut self, owner: u8) -> Result<bool> {
        let at = self.bounces.iter().position(|bounce| bounce.owner == owner);
        let open = self.device.owners();
        let at = at.ok_or(HostError::Driver(DriverError::UnknownOwner { owner, open }))?;
        if self.bounces[at].region().is_none() {
            self.start_bounce(at).map_err(|error| no_bounce(owner, error.to_string()))?;
        }
        match self.bounces[at].failure() {
            Some(reason) => Err(no_bounce(owner, reason.to_string())),
            None => Ok(self.bounces[at].is_ready()),
        }
    }

    fn start_bounce(&mut self, at: usize) -> Result<()> {
        let bus = self.device.bus();
        let memory = bus.allocate_region(MemoryKind::Application, REGION_BYTES)?;
        let started = self.post_bounce(at, memory);
        if started.is_err() {
            self.device.bus().release(memory)?;
        }
        started
    }

    fn post_bounce(&mut self, at: usize, memory: DmaMemory) -> Result<()> {
        let range = self.device.bus().share(&memory)?;
        let mapping = range.map();
        let mapping = mapping
            .map_err(|source| HostError::Region(RegionError::Mapping { region: 0, source }))?;
        let RegionId(index) = self.register_memory(PROVIDER_DOMAIN, memory)?;
        let region = self.regions.get(index);
        let region = region.ok_or(HostError::Region(RegionError::UnknownRegion(index)))?;
        self.bounces[at].start(&mut self.device, region, mapping)
    }

    /// Makes progress with what connections beyond the table have sent.
    pub(in crate::provider) fn step_bounces(&mut self) -> Result<()> {
        for bounce in &mut self.bounces {
            if let Some(region) = bounce.region().and_then(|index| self.regions.get(index)) {
                let taken = self.device.send_progress(bounce.owner).0;
                bounce.step(&mut self.device, region, taken)?;
            }
        }
        let broken = |bounce: &Bounce| Some((bounce.owner, bounce.failure()?.clone()));
        let broken: Vec<(u8, Failure)> = self.bounces.iter().filter_map(broken).collect();
        for (owner, reason) in broken {
            let of_owner = self.connections.iter();
            let of_owner = of_owner.filter(|(_, c)| c.owner == owner && !c.on_card);
            let hit: Vec<_> = of_owner.map(|(id, _)| id).collect();
            for id in hit {
                self.fail(id, reason.clone());
            }
        }
        Ok(())
    }
}

fn no_bounce(owner: u8, why: String) -> HostError {
    let bytes = REGION_BYTES;
    HostError::Region(RegionError::NoBounce { owner, bytes, why })
}
