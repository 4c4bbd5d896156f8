//! The application's side: connect, listen, accept, register, send, recv, poll, close.
//!
//! ```text
//!   application ── requests ─►┌──────────┐── headers ─► transport (Linux TCP, smoltcp, yours)
//!               ◄─ completions│ Provider │◄─ headers ──
//!                             └────┬─────┘
//!                    commands, descriptors │ header entries
//!                                     Device (rings, doorbells) ── Bus ── card
//! ```
//! All calls return at once; [`Provider::poll`] makes progress and returns completions. Buffers lie
//! in memory that was registered; the application must not touch a buffer between its request and
//! its completion. Several applications share a card: each has an owner's rings and a protection
//! domain of its own, and neither the provider nor the card lets it use another one's memory.

mod failures;
mod headers;
mod progress;

pub(crate) mod copier;

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use self::copier::Copier;
use crate::control::commands::FlowName;
use crate::control::connection::handshake::{Handshakes, Tuple};
use crate::control::connection::Connection;
use crate::control::flow::buffer::Buffer;
use crate::control::lists::Shared;
use crate::control::placement::KeyTable;
use crate::control::regions::{Region, Regions};
use crate::driver::bus::{Bus, DmaMemory, MemoryKind};
use crate::driver::device::{Device, DeviceConfig};
use crate::driver::error::{HostError, Result};
use crate::driver::rings::RingSizes;
use crate::driver::ticket::Ticket;
use crate::memory::ApplicationMapping;
use crate::transport::{ListenerId, StreamId, Transport, TransportError};

/// Names an application of a provider: its owner's number on the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ApplicationId(pub u8);

impl ApplicationId {
    /// The one that a provider has from the beginning.
    pub const FIRST: Self = Self(0);
}

/// Names a connection of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(pub u32);

/// Registered memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionId(pub u16);

/// Something that ended, in the order in which it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completion {
    /// A connection opened and its flow was handed to the card.
    Opened(ConnectionId),
    /// A receive request is done: its buffer holds `bytes` bytes.
    Received {
        /// The application's name for the request.
        request: u64,
        /// Bytes in the buffer; 0 at the end of the stream.
        bytes: u32,
    },
    /// A send request is done: the peer has acknowledged it and the card will not read it again.
    Sent {
        /// The application's name for the request.
        request: u64,
    },
    /// The peer has closed its half, and every byte before that was received.
    EndOfStream(ConnectionId),
    /// A request ended without effect because its connection is gone.
    Cancelled {
        /// The application's name for the request.
        request: u64,
    },
    /// A connection failed; its requests are cancelled.
    Failed(ConnectionId, String),
    /// A connection is closed and its flow has left the card.
    Closed(ConnectionId),
}

/// What the control stack did with payload and headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProviderCounters {
    /// Payload bytes that the CPU copied into or out of application buffers.
    pub copied_payload_bytes: u64,
    /// Header entries taken.
    pub header_entries: u64,
    /// Headers withheld from the transport because their payload was not kept: their flow was over
    /// its deferral budget, they came before its window, or far beyond it.
    pub withheld_headers: u64,
    /// Packets of a flow withheld because they came to another link address or VLAN than its own.
    pub withheld_foreign: u64,
    /// Packets behind IPv6 extension headers withheld because their TCP checksum was wrong or they
    /// ended early.
    pub withheld_broken: u64,
    /// Headers of the transport with payload of a flow that is not there: dropped.
    pub orphan_headers: u64,
    /// Frames of the transport too long to go out inline.
    pub oversize_frames: u64,
    /// Window updates that the control stack sent on its own.
    pub window_updates: u64,
    /// Fragments withheld: their payload cannot be placed.
    pub withheld_fragments: u64,
    /// Segment entries that flows have borrowed now.
    pub borrowed_entries: u32,
    /// Times that a flow wanted a longer segment list and the card had none to lend; its requests
    /// wait.
    pub list_refusals: u64,
}

/// The provider. See the module's head.
pub struct Provider<B: Bus, T: Transport> {
    device: Device<B>,
    transport: T,
    connections: HashMap<ConnectionId, Connection>,
    tuples: HashMap<Tuple, ConnectionId>,
    handshakes: Handshakes,
    keys: KeyTable,
    generations: Vec<u8>,
    flows: HashMap<u16, ConnectionId>,
    flows_free: Vec<u16>,
    shared: Shared,
    applications: usize,
    listeners: HashMap<ListenerId, ApplicationId>,
    regions: Regions,
    copier: Copier,
    removals: Vec<(Ticket, u16)>,
    completions: VecDeque<Completion>,
    counters: ProviderCounters,
    connection_next: u32,
}

impl<B: Bus, T: Transport> Provider<B, T> {
    /// Opens the card behind `bus` and runs `transport` on it.
    pub fn open(bus: B, transport: T, config: DeviceConfig) -> Result<Self> {
        let device = Device::open(bus, config)?;
        let sizes = device.sizes();
        Ok(Self {
            keys: KeyTable::new(*device.secrets(), sizes.bucket_bits),
            generations: vec![0; 1 << sizes.flow_bits],
            flows: HashMap::new(),
            flows_free: (0..=u16::MAX).take(1 << sizes.flow_bits).rev().collect(),
            shared: Shared::new(sizes.flow_bits, sizes.segment_bits),
            applications: 1,
            listeners: HashMap::new(),
            regions: Regions::new(sizes.region_bits, sizes.page_bits),
            copier: Copier::default(),
            device,
            transport,
            connections: HashMap::new(),
            tuples: HashMap::new(),
            handshakes: Handshakes::default(),
            removals: Vec::new(),
            completions: VecDeque::new(),
            counters: ProviderCounters::default(),
            connection_next: 0,
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

    /// What the control stack did so far.
    pub fn counters(&self) -> ProviderCounters {
        ProviderCounters {
            copied_payload_bytes: self.copier.copied_bytes(),
            borrowed_entries: self.shared.borrowed_entries(),
            list_refusals: self.shared.refusals,
            ..self.counters
        }
    }

    /// Lets one more application use the card, with rings and a protection domain of its own.
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

    /// Allocates memory of an application and registers it with the card.
    pub fn register(
        &mut self,
        application: ApplicationId,
        kind: MemoryKind,
        bytes: usize,
    ) -> Result<RegionId> {
        self.check(application)?;
        Regions::check_length(bytes as u64)?;
        let align = bytes.min(2 << 20).next_power_of_two().max(4096);
        let memory = self.device.bus().allocate(kind, bytes, align)?;
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

    /// Removes a region: the card stops using it, then its memory is released. Connections that
    /// still have buffers in it get their payload deferred, and fail when it would have to be
    /// copied there.
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

    /// Maps a region for the application. It must not touch a buffer between the buffer's request
    /// and its completion.
    pub fn map(&mut self, region: RegionId) -> Result<ApplicationMapping> {
        let memory = self.memory(region)?;
        let range = self.device.bus().share(&memory)?;
        let region = region.0;
        range
            .map()
            .map_err(|source| HostError::Mapping { region, source })
    }

    /// A region that is registered and not on its way out.
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

    /// Opens a port for an application.
    pub fn listen(&mut self, application: ApplicationId, local: SocketAddr) -> Result<ListenerId> {
        self.check(application)?;
        let listener = self.transport.listen(local)?;
        self.listeners.insert(listener, application);
        Ok(listener)
    }

    /// The next connection of a listener, if there is one; of the listener's application.
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
        let Some(flow) = self.flows_free.pop() else {
            self.transport.abort(stream)?;
            return Err(HostError::TableFull {
                what: "flows",
                limit: self.generations.len(),
            });
        };
        let generation = &mut self.generations[usize::from(flow)];
        *generation = generation.wrapping_add(1);
        let name = FlowName {
            flow,
            generation: *generation,
        };
        let id = ConnectionId(self.connection_next);
        self.connection_next += 1;
        self.connections
            .insert(id, Connection::new(stream, tuple, name, application.0));
        self.flows.insert(flow, id);
        self.tuples.insert(tuple, id);
        self.handshakes.claim(tuple);
        Ok(id)
    }

    /// Checks a request's place: in a region of the connection's application, inside it.
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

    fn connection(&mut self, id: ConnectionId) -> Result<&mut Connection> {
        self.connections
            .get_mut(&id)
            .ok_or(HostError::UnknownConnection(id.0))
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
        connection.add_send(buffer);
        Ok(())
    }

    /// Receives into `bytes` bytes of a region. Completes when they are full, at the end of the
    /// stream, or, with `partial`, as soon as some bytes are there and no more are on the way.
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
        connection.add_receive(buffer);
        Ok(())
    }

    /// Ends the sending half after everything sent; the receiving half stays open.
    pub fn finish(&mut self, id: ConnectionId) -> Result<()> {
        self.connection(id)?.finish();
        Ok(())
    }

    /// Closes a connection: sends what was posted, then takes its flow off the card. Receive
    /// requests that are still open then are cancelled.
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

    /// Lets card, transport and connections make progress; the completions since the last call.
    pub fn poll(&mut self) -> Result<Vec<Completion>> {
        self.device.bus().advance()?;
        self.take_faults()?;
        self.poll_device()?;
        self.take_headers()?;
        self.take_refused()?;
        // The connections look at their streams in every step; what counts here is that the
        // transport goes on.
        while self.transport.poll_event()?.is_some() {}
        self.take_transport_headers()?;
        self.step_connections()?;
        self.end_removals()?;
        self.poll_device()?;
        Ok(self.completions.drain(..).collect())
    }

    fn step_connections(&mut self) -> Result<()> {
        let mut ids: Vec<ConnectionId> = self.connections.keys().copied().collect();
        ids.sort_unstable();
        for id in ids {
            if let Err(error) = self.step_connection(id) {
                match error {
                    HostError::Transport(_)
                    | HostError::BytesMissing { .. }
                    | HostError::NoKeySlot { .. }
                    | HostError::HandshakeForgotten(_)
                    | HostError::UnknownRegion(_)
                    | HostError::Mapping { .. } => {
                        self.fail(id, error.to_string())?;
                    }
                    other => return Err(other),
                }
            }
        }
        Ok(())
    }
}
