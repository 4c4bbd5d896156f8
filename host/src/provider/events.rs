//! What the protocol tells of the connections.

use super::Provider;
use crate::control::connection::ended::Ended;
use crate::control::connection::Connection;
use crate::driver::bus::Bus;
use crate::protocol::{Protocol, ProtocolEvent};

impl<B: Bus, P: Protocol> Provider<B, P> {
    /// Takes all events. Each touches its connection.
    pub(super) fn take_events(&mut self) {
        while let Some(event) = self.protocol.event() {
            let flow = event.flow();
            let Some(id) = flow.and_then(|flow| self.connections.of_index(flow)) else {
                continue;
            };
            self.connections.touch(id);
            if let Some(connection) = self.connections.get_mut(id) {
                take_event(connection, event);
            }
        }
    }
}

fn take_event(connection: &mut Connection, event: ProtocolEvent) {
    match event {
        ProtocolEvent::Incoming(_) => {}
        ProtocolEvent::Opened(_) => connection.is_open = true,
        ProtocolEvent::Accepted { to, .. } => connection.take_accepted(to),
        ProtocolEvent::Acknowledged { to, .. } => connection.take_acknowledged(to),
        ProtocolEvent::EndOfStream(_) => connection.take_end(),
        ProtocolEvent::Ended {
            errno,
            why,
            accepted_to,
            ..
        } => connection.take_ended(Ended {
            errno,
            why,
            accepted_to,
        }),
    }
}
