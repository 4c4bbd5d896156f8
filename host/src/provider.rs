//! The applications' calls: connect, listen, accept, register, send, recv, cancel, poll, close.
//!
//! ```text
//!   application ── requests ─►┌──────────┐── headers ─► protocol (Linux TCP, smoltcp, yours)
//!               ◄─ completions│ Provider │◄─ headers ──
//!                             └────┬─────┘
//!                    commands, descriptors │ header entries
//!                                     Device (rings, doorbells) ── Bus ── card
//! ```
//! All calls return at once; [`Provider::poll`] makes progress, [`Provider::next_completion`] tells
//! what it led to. Buffers are in registered memory, which the provider allocates or the
//! application already has. The application must not touch a buffer between its request and its
//! completion. Several applications share a card: each has a protection domain of its own, in the
//! rings of a shard. Both the provider and the card refuse access to the memory of another
//! application.

mod applications;
mod beyond;
mod bounce;
mod connections;
mod counters;
mod events;
mod failures;
mod headers;
mod names;
mod options;
mod progress;
mod registration;
mod rekey;
mod requests;
mod secrets;
mod shards;
mod transmit;

pub(crate) mod copier;

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use self::applications::Applications;
use self::bounce::Bounce;
use self::connections::Connections;
use self::copier::Copier;
pub use self::counters::ProviderCounters;
pub use self::names::{ApplicationId, ConnectionId, RegionId, ShardId, Span};
pub use self::options::ReceiveOptions;
use self::secrets::Rekeying;
use crate::ahead::{Ahead, LookAhead};
use crate::clock::Clock;
use crate::control::budget::{Budget, HELD_BYTES_MAX};
use crate::control::connection::{Connection, Progress};
use crate::control::lists::Shared;
use crate::control::placement::KeyTable;
use crate::control::regions::Regions;
use crate::control::rest::Rest;
use crate::driver::bus::Bus;
use crate::driver::device::{Device, DeviceConfig};
use crate::error::request::RequestError;
use crate::error::{HostError, Result};
use crate::failure::Failure;
use crate::observed::Observed;
pub use crate::protocol::ConnectOptions;
use crate::protocol::{FlowIndex, Protocol};
use crate::records::ticket::Ticket;
use crate::transport::{ListenerId, NextTimer, Transport, TransportError};

/// A completed event. Completions are reported in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completion {
    /// A connection is open, and its flow is being installed on the card.
    Opened(ConnectionId),
    /// A receive request is complete: its buffer holds `bytes` bytes.
    Received {
        /// The connection.
        connection: ConnectionId,
        /// The application's name for the request.
        request: u64,
        /// Bytes in the buffer; 0 at the end of the stream.
        bytes: u32,
    },
    /// A send request is complete: the peer has acknowledged it, and the card will not read the
    /// buffer again.
    Sent {
        /// The connection.
        connection: ConnectionId,
        /// The application's name for the request.
        request: u64,
    },
    /// The peer has closed its sending half, and every byte before that was received.
    EndOfStream(ConnectionId),
    /// A request was cancelled, because its connection ended or by [`Provider::cancel`].
    Cancelled {
        /// The connection.
        connection: ConnectionId,
        /// The application's name for the request.
        request: u64,
    },
    /// A connection failed. A receive that has bytes which its protocol had accepted is reported
    /// before it, as [`Completion::Received`] with their number; all other requests are cancelled.
    Failed {
        /// The connection.
        connection: ConnectionId,
        /// Why, with an error number of Linux: [`Failure::errno`].
        reason: Failure,
    },
    /// A connection is closed and its flow has left the card.
    Closed(ConnectionId),
}

/// The provider. See the head of this file.
pub struct Provider<B: Bus, P: Protocol> {
    device: Device<B>,
    protocol: P,
    /// How the protocol looks ahead, if it does.
    ahead: Option<Ahead<P>>,
    clock: Clock,
    started: Instant,
    connections: Connections,
    /// Connections in this step, between steps only its memory.
    stepped: Vec<ConnectionId>,
    /// What one step leads to, between steps only its memory.
    progress: Progress,
    /// Connections whose send floors wait, and until when: all wait equally long.
    held: VecDeque<(u64, ConnectionId)>,
    budget: Budget,
    keys: KeyTable,
    rekeying: Option<Rekeying>,
    shared: Shared,
    applications: Applications,
    listeners: HashMap<ListenerId, ApplicationId>,
    regions: Regions,
    copier: Copier,
    /// One for each shard.
    bounces: Vec<Bounce>,
    removals: Vec<(Ticket, u16)>,
    completions: VecDeque<Completion>,
    /// Failures that are reported behind what was received before.
    failing: HashMap<ConnectionId, Failure>,
    /// Connections that wait for an entry of a pool of lists.
    wanting: HashSet<ConnectionId>,
    protocol_error: Option<HostError>,
    counters: ProviderCounters,
}

impl<B: Bus, T: Transport> Provider<B, Observed<T>> {
    /// The TCP in the protocol.
    pub fn transport(&mut self) -> &mut T {
        self.protocol.transport()
    }
}

impl<B: Bus, P: Protocol> Provider<B, P> {
    /// Opens the card on `bus` and runs `protocol` on it, by the wall clock. The driver's owner and
    /// the first shard both have rings of the configured sizes.
    pub fn open(bus: B, protocol: P, config: DeviceConfig) -> Result<Self> {
        let mut device = Device::open(bus, config)?;
        for (number, profile) in protocol.profiles() {
            device.set_profile(number, &profile)?;
        }
        let sizes = device.sizes();
        let mut provider = Self {
            keys: KeyTable::new(*device.secrets(), sizes.bucket_bits),
            rekeying: None,
            shared: Shared::new(sizes.flow_bits, sizes.segment_bits),
            applications: Applications::default(),
            listeners: HashMap::new(),
            regions: Regions::new(sizes.region_bits, sizes.page_bits),
            copier: Copier::default(),
            bounces: Vec::new(),
            device,
            protocol,
            ahead: None,
            clock: Clock::Wall { divisor: 1 },
            started: Instant::now(),
            connections: Connections::new(sizes.flow_bits),
            stepped: Vec::new(),
            progress: Progress::default(),
            held: VecDeque::new(),
            budget: Budget::new(HELD_BYTES_MAX),
            removals: Vec::new(),
            completions: VecDeque::new(),
            failing: HashMap::new(),
            wanting: HashSet::new(),
            protocol_error: None,
            counters: ProviderCounters::default(),
        };
        let first = provider.open_shard(config.rings)?;
        provider.applications.add(first)?;
        Ok(provider)
    }

    /// The card.
    pub fn device(&mut self) -> &mut Device<B> {
        &mut self.device
    }

    /// Asks the protocol what comes next, so that it is fetched before it is needed.
    pub fn look_ahead(&mut self)
    where
        P: LookAhead,
    {
        self.ahead = Some(Ahead::new());
    }

    /// The protocol.
    pub fn protocol(&mut self) -> &mut P {
        &mut self.protocol
    }

    /// Runs the protocol by a clock, set before the first connection.
    pub fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    /// Time of the provider's clock.
    fn now_ns(&self) -> u64 {
        self.clock.now_ns(self.started)
    }

    /// When the protocol acts next, if nothing comes before.
    pub fn deadline(&mut self) -> NextTimer {
        let held = self.held.front().map(|(until_ns, _)| *until_ns);
        match (self.protocol.deadline(), held) {
            (NextTimer::At(at), Some(held)) => NextTimer::At(at.min(held)),
            (NextTimer::Never, Some(held)) => NextTimer::At(held),
            (timer, _) => timer,
        }
    }

    /// Counters of the control stack so far.
    pub fn counters(&self) -> ProviderCounters {
        let of_protocol = self.protocol.counters();
        ProviderCounters {
            withheld_headers: self.counters.withheld_headers + of_protocol.withheld_headers,
            withheld_foreign: of_protocol.withheld_foreign,
            refused_headers: of_protocol.refused_headers,
            orphan_headers: of_protocol.orphan_headers,
            window_updates: of_protocol.window_updates,
            copied_payload_bytes: self.copier.copied_bytes(),
            borrowed_entries: self.shared.borrowed_entries(),
            list_refusals: self.shared.refusals,
            held_bytes: self.budget.held_bytes() as u64,
            ..self.counters
        }
    }

    /// Starts a connection of an application.
    pub fn connect(
        &mut self,
        application: ApplicationId,
        remote: P::Remote,
    ) -> Result<ConnectionId> {
        self.connect_with(application, remote, &ConnectOptions::default())
    }

    /// The same, with options.
    pub fn connect_with(
        &mut self,
        application: ApplicationId,
        remote: P::Remote,
        options: &ConnectOptions,
    ) -> Result<ConnectionId> {
        let owner = self.usable_shard(application)?;
        let name = self.connections.take_name()?;
        let now_ns = self.now_ns();
        let started = self.protocol.connect(now_ns, FlowIndex(name.flow), remote, options);
        started.inspect_err(|_| self.connections.give_back(name))?;
        let connection = Connection::new(name, (owner, application.0));
        Ok(self.connections.add(connection))
    }

    /// Starts to listen on a port for an application.
    pub fn listen(&mut self, application: ApplicationId, local: SocketAddr) -> Result<ListenerId> {
        self.applications.shard(application)?;
        let listener = self.protocol.listen(local)?;
        self.listeners.insert(listener, application);
        Ok(listener)
    }

    /// Whether the card has a flow for one more connection: what comes without one is copied.
    pub fn has_flow(&self) -> bool {
        self.connections.has_flow()
    }

    /// The address a listener is bound to.
    pub fn listener_address(&self, listener: ListenerId) -> Result<SocketAddr> {
        self.protocol.listener_address(listener)
    }

    /// Stops listening. Connections that were accepted stay; those that were not are reset.
    pub fn unlisten(&mut self, listener: ListenerId) -> Result<()> {
        self.protocol.unlisten(listener)?;
        self.listeners.remove(&listener);
        Ok(())
    }

    /// Local and remote address of a connection.
    pub fn addresses(&self, id: ConnectionId) -> Result<(SocketAddr, SocketAddr)> {
        let connection = self.connections.get(id);
        let connection =
            connection.ok_or(HostError::Request(RequestError::UnknownConnection(id.0)))?;
        self.protocol.addresses(connection.index())
    }

    /// The next connection of a listener, if there is one. It belongs to the listener's
    /// application. One for which there is no flow, or whose shard has a ring that has stopped, is
    /// reset.
    pub fn accept(&mut self, listener: ListenerId) -> Result<Option<ConnectionId>> {
        let application = self.listeners.get(&listener).copied();
        let application = application.ok_or(TransportError::UnknownListener(listener))?;
        let owner = self.usable_shard(application);
        let now_ns = self.now_ns();
        let name = owner.and_then(|owner| Ok((owner, self.connections.take_name()?)));
        let (owner, name) = match name {
            Ok(name) => name,
            Err(full) => {
                return match self.protocol.refuse(now_ns, listener)? {
                    true => Err(full),
                    false => Ok(None),
                }
            }
        };
        let accepted = self.protocol.accept(now_ns, listener, FlowIndex(name.flow));
        if !matches!(accepted, Ok(true)) {
            self.connections.give_back(name);
        }
        let connection = Connection::new(name, (owner, application.0));
        Ok(match accepted? {
            true => Some(self.connections.add(connection)),
            false => None,
        })
    }

    /// Waits for the card or for the protocol, at most for `limit` of the card's time; see
    /// [`Device::wait`]. Returns whether there may be something to poll for. It ends when the
    /// protocol's next timer is due ([`Protocol::deadline`]), and does not begin while a connection
    /// is due.
    pub fn wait(&mut self, limit: Duration) -> Result<bool> {
        let mut limit = limit;
        let mut ends_with_timer = false;
        let held_ns = self.held.front().map(|held| held.0);
        let due_ns = match self.protocol.deadline() {
            NextTimer::At(at_ns) => Some(held_ns.map_or(at_ns, |held_ns| held_ns.min(at_ns))),
            _ => held_ns,
        };
        if let Some(at_ns) = due_ns {
            let left = self.clock.lasting(at_ns.saturating_sub(self.now_ns()));
            ends_with_timer = left <= limit;
            limit = limit.min(left);
        }
        if limit.is_zero() || self.connections.has_ready() {
            self.device.bus().advance()?;
            return Ok(true);
        }
        // Room in a bounce region comes when the card has taken descriptors over.
        for bounce in self.bounces.iter().filter(|bounce| !bounce.has_room()) {
            if !self.device.await_sends(bounce.owner, bounce.slots_seen())? {
                self.device.bus().advance()?;
                return Ok(false);
            }
        }
        match self.device.wait(limit, self.protocol.readiness()) {
            Ok(came) => Ok(came || ends_with_timer),
            // A ring that stopped while nobody polled: what follows of it is to be polled for.
            Err(error) => self.end_shard(error.into()).map(|()| true),
        }
    }

    /// Ends the use of the card, and with it all connections, which are not told: close them first.
    /// Releases the memory of all regions; existing mappings of it stay valid. A provider that is
    /// dropped stops the card, too.
    pub fn shut_down(mut self) -> Result<()> {
        self.device.end()?;
        for region in self.regions.all() {
            self.device.bus().release(region.memory)?;
        }
        Ok(())
    }

    /// Advances card, protocol and connections. Returns whether there are completions to take. An
    /// error is the card's: it has to be opened again. What a protocol fails at ends a connection,
    /// or nothing ([`crate::protocol`]).
    pub fn poll(&mut self) -> Result<bool> {
        self.device.bus().advance()?;
        let now_ns = self.now_ns();
        self.take_faults()?;
        self.poll_device()?;
        self.connections.wake(|mark| self.device.has_passed(mark));
        self.take_headers(now_ns)?;
        self.take_refused();
        let advanced = self.protocol.advance(now_ns);
        self.note_protocol(advanced);
        self.take_events();
        self.step_rekeying()?;
        self.step_bounces()?;
        self.touch_held(now_ns);
        self.step_connections(now_ns);
        self.transmit(now_ns);
        self.end_removals()?;
        self.poll_device()?;
        Ok(!self.completions.is_empty())
    }

    /// The oldest completion that was not taken.
    pub fn next_completion(&mut self) -> Option<Completion> {
        self.completions.pop_front()
    }

    /// Steps the connections whose floors have waited long enough.
    fn touch_held(&mut self, now_ns: u64) {
        while let Some(&(_, id)) = self.held.front().filter(|(until_ns, _)| *until_ns <= now_ns) {
            self.held.pop_front();
            self.connections.touch(id);
        }
    }

    fn step_connections(&mut self, now_ns: u64) {
        let mut stepped = std::mem::take(&mut self.stepped);
        if self.shared.take_returned() {
            // An entry came free that one of them may have.
            self.wanting.drain().for_each(|id| self.connections.touch(id));
        }
        self.connections.take_ready(&mut stepped);
        self.connections.expect_steps(&stepped);
        for &id in &stepped {
            // All that fails here is the connection's: its protocol, its regions, its bytes.
            if let Err(error) = self.step_connection(id, now_ns) {
                self.fail(id, Failure::of(&error));
            }
            let Some(connection) = self.connections.get_mut(id) else {
                continue;
            };
            connection.charge(&mut self.budget);
            if connection.wants_list() {
                self.wanting.insert(id);
            }
            match connection.rest() {
                Rest::Quiet => {}
                Rest::UnderWay => {
                    let mark = self.device.mark(connection.owner);
                    self.connections.await_card(id, mark);
                }
                Rest::Due => self.connections.touch(id),
            }
        }
        self.stepped = stepped;
    }
}
