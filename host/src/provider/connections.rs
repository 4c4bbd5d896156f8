//! The connections of a provider, in a slab by the flow ids of the card, and which of them have
//! something to do.
//!
//! ```text
//!   header, event, request ── touch ──► ready ── take_ready ──► step ─┬─► quiet
//!                                       ▲  ▲                         │
//!                                       │  └──────── due ◄───────────┤
//!                       card confirms ──┴───── under way ◄───────────┘
//! ```
//! A connection at rest costs nothing: it is stepped again when something touches it, or, with
//! commands under way, when the card has confirmed them. A header
//! entry names the flow, so it finds its connection without a hash. Connections lie one behind the
//! other, by place: with thousands in turn, time goes where pages are looked up.
//!
//! Places up to the number of flows of the card are flow ids; those beyond are connections that the
//! card does not know. They are added when they are needed.

use std::collections::VecDeque;

use abi::header_entry::FLOW_NONE;

use super::names::ConnectionId;
use crate::control::connection::{layout, Connection};
use crate::driver::device::marks::Mark;
use crate::error::table::TableError;
use crate::error::{HostError, Result};
use crate::large_pages::{self, LargePageVec};
use crate::prefetch::{expect, expect_all};
use crate::protocol::FlowIndex;
use crate::records::commands::FlowName;

/// Most connections, those beyond the flow table included.
const CONNECTIONS_MAX: usize = FLOW_NONE as usize;

/// All connections and their names. See the head of this file.
#[derive(Debug)]
pub(super) struct Connections {
    slots: Vec<Slot>,
    /// By place, up to the highest that any has had.
    connections: LargePageVec<Option<Connection>>,
    /// Flows of the card.
    flows: usize,
    /// Free flow ids.
    free: Vec<u16>,
    /// Free places beyond the flow table.
    free_beyond: Vec<u16>,
    ready: Vec<ConnectionId>,
    /// By owner, those with commands under way, each once: oldest mark first.
    under_way: Vec<VecDeque<(Mark, ConnectionId)>>,
}

/// The place of a flow.
#[derive(Debug, Default)]
struct Slot {
    generation: u8,
    /// Connections that the place has had: the upper half of their ids.
    serial: u16,
    is_ready: bool,
    /// It is in the queue of those with commands under way.
    is_under_way: bool,
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
    /// No connections, on a card with 2^`flow_bits` flows.
    pub fn new(flow_bits: u32) -> Self {
        let flows = (1usize << flow_bits).min(CONNECTIONS_MAX);
        Self {
            slots: (0..flows).map(|_| Slot::default()).collect(),
            connections: large_pages::vector(flows),
            flows,
            free: (0..=u16::MAX).take(flows).rev().collect(),
            free_beyond: Vec::new(),
            ready: Vec::new(),
            under_way: Vec::new(),
        }
    }

    /// The name of the next connection, whose place is taken: a flow of the card as long as there
    /// is one.
    pub fn take_name(&mut self) -> Result<FlowName> {
        let place = self.free.pop().or_else(|| self.free_beyond.pop());
        let (what, limit) = ("connections", CONNECTIONS_MAX);
        let place = place.or_else(|| self.add_place());
        let place = place.ok_or(HostError::Table(TableError::Full { what, limit }))?;
        Ok(self.name(place))
    }

    /// The name of a flow of the card that is no connection: the last one that is free.
    pub fn reserve_flow(&mut self) -> Result<FlowName> {
        let (what, limit) = ("flows", self.flows);
        match self.free.is_empty() {
            true => Err(HostError::Table(TableError::Full { what, limit })),
            false => {
                let flow = self.free.remove(0);
                Ok(self.name(flow))
            }
        }
    }

    /// The next name of a flow that is no connection.
    pub fn next_name(&mut self, name: FlowName) -> FlowName {
        self.name(name.flow)
    }

    /// Whether a flow of the card is free.
    pub fn has_flow(&self) -> bool {
        !self.free.is_empty()
    }

    /// Whether a name is that of a flow of the card.
    pub fn is_flow(&self, name: FlowName) -> bool {
        usize::from(name.flow) < self.flows
    }

    /// One more place beyond the flow table.
    fn add_place(&mut self) -> Option<u16> {
        let place = u16::try_from(self.slots.len()).ok();
        let place = place.filter(|place| usize::from(*place) < CONNECTIONS_MAX)?;
        self.slots.push(Slot::default());
        Some(place)
    }

    fn name(&mut self, place: u16) -> FlowName {
        let slot = &mut self.slots[usize::from(place)];
        slot.generation = slot.generation.wrapping_add(1);
        FlowName { flow: place, generation: slot.generation }
    }

    /// Adds the connection of a name that was taken. It is ready.
    pub fn add(&mut self, connection: Connection) -> ConnectionId {
        let flow = connection.name.flow;
        let slot = &mut self.slots[usize::from(flow)];
        slot.serial = slot.serial.wrapping_add(1);
        // What is still queued under the id that the place had before is nobody's.
        slot.is_under_way = false;
        slot.is_ready = false;
        let id = slot.id(flow);
        let end = usize::from(flow) + 1;
        if self.connections.len() < end {
            self.connections.resize_with(end, || None);
        }
        self.connections[usize::from(flow)] = Some(connection);
        self.touch(id);
        id
    }

    fn slot(&self, id: ConnectionId) -> Option<&Slot> {
        let slot = self.slots.get(place(id))?;
        (u32::from(slot.serial) == id.0 >> 16).then_some(slot)
    }

    /// A connection.
    #[inline]
    pub fn get(&self, id: ConnectionId) -> Option<&Connection> {
        self.slot(id)?;
        self.in_place(place(id))
    }

    /// A connection, for changes.
    #[inline]
    pub fn get_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        self.slot(id)?;
        self.connections.get_mut(place(id))?.as_mut()
    }

    /// The connection whose flow has this id and generation.
    pub fn of_flow(&self, flow: u16, generation: u8) -> Option<ConnectionId> {
        let slot = self.slots.get(usize::from(flow))?;
        let id = slot.id(flow);
        let is_there = self.in_place(flow.into()).is_some();
        (is_there && slot.generation == generation).then_some(id)
    }

    /// The same, if its flow is installed or on its way to the card.
    #[inline]
    pub fn installed_flow(&self, name: FlowName) -> Option<ConnectionId> {
        let slot = self.slots.get(usize::from(name.flow))?;
        let connection = self.in_place(name.flow.into())?;
        let is_it = slot.generation == name.generation && connection.is_installed();
        is_it.then(|| slot.id(name.flow))
    }

    /// A packet of this flow is among the next: asks for what one in order touches.
    #[inline]
    pub fn expect(&self, flow: u16, has_payload: bool) {
        if let Some(connection) = self.connections.get(usize::from(flow)) {
            match has_payload {
                true => expect(connection, layout::HOT),
                false => expect(connection, layout::BARE),
            }
        }
    }

    /// A header with payload of this flow is among the next to be sent: asks for what that touches.
    #[inline]
    pub fn expect_sender(&self, flow: u16) {
        if let Some(connection) = self.connections.get(usize::from(flow)) {
            expect(connection, layout::BARE);
            expect(connection, layout::SEND);
        }
    }

    #[inline]
    fn in_place(&self, place: usize) -> Option<&Connection> {
        self.connections.get(place)?.as_ref()
    }

    /// The connection that a protocol names.
    #[inline]
    pub fn of_index(&self, index: FlowIndex) -> Option<ConnectionId> {
        self.with_index(index).map(|connection| self.id(connection))
    }

    /// The id of one of the connections.
    pub fn id(&self, connection: &Connection) -> ConnectionId {
        let flow = connection.name.flow;
        self.slots[usize::from(flow)].id(flow)
    }

    /// The same, itself.
    #[inline]
    pub fn with_index(&self, index: FlowIndex) -> Option<&Connection> {
        self.in_place(index.0.into())
    }

    /// Gives back a name that was taken and is not used.
    pub fn give_back(&mut self, name: FlowName) {
        match self.is_flow(name) {
            true => self.free.push(name.flow),
            false => self.free_beyond.push(name.flow),
        }
    }

    /// All connections.
    pub fn iter(&self) -> impl Iterator<Item = (ConnectionId, &Connection)> {
        let places = self.slots.iter().zip(&self.connections).zip(0..=u16::MAX);
        places.filter_map(|((slot, connection), flow)| {
            let connection = connection.as_ref()?;
            Some((slot.id(flow), connection))
        })
    }

    /// Removes a connection; its place is free.
    pub fn remove(&mut self, id: ConnectionId) -> Option<Connection> {
        self.slot(id)?;
        let connection = self.connections.get_mut(place(id))?.take()?;
        self.give_back(connection.name);
        Some(connection)
    }

    /// Something happened to a connection: it is ready, and asked for.
    pub fn touch(&mut self, id: ConnectionId) {
        let Some(connection) = self.get(id) else { return };
        if !self.slots[place(id)].is_ready {
            expect_all(connection);
            self.slots[place(id)].is_ready = true;
            self.ready.push(id);
        }
    }

    /// A connection has commands under way, all before a mark of its owner: it is ready when the
    /// card has passed that. What it queues while it waits here does not move it back.
    pub fn await_card(&mut self, id: ConnectionId, mark: Mark) {
        let Some(slot) = self.slots.get_mut(place(id)) else { return };
        if !std::mem::replace(&mut slot.is_under_way, true) {
            let owner = usize::from(mark.owner());
            if self.under_way.len() <= owner {
                self.under_way.resize_with(owner + 1, VecDeque::new);
            }
            self.under_way[owner].push_back((mark, id));
        }
    }

    /// The card has confirmed commands: those whose mark it has passed are ready.
    pub fn wake(&mut self, has_passed: impl Fn(&Mark) -> bool) {
        for owner in 0..self.under_way.len() {
            while let Some(&(mark, id)) = self.under_way[owner].front() {
                if !has_passed(&mark) {
                    break;
                }
                self.under_way[owner].pop_front();
                if self.slot(id).is_some() {
                    self.slots[place(id)].is_under_way = false;
                    self.touch(id);
                }
            }
        }
    }

    /// These connections are stepped next: asks for what of them lies apart.
    pub fn expect_steps(&self, ids: &[ConnectionId]) {
        let connections = ids.iter().filter_map(|&id| self.get(id));
        connections.for_each(Connection::expect_step);
    }

    /// Whether a connection is ready.
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::connection::Phase;

    /// The two numbers of a table that is full.
    fn full(error: HostError) -> (&'static str, usize) {
        match error {
            HostError::Table(TableError::Full { what, limit }) => (what, limit),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn card_flows_first_places_are_limited() {
        let mut connections = Connections::new(6);
        let reserved = connections.reserve_flow().expect("one of 64");
        let names: Vec<FlowName> =
            (0..63).map(|_| connections.take_name().expect("a flow")).collect();
        assert!(names.iter().all(|name| connections.is_flow(*name)));
        assert_eq!((reserved.flow, names[0].flow), (63, 0));
        let refused = connections.reserve_flow().unwrap_err();
        assert_eq!(full(refused), ("flows", 64));
        let beyond = connections.take_name().expect("a place");
        assert_eq!(beyond.flow, 64);
        assert!(!connections.is_flow(beyond));
        connections.give_back(names[5]);
        let again = connections.take_name().expect("the flow that is free");
        assert_eq!((again.flow, again.generation), (names[5].flow, 2));
        connections.give_back(beyond);
        for place in 64..0xffff {
            assert_eq!(connections.take_name().expect("a place").flow, place);
        }
        let refused = connections.take_name().unwrap_err();
        assert_eq!(full(refused), ("connections", 0xffff));
    }

    /// A connection that ends before it was stepped is still in the queues; the next one of its
    /// place is not taken for it.
    #[test]
    fn reused_place_is_stepped() {
        let mut connections = Connections::new(6);
        let open = |connections: &mut Connections| {
            let name = connections.take_name().expect("a flow");
            connections.add(Connection::new(name, (1, 0)))
        };
        let first = open(&mut connections);
        connections.remove(first).expect("it is there");
        let second = open(&mut connections);
        assert_eq!(place(first), place(second));
        let mut ready = Vec::new();
        connections.take_ready(&mut ready);
        assert!(ready.contains(&second), "{ready:?}");
    }

    /// By the name of a flow only its connection is found, and by an older name none.
    #[test]
    fn installed_flow_is_found_by_name() {
        let mut connections = Connections::new(6);
        let name = connections.take_name().expect("a flow");
        assert_eq!(connections.of_flow(name.flow, name.generation), None);
        let id = connections.add(Connection::new(name, (0, 0)));
        assert_eq!(connections.of_flow(name.flow, name.generation), Some(id));
        assert_eq!(connections.installed_flow(name), None, "it is opening");
        connections.get_mut(id).expect("it is there").phase = Phase::Installed;
        assert_eq!(connections.installed_flow(name), Some(id));
        let older = FlowName { generation: name.generation.wrapping_sub(1), ..name };
        assert_eq!(connections.installed_flow(older), None);
        assert_eq!(connections.of_flow(older.flow, older.generation), None);
        let beyond = FlowName { flow: 5, ..name };
        assert_eq!(connections.installed_flow(beyond), None, "nobody's place");
        connections.remove(id).expect("it is there");
        assert_eq!(connections.installed_flow(name), None);
        assert!(connections.get(id).is_none());
    }

    #[test]
    fn repeated_event_makes_ready_once() {
        let mut connections = Connections::new(6);
        let name = connections.take_name().expect("a flow");
        let id = connections.add(Connection::new(name, (0, 0)));
        let mut ready = Vec::new();
        for _ in 0..2 {
            connections.touch(id);
            connections.touch(id);
            connections.take_ready(&mut ready);
            assert_eq!(ready, [id]);
        }
        connections.take_ready(&mut ready);
        assert_eq!(ready, []);
        connections.remove(id).expect("it is there");
        connections.touch(id);
        connections.take_ready(&mut ready);
        assert_eq!(ready, [], "nothing is there any more");
    }

    /// Commands under way cost no step: a connection is ready again when the card has passed the
    /// mark behind them, and one that has taken its place by then is not.
    #[test]
    fn confirmed_commands_make_connection_ready() {
        let mark = |queued| Mark::at(0, queued);
        let mut connections = Connections::new(6);
        let ids: Vec<ConnectionId> = (0..3)
            .map(|_| {
                let name = connections.take_name().expect("a flow");
                connections.add(Connection::new(name, (0, 0)))
            })
            .collect();
        let mut ready = Vec::new();
        connections.take_ready(&mut ready);
        for (queued, id) in (1..).zip(&ids) {
            connections.await_card(*id, mark(queued));
            // It queues more, and is stepped for another reason.
            connections.await_card(*id, mark(100));
        }
        let mut confirm = |connections: &mut Connections, confirmed| {
            connections.wake(|mark| mark.is_below(confirmed));
            connections.take_ready(&mut ready);
            ready.clone()
        };
        assert_eq!(confirm(&mut connections, 0), []);
        assert_eq!(confirm(&mut connections, 1), [ids[0]]);
        // One of the others ends, and a connection of the same place waits for a later mark.
        connections.remove(ids[1]).expect("it is there");
        let name = connections.take_name().expect("the same flow");
        let heir = connections.add(Connection::new(name, (0, 0)));
        assert_eq!(confirm(&mut connections, 1), [heir], "it is new");
        connections.await_card(heir, mark(4));
        assert_eq!(confirm(&mut connections, 3), [ids[2]]);
        assert_eq!(confirm(&mut connections, 4), [heir]);
        assert_eq!(confirm(&mut connections, 100), [], "each once");
    }
}
