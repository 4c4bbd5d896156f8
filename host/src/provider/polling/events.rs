//! What the protocol tells of the connections.
//!
//! `take_events` is called by each poll, when the protocol has advanced.

use crate::control::connection::ended::Ended;
use crate::control::connection::Connection;
use crate::driver::bus::Bus;
use crate::protocol::{Protocol, ProtocolEvent};
use crate::provider::Provider;

impl<B: Bus, P: Protocol> Provider<B, P> {
    /// Takes all events. Each touches its connection, unless that needs no step.
    pub(in crate::provider) fn take_events(&mut self) {
        while let Some(event) = self.protocol.event() {
            let Some(id) = self.connections.of_index(event.flow()) else { continue };
            let Some(connection) = self.connections.get_mut(id) else { continue };
            if !take_event(connection, event) {
                self.connections.touch(id);
            }
        }
    }
}

/// Returns whether the connection needs no step.
fn take_event(connection: &mut Connection, event: ProtocolEvent) -> bool {
    match event {
        ProtocolEvent::Opened(_) => connection.is_open = true,
        ProtocolEvent::Accepted { to, .. } => connection.take_accepted(to),
        ProtocolEvent::Acknowledged { to, .. } => return connection.take_acknowledged(to),
        ProtocolEvent::EndOfStream(_) => connection.take_end(),
        ProtocolEvent::Ended { reason, accepted_to, .. } => {
            connection.take_ended(Ended { reason, accepted_to })
        }
    }
    false
}
