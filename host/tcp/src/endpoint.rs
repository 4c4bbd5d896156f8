//! All connections of a host: found by tuple, opened, listened for, closed in the background.
//!
//! ```text
//!   arrive(tuple, segment) ─┬─ connection ─► Connection::arrive
//!                           ├─ TIME-WAIT ──► ACK, or a new connection
//!                           ├─ listener ───► half open, or a cookie when there are too many
//!                           └─ nobody ─────► RST
//!   transmit ◄── replies, then connections that are ready, in turn
//! ```
//! Invariants
//! 1. A connection is named from [`Endpoint::connect`] or [`Endpoint::accept`] to
//!    [`Endpoint::release`] or [`Endpoint::abort`]; no event has another name.
//! 2. Memory is bounded: half-open connections and those not accepted by the backlog, TIME-WAIT and
//!    replies by [`Limits`]. A reply that would be one too many is left out.
//! 3. Whoever calls anything calls [`Endpoint::transmit`] until it returns nothing.
//!
//! Sources: RFC 9293, 3.9.1 and 3.10.7.1 to 3.10.7.2; RFC 4987, 3.6; RFC 6191.

mod arrive;
mod listen;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use thiserror::Error;

use crate::config::Config;
use crate::connection::{Connection, Event, Icmp, Outgoing, State};
use crate::cookie::Cookies;
use crate::listener::{Listener, ListenerId};
use crate::secret::{Secret, Tuple};
use crate::segment::Segment;
use crate::time_wait::{TimeWaits, Waiting};

/// Names a connection (RFC 9293, 3.9.1: the local connection name).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId {
    index: u32,
    generation: u32,
}

/// How much of everything there may be (RFC 4987, 3.1; RFC 9293, 3.6.1).
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Half-open connections of a listener; beyond them cookies are sent (RFC 4987, 3.6).
    pub half_open_max: usize,
    /// Open connections that wait for `accept`; beyond them the last ACK is not taken.
    pub unaccepted_max: usize,
    /// Tuples in TIME-WAIT.
    pub time_wait_max: usize,
    /// Replies without a connection that wait to be sent.
    pub replies_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { half_open_max: 256, unaccepted_max: 256, time_wait_max: 16_384, replies_max: 1_024 }
    }
}

/// Why a connection cannot be opened (RFC 9293, 3.9.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OpenError {
    /// There is one of the same tuple.
    #[error("port {0} has a connection to that peer already")]
    Exists(u16),
    /// The tuple is in TIME-WAIT (RFC 9293, 3.6.1).
    #[error("port {0} has just closed a connection to that peer")]
    Waits(u16),
}

/// A header to be sent, and whose it is (RFC 9293, 3.9.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Both ends.
    pub tuple: Tuple,
    /// The connection, if it has a name.
    pub connection: Option<ConnectionId>,
    /// The header.
    pub outgoing: Outgoing,
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    tuple: Tuple,
    connection: Connection,
    /// The listener that it came by, until it is accepted.
    listener: Option<ListenerId>,
    is_named: bool,
    is_ready: bool,
    /// Whether its tuple leads to it.
    is_found: bool,
    timer_ns: Option<u64>,
}

/// All connections of a host (RFC 9293, 3.3.1). See the head of this file.
#[derive(Debug)]
pub struct Endpoint {
    config: Arc<Config>,
    secret: Secret,
    cookies: Cookies,
    limits: Limits,
    slots: Vec<Option<Slot>>,
    free: Vec<u32>,
    generation: u32,
    by_tuple: HashMap<Tuple, u32>,
    listeners: BTreeMap<ListenerId, Listener>,
    listeners_made: u32,
    time_waits: TimeWaits,
    replies: VecDeque<(Tuple, Segment)>,
    timers: BTreeSet<(u64, u32)>,
    ready: VecDeque<u32>,
    noisy: VecDeque<u32>,
}

impl Endpoint {
    /// Without connections. The secret is drawn anew at each start (RFC 9293, 3.4.1).
    pub fn new(config: Config, secret: Secret, limits: Limits) -> Self {
        Self {
            config: Arc::new(config),
            cookies: Cookies::new(secret.clone()),
            secret,
            limits,
            slots: Vec::new(),
            free: Vec::new(),
            generation: 0,
            by_tuple: HashMap::new(),
            listeners: BTreeMap::new(),
            listeners_made: 0,
            time_waits: TimeWaits::new(limits.time_wait_max),
            replies: VecDeque::new(),
            timers: BTreeSet::new(),
            ready: VecDeque::new(),
            noisy: VecDeque::new(),
        }
    }

    /// Opens a connection (RFC 9293, 3.9.1: OPEN, active).
    pub fn connect(&mut self, now_ns: u64, tuple: Tuple) -> Result<ConnectionId, OpenError> {
        let port = tuple.local.port();
        if self.by_tuple.contains_key(&tuple) {
            return Err(OpenError::Exists(port));
        }
        self.time_waits.advance(now_ns);
        if self.time_waits.get(&tuple).is_some() {
            return Err(OpenError::Waits(port));
        }
        let first = self.secret.first_sequence(now_ns, &tuple);
        let clock = self.secret.clock_offset(&tuple);
        let connection = Connection::connect(self.config.clone(), first, clock);
        let index = self.insert(tuple, connection, None);
        let id = self.name(index);
        self.touch(index);
        Ok(id)
    }

    fn insert(&mut self, tuple: Tuple, connection: Connection, by: Option<ListenerId>) -> u32 {
        self.generation = self.generation.wrapping_add(1);
        let slot = Slot {
            generation: self.generation,
            tuple,
            connection,
            listener: by,
            is_named: false,
            is_ready: false,
            is_found: true,
            timer_ns: None,
        };
        let index = self.free.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(index as usize) {
            Some(place) => *place = Some(slot),
            None => self.slots.push(Some(slot)),
        }
        self.by_tuple.insert(tuple, index);
        index
    }

    fn slot(&mut self, index: u32) -> Option<&mut Slot> {
        self.slots.get_mut(index as usize)?.as_mut()
    }

    /// Gives a connection a name.
    fn name(&mut self, index: u32) -> ConnectionId {
        let slot = self.slot(index);
        let generation = slot.map_or(0, |slot| {
            slot.is_named = true;
            slot.listener = None;
            slot.generation
        });
        ConnectionId { index, generation }
    }

    fn named(&mut self, id: ConnectionId) -> Option<&mut Slot> {
        let slot = self.slot(id.index);
        slot.filter(|slot| slot.is_named && slot.generation == id.generation)
    }

    /// A connection, to look at (RFC 9293, 3.9.1: STATUS).
    pub fn connection(&self, id: ConnectionId) -> Option<&Connection> {
        let slot = self.slots.get(id.index as usize)?.as_ref()?;
        let is_it = slot.is_named && slot.generation == id.generation;
        is_it.then_some(&slot.connection)
    }

    /// Both ends of a connection (RFC 9293, 3.9.1: STATUS).
    pub fn tuple(&self, id: ConnectionId) -> Option<Tuple> {
        let slot = self.slots.get(id.index as usize)?.as_ref()?;
        (slot.is_named && slot.generation == id.generation).then_some(slot.tuple)
    }

    /// How many tuples are in TIME-WAIT (RFC 9293, 3.6.1).
    pub fn time_waits(&self) -> usize {
        self.time_waits.len()
    }

    /// How many connections there are, half-open ones included (RFC 4987, 3.1).
    pub fn connections(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Something has happened to a connection: it may have to send, and to report.
    fn touch(&mut self, index: u32) {
        let Some(slot) = self.slot(index) else { return };
        let is_ready = std::mem::replace(&mut slot.is_ready, true);
        let is_named = slot.is_named;
        if !is_ready {
            self.ready.push_back(index);
        }
        if is_named && self.noisy.back() != Some(&index) {
            self.noisy.push_back(index);
        }
    }

    fn call(&mut self, id: ConnectionId, act: impl FnOnce(&mut Connection)) {
        if let Some(slot) = self.named(id) {
            act(&mut slot.connection);
            self.touch(id.index);
        }
    }

    /// Memory is there for everything before a stream offset (RFC 9293, 3.9.1: RECEIVE).
    pub fn granted(&mut self, id: ConnectionId, end: u64) {
        self.call(id, |it| it.granted(end));
    }

    /// Everything before a stream offset may be sent (RFC 9293, 3.9.1: SEND).
    pub fn offered(&mut self, id: ConnectionId, end: u64) {
        self.call(id, |it| it.offered(end));
    }

    /// The sending half ends (RFC 9293, 3.9.1: CLOSE).
    pub fn finish(&mut self, id: ConnectionId) {
        self.call(id, Connection::finish);
    }

    /// The name is given back; the connection is closed in the background (RFC 9293, 3.9.1: CLOSE).
    pub fn release(&mut self, now_ns: u64, id: ConnectionId) {
        self.call(id, |it| it.release(now_ns));
        if let Some(slot) = self.named(id) {
            slot.is_named = false;
        }
    }

    /// The name is given back; the connection is reset (RFC 9293, 3.9.1: ABORT).
    pub fn abort(&mut self, id: ConnectionId) {
        self.call(id, Connection::abort);
        if let Some(slot) = self.named(id) {
            slot.is_named = false;
        }
    }

    /// An ICMP message that quotes a segment of a tuple (RFC 5927, 4.1). Returns whether it was
    /// believed.
    pub fn arrive_icmp(&mut self, now_ns: u64, tuple: &Tuple, icmp: Icmp, sequence: u32) -> bool {
        let Some(index) = self.by_tuple.get(tuple).copied() else { return false };
        let slot = self.slot(index);
        let is_taken = slot.is_some_and(|slot| slot.connection.arrive_icmp(now_ns, icmp, sequence));
        self.settle(now_ns, index);
        self.touch(index);
        is_taken
    }

    /// Acts on what is due (RFC 9293, 3.10.8).
    pub fn advance(&mut self, now_ns: u64) {
        self.time_waits.advance(now_ns);
        while let Some((_, index)) = self.timers.first().copied().filter(|it| it.0 <= now_ns) {
            self.timers.pop_first();
            if let Some(slot) = self.slot(index) {
                slot.timer_ns = None;
                slot.connection.advance(now_ns);
            }
            self.settle(now_ns, index);
            self.touch(index);
        }
    }

    /// When it acts next, if nothing comes before (RFC 9293, 3.10.8).
    pub fn deadline(&self) -> Option<u64> {
        match self.ready.is_empty() && self.replies.is_empty() {
            true => self.timers.first().map(|(at_ns, _)| *at_ns),
            false => Some(0),
        }
    }

    /// The next event of a named connection (RFC 9293, 3.9.1).
    pub fn event(&mut self) -> Option<(ConnectionId, Event)> {
        while let Some(index) = self.noisy.front().copied() {
            if let Some(slot) = self.slot(index).filter(|slot| slot.is_named) {
                if let Some(event) = slot.connection.event() {
                    return Some((ConnectionId { index, generation: slot.generation }, event));
                }
            }
            self.noisy.pop_front();
        }
        None
    }

    /// The next header that is due; called until there is none (RFC 9293, 3.9.2).
    pub fn transmit(&mut self, now_ns: u64) -> Option<Departure> {
        if let Some((tuple, segment)) = self.replies.pop_front() {
            let outgoing = Outgoing { segment, offset: 0, mss_bytes: 0 };
            return Some(Departure { tuple, connection: None, outgoing });
        }
        while let Some(index) = self.ready.pop_front() {
            let Some(slot) = self.slot(index) else { continue };
            slot.is_ready = false;
            let before = slot.connection.state();
            let outgoing = slot.connection.transmit(now_ns);
            if outgoing.is_none() {
                self.rest(now_ns, index);
                continue;
            }
            let (tuple, generation, is_named) = (slot.tuple, slot.generation, slot.is_named);
            slot.is_ready = true;
            debug_assert!(before <= slot.connection.state(), "a state came back");
            self.ready.push_back(index);
            let connection = is_named.then_some(ConnectionId { index, generation });
            let outgoing = outgoing?;
            return Some(Departure { tuple, connection, outgoing });
        }
        None
    }

    /// A connection has nothing to send: its timer is set, or it is forgotten.
    fn rest(&mut self, now_ns: u64, index: u32) {
        self.settle(now_ns, index);
        let Some(slot) = self.slot(index) else { return };
        let is_over = slot.connection.state() >= State::TimeWait && !slot.is_named;
        let timer_ns = slot.connection.deadline().filter(|_| !is_over);
        let old_ns = std::mem::replace(&mut slot.timer_ns, timer_ns);
        let (tuple, is_found) = (slot.tuple, slot.is_found);
        if old_ns != timer_ns {
            self.timers.extend(timer_ns.map(|at_ns| (at_ns, index)));
            if let Some(at_ns) = old_ns {
                self.timers.remove(&(at_ns, index));
            }
        }
        if is_over {
            if is_found {
                self.by_tuple.remove(&tuple);
            }
            self.slots[index as usize] = None;
            self.free.push(index);
        }
    }

    /// What the state of a connection means for its tuple and its listener.
    fn settle(&mut self, now_ns: u64, index: u32) {
        let time_wait_ns = self.config.time_wait_ns;
        let Some(slot) = self.slot(index) else { return };
        let (tuple, state) = (slot.tuple, slot.connection.state());
        let numbers = slot.connection.last_numbers();
        if state >= State::TimeWait && std::mem::replace(&mut slot.is_found, false) {
            let listener = slot.listener.take();
            self.by_tuple.remove(&tuple);
            self.leave(listener, index);
            if state == State::TimeWait {
                let (send_next, receive_next, recent) = numbers;
                let until_ns = now_ns + time_wait_ns;
                let waiting = Waiting { send_next, receive_next, recent, until_ns };
                self.time_waits.insert(tuple, waiting);
            }
            return;
        }
        if state >= State::Established {
            self.queue(index);
        }
    }
}
