//! The connections of a provider, in a slab by the flow ids of the card, and which of them have
//! something to do.
//!
//! ```text
//!   header, confirmation, event, request ── touch ──► ready ── take_ready ──► step ─┬─► at rest
//!                                                       ▲                          │
//!                                                       └── something is under way ┘
//! ```
//! A connection at rest costs nothing: it is stepped again when something touches it. A header
//! entry names the flow, so it finds its connection without a hash.

use super::names::ConnectionId;
use crate::control::commands::FlowName;
use crate::control::connection::Connection;
use crate::driver::error::{HostError, Result};
use crate::protocol::FlowIndex;

/// All connections and their names. See the head of this file.
#[derive(Debug)]
pub(super) struct Connections {
    slots: Vec<Slot>,
    free: Vec<u16>,
    ready: Vec<ConnectionId>,
}

/// The place of a flow.
#[derive(Debug, Default)]
struct Slot {
    generation: u8,
    /// Connections that the place has had: the upper half of their ids.
    serial: u16,
    is_ready: bool,
    connection: Option<Box<Connection>>,
}

fn place(id: ConnectionId) -> usize {
    (id.0 & 0xffff) as usize
}

impl Slot {
    /// The id of the connection that has this place, of flow `flow`.
    fn id(&self, flow: u16) -> ConnectionId {
        ConnectionId(u32::from(self.serial) << 16 | u32::from(flow))
    }
}

impl Connections {
    /// Room for 2^`flow_bits` connections.
    pub fn new(flow_bits: u32) -> Self {
        let count = 1usize << flow_bits;
        Self {
            slots: (0..count).map(|_| Slot::default()).collect(),
            free: (0..=u16::MAX).take(count).rev().collect(),
            ready: Vec::new(),
        }
    }

    /// The name of the next flow, whose place is taken.
    pub fn take_name(&mut self) -> Result<FlowName> {
        let limit = self.slots.len();
        let what = "flows";
        let flow = self.free.pop();
        let flow = flow.ok_or(HostError::TableFull { what, limit })?;
        let slot = &mut self.slots[usize::from(flow)];
        slot.generation = slot.generation.wrapping_add(1);
        Ok(FlowName {
            flow,
            generation: slot.generation,
        })
    }

    /// Adds the connection of a name that was taken. It is ready.
    pub fn add(&mut self, connection: Connection) -> ConnectionId {
        let flow = connection.name.flow;
        let slot = &mut self.slots[usize::from(flow)];
        slot.serial = slot.serial.wrapping_add(1);
        let id = slot.id(flow);
        slot.connection = Some(Box::new(connection));
        self.touch(id);
        id
    }

    fn slot(&self, id: ConnectionId) -> Option<&Slot> {
        let slot = self.slots.get(place(id))?;
        (u32::from(slot.serial) == id.0 >> 16).then_some(slot)
    }

    fn slot_mut(&mut self, id: ConnectionId) -> Option<&mut Slot> {
        let slot = self.slots.get_mut(place(id))?;
        (u32::from(slot.serial) == id.0 >> 16).then_some(slot)
    }

    /// A connection.
    pub fn get(&self, id: ConnectionId) -> Option<&Connection> {
        self.slot(id)?.connection.as_deref()
    }

    /// A connection, for changes.
    pub fn get_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        self.slot_mut(id)?.connection.as_deref_mut()
    }

    /// The connection whose flow has this id and generation.
    pub fn of_flow(&self, flow: u16, generation: u8) -> Option<ConnectionId> {
        let slot = self.slots.get(usize::from(flow))?;
        let id = slot.id(flow);
        (slot.connection.is_some() && slot.generation == generation).then_some(id)
    }

    /// The connection that a protocol names.
    pub fn of_index(&self, index: FlowIndex) -> Option<ConnectionId> {
        let slot = self.slots.get(usize::from(index.0))?;
        slot.connection.as_ref().map(|_| slot.id(index.0))
    }

    /// Gives back a name that was taken and not used.
    pub fn give_back(&mut self, name: FlowName) {
        self.free.push(name.flow);
    }

    /// All connections.
    pub fn iter(&self) -> impl Iterator<Item = (ConnectionId, &Connection)> {
        let places = self.slots.iter().zip(0..=u16::MAX);
        places.filter_map(|(slot, flow)| {
            let id = slot.id(flow);
            slot.connection
                .as_deref()
                .map(|connection| (id, connection))
        })
    }

    /// Removes a connection; its place is free.
    pub fn remove(&mut self, id: ConnectionId) -> Option<Connection> {
        let connection = self.slot_mut(id)?.connection.take()?;
        self.free.push(connection.name.flow);
        Some(*connection)
    }

    /// Something happened to a connection: it is ready.
    pub fn touch(&mut self, id: ConnectionId) {
        if let Some(slot) = self.slot_mut(id) {
            if slot.connection.is_some() && !std::mem::replace(&mut slot.is_ready, true) {
                self.ready.push(id);
            }
        }
    }

    /// The connections that are ready, in the order of their places; none is any more.
    pub fn take_ready(&mut self, ready: &mut Vec<ConnectionId>) {
        ready.clear();
        std::mem::swap(ready, &mut self.ready);
        for id in &*ready {
            self.slots[place(*id)].is_ready = false;
        }
        ready.sort_unstable_by_key(|id| place(*id));
    }
}
