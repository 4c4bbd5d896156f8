//! Listeners: half-open connections, open ones that wait, and cookies when there are too many.
//!
//! Source: RFC 9293, 3.9.1 (OPEN, passive) and 3.10.7.2; RFC 4987, 3.

use std::net::SocketAddr;

use super::{ConnectionId, Endpoint};
use crate::connection::Connection;
use crate::listener::{ListenError, Listener, ListenerId};
use crate::secret::Tuple;

impl Endpoint {
    /// Listens (RFC 9293, 3.9.1: OPEN, passive).
    pub fn listen(&mut self, local: SocketAddr) -> Result<ListenerId, ListenError> {
        if self.listener_at(local).is_some() {
            return Err(ListenError::Taken(local.port()));
        }
        self.listeners_made += 1;
        let id = ListenerId(self.listeners_made);
        self.listeners.insert(id, Listener::new(local));
        Ok(id)
    }

    /// Stops listening: what was not accepted is reset (RFC 9293, 3.9.1: CLOSE in LISTEN).
    pub fn unlisten(&mut self, id: ListenerId) {
        self.listeners.remove(&id);
        for index in 0..self.slots.len() as u32 {
            if let Some(slot) = self.slot(index).filter(|slot| slot.listener == Some(id)) {
                slot.connection.abort();
                self.touch(index);
            }
        }
    }

    /// Names the next open connection of a listener (RFC 9293, 3.9.1).
    pub fn accept(&mut self, id: ListenerId) -> Option<ConnectionId> {
        let index = self.listeners.get_mut(&id)?.open.pop_front()?;
        let id = self.name(index);
        self.touch(index);
        Some(id)
    }

    /// Resets the next open connection of a listener (RFC 9293, 3.9.1: ABORT). Returns whether
    /// there was one.
    pub fn refuse(&mut self, id: ListenerId) -> bool {
        let Some(id) = self.accept(id) else { return false };
        self.abort(id);
        true
    }

    pub(super) fn listener_at(&self, local: SocketAddr) -> Option<ListenerId> {
        self.listeners.iter().find(|(_, listener)| listener.is_at(local)).map(|(id, _)| *id)
    }

    /// A connection has opened: it waits for `accept`.
    pub(super) fn queue(&mut self, index: u32) {
        let Some(id) = self.slot(index).and_then(|slot| slot.listener) else { return };
        let Some(listener) = self.listeners.get_mut(&id) else { return };
        if !listener.open.contains(&index) {
            listener.half_open = listener.half_open.saturating_sub(1);
            listener.open.push_back(index);
        }
    }

    /// A connection has ended before it was accepted.
    pub(super) fn leave(&mut self, id: Option<ListenerId>, index: u32) {
        let Some(listener) = id.and_then(|id| self.listeners.get_mut(&id)) else { return };
        match listener.open.iter().position(|it| *it == index) {
            Some(at) => {
                listener.open.remove(at);
            }
            None => listener.half_open = listener.half_open.saturating_sub(1),
        }
    }

    /// A connection by a listener, half open.
    pub(super) fn insert_half_open(
        &mut self,
        id: ListenerId,
        tuple: Tuple,
        connection: Connection,
    ) -> u32 {
        if let Some(listener) = self.listeners.get_mut(&id) {
            listener.half_open += 1;
        }
        self.insert(tuple, connection, Some(id))
    }
}
