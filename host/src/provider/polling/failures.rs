//! Failures of connections: refused DMA writes, refused commands, stopped rings, failed steps.
//!
//! Called by each poll, first and last, and by whatever fails between.

use super::progress::commands_of;
use crate::control::connection::{Connection, Phase};
use crate::control::flow::buffer::Copy;
use crate::control::regions::Region;
use crate::driver::bus::Bus;
use crate::driver::error::DriverError;
use crate::error::{HostError, Result};
use crate::failure::Failure;
use crate::protocol::Protocol;
use crate::provider::{Completion, ConnectionId, Provider};
use crate::records::queue::NoCard;

impl<B: Bus, P: Protocol> Provider<B, P> {
    /// A refused posted write is reported nowhere else. The flows that use its region fail before
    /// any of its bytes is announced. A write outside all regions was for a ring or a slow buffer:
    /// an entry is missing there, of an unknown flow, so the call fails.
    pub(in crate::provider) fn take_faults(&mut self) -> Result<()> {
        for fault in self.device.bus().take_faults() {
            let Some(region) = self.regions.at(fault.address).map(Region::name) else {
                let address = fault.address;
                return Err(HostError::Driver(DriverError::WriteRefused { address }));
            };
            let hit: Vec<ConnectionId> = self
                .connections
                .iter()
                .filter(|(_, c)| c.on_card)
                .filter(|(_, c)| c.receive.as_ref().is_some_and(|r| r.uses_region(region)))
                .map(|(id, _)| id)
                .collect();
            for id in hit {
                self.fail(id, Failure::WriteRefused { address: fault.address });
            }
        }
        Ok(())
    }

    /// A stopped ring of a shard ends the connections of that shard alone, and new ones of it are
    /// refused until [`Provider::restart_shard`]. A stopped ring of owner 0 is an error of the
    /// card.
    pub(in crate::provider) fn poll_device(&mut self) -> Result<()> {
        let error = match self.device.poll() {
            Ok(_) => return Ok(()),
            Err(error) => error,
        };
        self.end_shard(error.into())
    }

    /// Ends the connections of a shard whose ring has stopped; other errors stay errors.
    pub(in crate::provider) fn end_shard(&mut self, error: HostError) -> Result<()> {
        let HostError::Driver(DriverError::RingStopped { owner, .. }) = error else {
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
            self.fail(id, Failure::of(&error));
        }
        Ok(())
    }

    /// Ends a connection. What its protocol had accepted of a receive is reported first, when the
    /// card has confirmed that the flow is gone: until then it may write there.
    pub(in crate::provider) fn fail(&mut self, id: ConnectionId, reason: Failure) {
        self.connections.touch(id);
        let now_ns = self.now_ns();
        let Some(connection) = self.connections.get_mut(id) else { return };
        if matches!(connection.phase, Phase::Removing(_)) {
            // What is still to be reported of it is in doubt now, too.
            if !reason.spares_payload() && connection.has_received() {
                self.failing.insert(id, reason);
            }
            return;
        }
        let aborted = self.protocol.abort(now_ns, connection.index());
        if connection.phase == Phase::Opening {
            // It has no state on the card.
            self.completions.push_back(Completion::Failed { connection: id, reason });
            self.forget(id);
        } else {
            // Its buffers are returned to the application after the card has confirmed the removal.
            let mut no_card = NoCard;
            connection.remove(commands_of(connection, &mut self.device, &mut no_card));
            match connection.has_received() {
                true => drop(self.failing.insert(id, reason)),
                false => self.completions.push_back(Completion::Failed { connection: id, reason }),
            }
        }
        self.note_protocol(aborted);
    }

    /// An error of the protocol that is no connection's ends nothing.
    pub(in crate::provider) fn note_protocol(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.counters.protocol_errors += 1;
            self.protocol_error = Some(error);
        }
    }

    /// Takes the last error of the protocol that no connection and no caller was told.
    pub fn protocol_error(&mut self) -> Option<HostError> {
        self.protocol_error.take()
    }

    /// Ends the requests of a connection whose flow is gone: with what was received, then its
    /// failure, then those that have nothing.
    pub(in crate::provider) fn end_requests(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection,
    ) {
        let failure = self.failing.remove(&id);
        let spares_payload = failure.as_ref().is_none_or(Failure::spares_payload);
        let copier = &mut self.copier;
        let mut copy = |copy: &Copy| copier.write(copy.region, copy.offset, copy.bytes).is_ok();
        let ended = connection.end(spares_payload, &mut copy);
        for done in ended.done {
            let (request, bytes) = (done.request, done.bytes);
            self.completions.push_back(Completion::Received { connection: id, request, bytes });
        }
        if let Some(reason) = failure {
            self.completions.push_back(Completion::Failed { connection: id, reason });
        }
        self.cancel_requests(id, ended.cancelled);
    }

    /// A refused command ends its connection, unless the flow is already being removed.
    pub(in crate::provider) fn take_refused(&mut self) {
        while let Some(refused) = self.device.take_refused() {
            let (opcode, status) = (refused.opcode, refused.status.name());
            let reason = Failure::CommandRefused { opcode, status };
            if let Some(id) = self.connections.of_flow(refused.flow, refused.generation) {
                self.fail(id, reason);
            } else if let Some(bounce) = self.bounce_of(refused.flow, refused.generation) {
                bounce.set_broken(reason);
            }
        }
    }
}
