//! The applications' calls: connect, listen, accept, register, send, recv, poll, close.
//!
//! ```text
//!   application ── requests ─►┌──────────┐── headers ─► transport (Linux TCP, smoltcp, yours)
//!               ◄─ completions│ Provider │◄─ headers ──
//!                             └────┬─────┘
//!                    commands, descriptors │ header entries
//!                                     Device (rings, doorbells) ── Bus ── card
//! ```
//! All calls return at once; [`Provider::poll`] makes progress and returns completions. Buffers are
//! in registered memory. The application must not touch a buffer between its request and its
//! completion. Several applications share a card: each has the rings of an owner and a protection
//! domain of its own. Both the provider and the card refuse access to the memory of another
//! application.

mod connections;
mod counters;
mod errno;
mod failures;
mod headers;
mod names;
mod progress;

pub(crate) mod copier;

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use self::connections::Connections;
use self::copier::Copier;
pub use self::counters::ProviderCounters;
pub use self::names::{ApplicationId, ConnectionId, RegionId};
use crate::control::budget::{Budget, HELD_BYTES_MAX};
use crate::control::connection::handshake::Handshakes;
use crate::control::connection::Connection;
use crate::control::flow::buffer::Buffer;
use crate::control::flow::posted::REQUESTS_MAX;
use crate::control::lists::Shared;
use crate::control::placement::KeyTable;
use crate::control::regions::{Region, Regions};
use crate::driver::bus::{Bus, DmaMemory, MemoryKind};
use crate::driver::device::{Device, DeviceConfig};
use crate::driver::error::{HostError, Result};
use crate::driver::rings::RingSizes;
use crate::driver::ticket::Ticket;
use crate::memory::ApplicationMapping;
use crate::transport::{Event, ListenerId, StreamId, Transport, TransportError};

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
    /// A request was cancelled because its connection ended.
    Cancelled {
        /// The connection.
        connection: ConnectionId,
        /// The application's name for the request.
        request: u64,
    },
    /// A connection failed. Its requests are cancelled.
    Failed {
        /// The connection.
        connection: ConnectionId,
        /// What kind of failure it is, as an error number of Linux: that of its TCP (`ECONNRESET`,
        /// `ETIMEDOUT`, ...), `EFAULT` when the card or the host could not reach a region, `EIO`
        /// when the card failed, `ENOBUFS` when there was no room for its flow, `EPROTO` and
        /// `EMSGSIZE` when the transport broke its contract.
        errno: i32,
        /// The reason.
        why: String,
    },
    /// A connection is closed and its flow has left the card.
    Closed(ConnectionId),
}

/// Checks that a connection may have one more request open.
fn check_requests(id: ConnectionId, open: usize) -> Result<()> {
    match open < REQUESTS_MAX {
        true => Ok(()),
        false => Err(HostError::TooManyRequests {
            connection: id.0,
            limit: REQUESTS_MAX,
        }),
    }
}

/// The provider. See the head of this file.
pub struct Provider<B: Bus, T: Transport> {
    device: Device<B>,
    transport: T,
    connections: Connections,
    /// Connections in this step, between steps only its memory.
    stepped: Vec<ConnectionId>,
    handshakes: Handshakes,
    budget: Budget,
    keys: KeyTable,
    shared: Shared,
    applications: usize,
    listeners: HashMap<ListenerId, ApplicationId>,
    regions: Regions,
    copier: Copier,
    removals: Vec<(Ticket, u16)>,
    completions: VecDeque<Completion>,
    counters: ProviderCounters,
}

impl<B: Bus, T: Transport> Provider<B, T> {
    /// Opens the card on `bus` and runs `transport` on it.
    pub fn open(bus: B, transport: T, config: DeviceConfig) -> Result<Self> {
        let device = Device::open(bus, config)?;
        let sizes = device.sizes();
        Ok(Self {
            keys: KeyTable::new(*device.secrets(), sizes.bucket_bits),
            shared: Shared::new(sizes.flow_bits, sizes.segment_bits),
            applications: 1,
            listeners: HashMap::new(),
            regions: Regions::new(sizes.region_bits, sizes.page_bits),
            copier: Copier::default(),
            device,
            transport,
            connections: Connections::new(sizes.flow_bits),
            stepped: Vec::new(),
            handshakes: Handshakes::default(),
            budget: Budget::new(HELD_BYTES_MAX),
            removals: Vec::new(),
            completions: VecDeque::new(),
            counters: ProviderCounters::default(),
        })
    }

    /// The card.
    pub fn device(&mut self) -> &mut Device<B> {
        &mut self.device
    }

    /// The transport.
    pub fn transport(&mut self) -> &mut T {
        &mut self.transport
    }

    /// Counters of the control stack so far.
    pub fn counters(&self) -> ProviderCounters {
        ProviderCounters {
            copied_payload_bytes: self.copier.copied_bytes(),
            borrowed_entries: self.shared.borrowed_entries(),
            list_refusals: self.shared.refusals,
            held_bytes: self.budget.held_bytes() as u64,
            ..self.counters
        }
    }

    /// Opens one more application, with rings and a protection domain of its own.
    pub fn open_application(&mut self, rings: RingSizes) -> Result<ApplicationId> {
        let owner = self.device.open_owner(rings)?;
        self.applications += 1;
        Ok(ApplicationId(owner))
    }

    fn check(&self, application: ApplicationId) -> Result<()> {
        match usize::from(application.0) < self.applications {
            true => Ok(()),
            false => Err(HostError::UnknownApplication {
                application: application.0,
                open: self.applications,
            }),
        }
    }

    /// Allocates memory for an application and registers it with the card.
    pub fn register(
        &mut self,
        application: ApplicationId,
        kind: MemoryKind,
        bytes: usize,
    ) -> Result<RegionId> {
        self.check(application)?;
        Regions::check_length(bytes as u64)?;
        let memory = self.device.bus().allocate_region(kind, bytes)?;
        let registered = self.register_memory(application, memory);
        if registered.is_err() {
            self.device.bus().release(memory)?;
        }
        registered
    }

    fn register_memory(
        &mut self,
        application: ApplicationId,
        memory: DmaMemory,
    ) -> Result<RegionId> {
        let range = self.device.bus().share(&memory)?;
        let (region, commands) = self.regions.register(memory, application.0.into())?;
        if let Err(error) = self.copier.add(region.name(), &range) {
            self.regions.forget(region.index);
            return Err(error);
        }
        for entry in commands {
            let ticket = self.device.command(entry);
            self.regions.queued(region.index, ticket);
        }
        Ok(RegionId(region.index))
    }

    /// Removes a region: its memory is released when the card no longer uses it. The payload of
    /// connections that still have buffers in it is deferred, and they fail when it would have to
    /// be copied there.
    pub fn deregister(&mut self, region: RegionId) -> Result<()> {
        self.region(region)?;
        let entry = self.regions.removal(region.0)?;
        let ticket = self.device.command(entry);
        self.removals.push((ticket, region.0));
        Ok(())
    }

    /// The memory of a region.
    pub fn memory(&self, region: RegionId) -> Result<DmaMemory> {
        Ok(self.region(region)?.memory)
    }

    /// Maps a region for the application, which must not touch a buffer between its request and its
    /// completion.
    pub fn map(&mut self, region: RegionId) -> Result<ApplicationMapping> {
        let memory = self.memory(region)?;
        let range = self.device.bus().share(&memory)?;
        let region = region.0;
        range
            .map()
            .map_err(|source| HostError::Mapping { region, source })
    }

    /// A region that is registered and not being removed.
    fn region(&self, region: RegionId) -> Result<&Region> {
        let leaving = self.removals.iter().any(|(_, index)| *index == region.0);
        self.regions
            .get(region.0)
            .filter(|_| !leaving)
            .ok_or(HostError::UnknownRegion(region.0))
    }

    /// Starts a connection of an application.
    pub fn connect(
        &mut self,
        application: ApplicationId,
        remote: SocketAddr,
    ) -> Result<ConnectionId> {
        self.check(application)?;
        let stream = self.transport.connect(remote)?;
        self.adopt(application, stream)
    }

    /// Starts to listen on a port for an application.
    pub fn listen(&mut self, application: ApplicationId, local: SocketAddr) -> Result<ListenerId> {
        self.check(application)?;
        let listener = self.transport.listen(local)?;
        self.listeners.insert(listener, application);
        Ok(listener)
    }

    /// Stops listening. Connections that were accepted stay; those that were not are reset.
    pub fn unlisten(&mut self, listener: ListenerId) -> Result<()> {
        self.listeners.remove(&listener);
        Ok(self.transport.close_listener(listener)?)
    }

    /// Local and remote address of a connection.
    pub fn addresses(&self, id: ConnectionId) -> Result<(SocketAddr, SocketAddr)> {
        let connection = self.connections.get(id);
        let connection = connection.ok_or(HostError::UnknownConnection(id.0))?;
        Ok((connection.local, connection.remote))
    }

    /// The next connection of a listener, if there is one. It belongs to the listener's
    /// application.
    pub fn accept(&mut self, listener: ListenerId) -> Result<Option<ConnectionId>> {
        let Some(stream) = self.transport.accept(listener)? else {
            return Ok(None);
        };
        let application = self.listeners.get(&listener).copied();
        let application = application.ok_or(TransportError::UnknownListener(listener))?;
        self.adopt(application, stream).map(Some)
    }

    fn adopt(&mut self, application: ApplicationId, stream: StreamId) -> Result<ConnectionId> {
        let tuple = self.transport.addresses(stream)?;
        let name = match self.connections.take_name() {
            Ok(name) => name,
            Err(full) => {
                self.transport.abort(stream)?;
                return Err(full);
            }
        };
        let connection = Connection::new(stream, tuple, name, application.0);
        let id = self.connections.add(connection);
        self.handshakes.claim(tuple);
        Ok(id)
    }

    /// Checks the buffer of a request: in a region of the connection's application, and inside the
    /// region.
    fn buffer(
        &mut self,
        id: ConnectionId,
        (region, offset, bytes): (RegionId, u64, u32),
        request: u64,
    ) -> Result<Buffer> {
        let user = self.connection(id)?.owner;
        let region = self.region(region)?;
        if region.domain != u16::from(user) {
            return Err(HostError::ForeignRegion {
                region: region.index,
                owner: region.domain as u8,
                connection: id.0,
                user,
            });
        }
        region.check(offset, bytes)?;
        Ok(Buffer {
            request,
            region: region.name(),
            known: region.known(),
            offset,
            bytes,
            partial: false,
        })
    }

    /// The connection of a request, which touches it.
    fn connection(&mut self, id: ConnectionId) -> Result<&mut Connection> {
        self.connections.touch(id);
        let connection = self.connections.get_mut(id);
        connection.ok_or(HostError::UnknownConnection(id.0))
    }

    /// Sends `bytes` bytes of a region. The completion carries `request`.
    pub fn send(
        &mut self,
        id: ConnectionId,
        region: RegionId,
        offset: u64,
        bytes: u32,
        request: u64,
    ) -> Result<()> {
        let buffer = self.buffer(id, (region, offset, bytes), request)?;
        let connection = self.connection(id)?;
        if connection.is_ending() != (false, false) {
            return Err(HostError::Finished(id.0));
        }
        check_requests(id, connection.open_requests().1)?;
        connection.add_send(buffer);
        Ok(())
    }

    /// Receives into `bytes` bytes of a region. The request completes when the buffer is full, at
    /// the end of the stream, or, with `partial`, as soon as some bytes have arrived and no more
    /// are in progress.
    pub fn recv(
        &mut self,
        id: ConnectionId,
        region: RegionId,
        offset: u64,
        bytes: u32,
        partial: bool,
        request: u64,
    ) -> Result<()> {
        let mut buffer = self.buffer(id, (region, offset, bytes), request)?;
        buffer.partial = partial;
        let connection = self.connection(id)?;
        if connection.is_ending().0 {
            return Err(HostError::Finished(id.0));
        }
        check_requests(id, connection.open_requests().0)?;
        connection.add_receive(buffer);
        Ok(())
    }

    /// Ends the sending half after everything posted; the receiving half stays open.
    pub fn finish(&mut self, id: ConnectionId) -> Result<()> {
        self.connection(id)?.finish();
        Ok(())
    }

    /// Closes a connection: sends what was posted, then removes the flow from the card. Receive
    /// requests still open then are cancelled.
    pub fn close(&mut self, id: ConnectionId) -> Result<()> {
        match self.connection(id)?.close() {
            true => Err(HostError::Finished(id.0)),
            false => Ok(()),
        }
    }

    /// Waits for header entries, at most for `limit` of the card's time; see [`Device::wait`].
    /// Returns whether there may be something to poll for.
    pub fn wait(&mut self, limit: Duration) -> Result<bool> {
        self.device.wait(limit)
    }

    /// Advances card, transport and connections. Returns the completions since the last call.
    pub fn poll(&mut self) -> Result<Vec<Completion>> {
        self.device.bus().advance()?;
        self.take_faults()?;
        self.poll_device()?;
        self.take_headers()?;
        self.take_refused()?;
        while let Some(event) = self.transport.poll_event()? {
            if let Event::Stream(stream) = event {
                if let Some(id) = self.connections.of_stream(stream) {
                    self.connections.touch(id);
                }
            }
        }
        self.take_transport_headers()?;
        self.step_connections()?;
        self.end_removals()?;
        self.poll_device()?;
        Ok(self.completions.drain(..).collect())
    }

    fn step_connections(&mut self) -> Result<()> {
        let mut stepped = std::mem::take(&mut self.stepped);
        self.connections.take_ready(&mut stepped);
        for &id in &stepped {
            if let Err(error) = self.step_connection(id) {
                match error {
                    HostError::Transport(_)
                    | HostError::BytesMissing { .. }
                    | HostError::NoKeySlot { .. }
                    | HostError::HandshakeForgotten(_)
                    | HostError::UnknownRegion(_)
                    | HostError::Mapping { .. } => {
                        self.fail(id, errno::of(&error), error.to_string())?;
                    }
                    other => return Err(other),
                }
            }
            let Some(connection) = self.connections.get_mut(id) else {
                continue;
            };
            connection.charge(&mut self.budget);
            if !connection.is_at_rest() {
                self.connections.touch(id);
            }
        }
        self.stepped = stepped;
        Ok(())
    }
}
