//! Progress of the provider's connections: install, transfer, withdrawal, removal.
//!
//! `step_connection` is called by each poll for each connection that is due.

use super::agreement;
use crate::control::connection::{missing, Connection, Ending, Phase};
use crate::control::flow::buffer::CompletedBuffer;
use crate::control::flow::receive::ReceiveSide;
use crate::driver::bus::Bus;
use crate::driver::device::Device;
use crate::error::Result;
use crate::protocol::Protocol;
use crate::provider::{Completion, ConnectionId, Provider};
use crate::records::queue::{CommandQueue, NoCard};

/// Where the commands of a connection go.
pub(in crate::provider) fn commands_of<'a, B: Bus>(
    connection: &Connection,
    device: &'a mut Device<B>,
    no_card: &'a mut NoCard,
) -> &'a mut dyn CommandQueue {
    match connection.on_card {
        true => device,
        false => no_card,
    }
}

fn completion_of(connection: ConnectionId, done: &CompletedBuffer) -> Completion {
    Completion::Received { connection, request: done.request, bytes: done.bytes }
}

impl<B: Bus, P: Protocol> Provider<B, P> {
    pub(in crate::provider) fn step_connection(
        &mut self,
        id: ConnectionId,
        now_ns: u64,
    ) -> Result<()> {
        let Some(connection) = self.connections.get_mut(id) else { return Ok(()) };
        if connection.phase == Phase::Opening {
            return match connection.requested_ending() {
                Ending::Close => self.give_up(id, now_ns),
                Ending::Open | Ending::Finish => self.try_install(id),
            };
        }
        let mut no_card = NoCard;
        let commands = commands_of(connection, &mut self.device, &mut no_card);
        let (copier, name) = (&mut self.copier, connection.name);
        let mut copy = |receive: &mut ReceiveSide, floor: u64| {
            for copy in receive.copies(floor).map_err(|hole| missing(name, hole))? {
                copier.write(copy.region, copy.offset, copy.bytes)?;
            }
            Ok(())
        };
        let progress = &mut self.progress;
        let stepped = connection.step(
            commands,
            (&mut self.protocol, now_ns),
            &mut self.shared,
            &mut copy,
            progress,
        );
        // What is complete stays so when the step fails behind it.
        for done in progress.received.drain(..) {
            self.completions.push_back(completion_of(id, &done));
        }
        for done in progress.sent.drain(..) {
            self.completions.push_back(Completion::Sent { connection: id, request: done.request });
        }
        self.held.extend(progress.held_until_ns.take().map(|until_ns| (until_ns, id)));
        let is_gone = std::mem::take(&mut progress.gone);
        let lost = progress.lost.take();
        stepped?;
        if is_gone {
            self.forget(id);
            return Ok(());
        }
        if let Some(lost) = lost {
            self.fail(id, lost);
            return Ok(());
        }
        if matches!(connection.phase, Phase::Removing(_)) {
            return Ok(());
        }
        self.step_withdrawal(id)?;
        if let Some(connection) = self.connections.get_mut(id) {
            connection.grant(&mut self.protocol, now_ns);
        }
        Ok(())
    }

    fn try_install(&mut self, id: ConnectionId) -> Result<()> {
        let Some(connection) = self.connections.get_mut(id) else { return Ok(()) };
        if let Some(ended) = connection.ending_reason() {
            let reason = ended.reason.clone();
            self.fail(id, reason);
            return Ok(());
        }
        if !connection.is_open || self.rekeying.is_some() {
            return Ok(());
        }
        let (index, name, owner) = (connection.index(), connection.name, connection.owner);
        let key = self.protocol.key(index)?;
        if key.is_some_and(|key| self.keys.holds(&key)) {
            // An older flow with the same addresses is still being removed.
            return Ok(());
        }
        // A flow whose key finds no slot is as good as none.
        let keys = match key {
            _ if !self.connections.is_flow(name) => None,
            Some(key) => self.keys.insert(key, index.0),
            None => Some(Vec::new()),
        };
        if keys.is_none() && !self.has_bounce(owner)? {
            return Ok(());
        }
        let install = self.protocol.install(index).and_then(|install| {
            agreement::check(index.0, key.as_ref(), &install, &self.profiles)?;
            Ok(install)
        });
        let install = match install {
            Ok(install) => install,
            Err(error) => {
                // Its key has moved others: the card is told before it is cleared.
                for entry in keys.into_iter().flatten() {
                    self.device.command(entry);
                }
                return Err(error);
            }
        };
        let guards = self.protocol.guards(index, install.send_first);
        let Some(connection) = self.connections.get_mut(id) else { return Ok(()) };
        connection.on_card = keys.is_some();
        self.counters.unplaced_connections += u64::from(keys.is_none());
        let mut no_card = NoCard;
        let commands = commands_of(connection, &mut self.device, &mut no_card);
        connection.install(commands, &install, &guards, keys.unwrap_or_default());
        self.completions.push_back(Completion::Opened(id));
        Ok(())
    }

    fn step_withdrawal(&mut self, id: ConnectionId) -> Result<()> {
        let Some(connection) = self.connections.get_mut(id) else { return Ok(()) };
        let mut no_card = NoCard;
        let commands = commands_of(connection, &mut self.device, &mut no_card);
        connection.start_withdrawal(commands, &self.protocol)?;
        let rescues = match &connection.receive {
            Some(receive) if receive.is_withdrawn(|ticket| commands.is_confirmed(ticket)) => {
                receive.rescues()
            }
            _ => {
                if connection.report_end() {
                    self.completions.push_back(Completion::EndOfStream(id));
                }
                return Ok(());
            }
        };
        let mut rescued = Vec::new();
        for rescue in rescues {
            let bytes = self.copier.read(rescue.region, rescue.offset, rescue.bytes)?;
            rescued.push((rescue.stream_offset, bytes));
        }
        let withdrawn = connection.end_withdrawal(rescued);
        for done in withdrawn.done {
            self.completions.push_back(completion_of(id, &done));
        }
        self.cancel_requests(id, withdrawn.cancelled);
        Ok(())
    }

    /// Ends a connection that was closed before it was open; it has no state on the card.
    fn give_up(&mut self, id: ConnectionId, now_ns: u64) -> Result<()> {
        if let Some(connection) = self.connections.get(id) {
            self.protocol.close(now_ns, connection.index())?;
        }
        self.forget(id);
        Ok(())
    }

    /// Frees name, key and lists of a flow that is not, or no longer, on the card.
    pub(in crate::provider) fn forget(&mut self, id: ConnectionId) {
        let Some(mut connection) = self.connections.remove(id) else { return };
        let clear = self.keys.remove(connection.name.flow);
        // While secrets are changed, no key is set.
        if let Some(entry) = clear.filter(|_| !self.is_rekeying()) {
            self.device.command(entry);
        }
        connection.discharge(&mut self.budget);
        connection.end_lists(&mut self.shared);
        self.end_requests(id, &mut connection);
        self.completions.push_back(Completion::Closed(id));
    }

    /// Returns requests whose buffers the card no longer has.
    pub(in crate::provider) fn cancel_requests(&mut self, id: ConnectionId, requests: Vec<u64>) {
        let cancelled =
            requests.into_iter().map(|request| Completion::Cancelled { connection: id, request });
        self.completions.extend(cancelled);
    }

    pub(in crate::provider) fn end_removals(&mut self) -> Result<()> {
        let device = &self.device;
        let (done, open): (Vec<_>, Vec<_>) = std::mem::take(&mut self.removals)
            .into_iter()
            .partition(|(ticket, _)| device.is_confirmed(*ticket));
        self.removals = open;
        for (_, index) in done {
            if let Some(region) = self.regions.forget(index) {
                self.copier.remove(region.name());
                self.device.bus().release(region.memory)?;
            }
        }
        Ok(())
    }
}
