//! Failures of connections: refused DMA writes, refused commands, stopped rings, failed steps.

use super::progress::commands_of;
use super::{Completion, ConnectionId, Provider};
use crate::control::connection::Phase;
use crate::control::queue::NoCard;
use crate::control::regions::Region;
use crate::driver::bus::Bus;
use crate::driver::error::{HostError, Result};
use crate::failure::Failure;
use crate::protocol::Protocol;

impl<B: Bus, P: Protocol> Provider<B, P> {
    /// A refused posted write is reported nowhere else. The flows that use its region fail before
    /// any of its bytes is announced. A write outside all regions was for a ring or a slow buffer:
    /// an entry is missing there, of an unknown flow, so the call fails.
    pub(super) fn take_faults(&mut self) -> Result<()> {
        for fault in self.device.bus().take_faults() {
            let Some(region) = self.regions.at(fault.address).map(Region::name) else {
                let address = fault.address;
                return Err(HostError::WriteRefused { address });
            };
            let hit: Vec<ConnectionId> = self
                .connections
                .iter()
                .filter(|(_, c)| c.on_card)
                .filter(|(_, c)| c.receive.as_ref().is_some_and(|r| r.uses_region(region)))
                .map(|(id, _)| id)
                .collect();
            for id in hit {
                self.fail(id, Failure::WriteRefused { address: fault.address })?;
            }
        }
        Ok(())
    }

    /// A stopped ring of a shard ends the connections of that shard alone, and new ones of it are
    /// refused until [`Provider::restart_shard`]. A stopped ring of owner 0 is an error of the card.
    pub(super) fn poll_device(&mut self) -> Result<()> {
        let error = match self.device.poll() {
            Ok(_) => return Ok(()),
            Err(error) => error,
        };
        let HostError::RingStopped { owner, .. } = error else {
            return Err(error);
        };
        if owner == 0 {
            return Err(error);
        }
        for bounce in self.bounces.iter_mut().filter(|bounce| bounce.owner == owner) {
            bounce.set_broken(Failure::of(&error));
        }
        let of_owner = self.connections.iter().filter(|(_, c)| c.owner == owner);
        let hit: Vec<ConnectionId> = of_owner.map(|(id, _)| id).collect();
        for id in hit {
            self.fail(id, Failure::of(&error))?;
        }
        Ok(())
    }

    /// Ends a connection.
    pub(super) fn fail(&mut self, id: ConnectionId, reason: Failure) -> Result<()> {
        self.connections.touch(id);
        let now_ns = self.now_ns();
        let Some(connection) = self.connections.get_mut(id) else {
            return Ok(());
        };
        let phase = connection.phase;
        if matches!(phase, Phase::Removing(_)) {
            return Ok(());
        }
        self.completions.push_back(Completion::Failed { connection: id, reason });
        self.protocol.abort(now_ns, connection.index())?;
        if phase == Phase::Opening {
            // It has no state on the card.
            self.forget(id);
        } else {
            // Its buffers are returned to the application after the card has confirmed the removal.
            let mut no_card = NoCard;
            connection.remove(commands_of(connection, &mut self.device, &mut no_card));
        }
        Ok(())
    }

    /// A refused command ends its connection, unless the flow is already being removed.
    pub(super) fn take_refused(&mut self) -> Result<()> {
        while let Some(refused) = self.device.take_refused() {
            let (opcode, status) = (refused.opcode, refused.status.name());
            let reason = Failure::CommandRefused { opcode, status };
            if let Some(id) = self.connections.of_flow(refused.flow, refused.generation) {
                self.fail(id, reason)?;
            } else if let Some(bounce) = self.bounce_of(refused.flow, refused.generation) {
                bounce.set_broken(reason);
            }
        }
        Ok(())
    }
}
