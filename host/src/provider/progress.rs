//! Progress of the provider's connections: install, transfer, withdrawal, removal.

use std::io;

use super::{Completion, ConnectionId, Provider};
use crate::control::connection::handshake::{Handshake, Tuple};
use crate::control::connection::{missing, Phase};
use crate::control::descriptor::tcp_header;
use crate::control::flow::buffer::Done;
use crate::control::flow::receive::ReceiveSide;
use crate::control::packet::flow_key;
use crate::driver::bus::Bus;
use crate::driver::error::{HostError, Result};
use crate::transport::{StreamState, Transport, TransportError};

fn received(connection: ConnectionId, done: &Done) -> Completion {
    Completion::Received {
        connection,
        request: done.request,
        bytes: done.bytes,
    }
}

impl<B: Bus, T: Transport> Provider<B, T> {
    pub(super) fn step_connection(&mut self, id: ConnectionId) -> Result<()> {
        let Some(connection) = self.connections.get_mut(id) else {
            return Ok(());
        };
        if connection.phase == Phase::Opening {
            return match connection.is_ending() {
                (true, _) => self.give_up(id),
                _ => self.try_install(id),
            };
        }
        let (copier, name) = (&mut self.copier, connection.name);
        let mut copy = |receive: &mut ReceiveSide, floor: u64| {
            for copy in receive.copies(floor).map_err(|hole| missing(name, hole))? {
                copier.write(copy.region, copy.offset, &copy.bytes)?;
            }
            Ok(())
        };
        let progress = connection.step(
            &mut self.device,
            &mut self.transport,
            &mut self.shared,
            &mut copy,
        )?;
        for done in progress.received {
            self.completions.push_back(received(id, &done));
        }
        for done in progress.sent {
            self.completions.push_back(Completion::Sent {
                connection: id,
                request: done.request,
            });
        }
        if progress.gone {
            self.forget(id);
            return Ok(());
        }
        if let Some(number) = progress.lost {
            let (stream, source) = (connection.stream, io::Error::from_raw_os_error(number));
            return Err(TransportError::Stream { stream, source }.into());
        }
        if matches!(connection.phase, Phase::Removing(_)) {
            self.release_tuple(id);
            return Ok(());
        }
        self.step_withdrawal(id)?;
        self.step_window(id)
    }

    fn try_install(&mut self, id: ConnectionId) -> Result<()> {
        let Some(connection) = self.connections.get_mut(id) else {
            return Ok(());
        };
        let status = self.transport.status(connection.stream)?;
        connection.is_connecting = status.state == StreamState::Connecting;
        if status.state == StreamState::Closed {
            let (errno, why) = match status.error {
                Some(errno) => (errno, io::Error::from_raw_os_error(errno).to_string()),
                None => (libc::ECONNABORTED, "closed before it was open".to_owned()),
            };
            return self.fail(id, errno, why);
        }
        let tuple = (connection.local, connection.remote);
        let key = flow_key(connection.remote, connection.local);
        if status.state != StreamState::Open || self.keys.holds(&key) {
            // The handshake is not complete, or an older flow with the same addresses is still
            // being removed.
            return Ok(());
        }
        let known = |handshake: &&Handshake| handshake.expected().is_some();
        let Some(handshake) = self.handshakes.get(tuple).filter(known) else {
            return Err(HostError::HandshakeForgotten(id.0));
        };
        let limit = 1 << (self.device.sizes().bucket_bits + 3);
        let keys = self.keys.insert(key, connection.name.flow);
        let keys = keys.ok_or(HostError::NoKeySlot { slots: limit })?;
        let takes_old_acks = self.transport.takes_old_acks();
        connection.install(&mut self.device, handshake, keys, takes_old_acks);
        self.handshakes.remove(tuple);
        self.completions.push_back(Completion::Opened(id));
        Ok(())
    }

    fn step_withdrawal(&mut self, id: ConnectionId) -> Result<()> {
        let Some(connection) = self.connections.get_mut(id) else {
            return Ok(());
        };
        connection.start_withdrawal(&mut self.device)?;
        let device = &self.device;
        let rescues = match &connection.receive {
            Some(receive) if receive.withdrawn(|ticket| device.confirmed(ticket)) => {
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
            let bytes = self
                .copier
                .read(rescue.region, rescue.offset, rescue.bytes)?;
            rescued.push((rescue.stream_offset, bytes));
        }
        for done in connection.end_withdrawal(rescued) {
            self.completions.push_back(received(id, &done));
        }
        Ok(())
    }

    /// Repeats the last ACK when segments were posted beyond the window offered to the peer.
    fn step_window(&mut self, id: ConnectionId) -> Result<()> {
        let Some(connection) = self.connections.get_mut(id) else {
            return Ok(());
        };
        let Some(receive) = &connection.receive else {
            return Ok(());
        };
        if let Some((bytes, parsed)) = connection.window.update(receive.queue.confirmed_end()) {
            let descriptor = tcp_header(&bytes, &parsed);
            self.device.send_of(connection.owner, descriptor)?;
            self.counters.window_updates += 1;
        }
        Ok(())
    }

    /// Ends a connection that was closed before it was open; it has no state on the card.
    fn give_up(&mut self, id: ConnectionId) -> Result<()> {
        if let Some(connection) = self.connections.get(id) {
            self.transport.close(connection.stream)?;
        }
        self.forget(id);
        Ok(())
    }

    /// Releases the addresses of a connection that ends: the peer may use them again while the flow
    /// is being removed.
    pub(super) fn release_tuple(&mut self, id: ConnectionId) {
        if let Some(tuple) = self.connections.release_tuple(id) {
            self.handshakes.remove(tuple);
        }
    }

    /// Called for each outgoing SYN. The transport no longer has the old connection with these
    /// addresses, unless this is a repeated SYN of that connection.
    pub(super) fn release_old_tuple(&mut self, tuple: Tuple, sequence: u32) {
        let Some(id) = self.connections.of_tuple(&tuple) else {
            return;
        };
        let connection = self.connections.get(id);
        let send = connection.and_then(|connection| connection.send.as_ref());
        if send.is_some_and(|send| send.queue.position(0) != sequence.wrapping_add(1)) {
            self.release_tuple(id);
        }
    }

    /// Frees name, key, lists and tuple of a flow that is not, or no longer, on the card.
    pub(super) fn forget(&mut self, id: ConnectionId) {
        self.release_tuple(id);
        let Some(mut connection) = self.connections.remove(id) else {
            return;
        };
        if let Some(entry) = self.keys.remove(connection.name.flow) {
            self.device.command(entry);
        }
        connection.discharge(&mut self.budget);
        connection.end_lists(&mut self.shared);
        let requests = connection.cancel();
        let cancelled = requests.into_iter().map(|request| Completion::Cancelled {
            connection: id,
            request,
        });
        self.completions.extend(cancelled);
        self.completions.push_back(Completion::Closed(id));
    }

    pub(super) fn end_removals(&mut self) -> Result<()> {
        let device = &self.device;
        let (done, open): (Vec<_>, Vec<_>) = std::mem::take(&mut self.removals)
            .into_iter()
            .partition(|(ticket, _)| device.confirmed(*ticket));
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
