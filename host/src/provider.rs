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
//! its completion.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::SocketAddr;

use crate::bus::{Bus, DmaMemory, MemoryKind};
use crate::control::commands::FlowName;
use crate::control::connection::{Connection, Handshake, Phase};
use crate::control::placement::KeyTable;
use crate::control::receive::Buffer;
use crate::control::regions::{Region, Regions};
use crate::copier::Copier;
use crate::device::{Device, DeviceConfig, Ticket};
use crate::error::{HostError, Result};
use crate::memory::ApplicationMapping;
use crate::transport::{ListenerId, Transport};

/// Deferred payload that one flow may hold, bytes. Beyond it headers are withheld: a counted loss.
pub(crate) const DEFERRED_BYTES_MAX: usize = 4 << 20;

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
    /// Headers withheld from the transport because a flow was over its deferral budget.
    pub withheld_headers: u64,
    /// Frames of the transport too long to go out inline.
    pub oversize_frames: u64,
    /// Window updates that the control stack sent on its own.
    pub window_updates: u64,
    /// Fragments withheld: their payload cannot be placed.
    pub withheld_fragments: u64,
}

/// The provider. See the module's head.
pub struct Provider<B: Bus, T: Transport> {
    pub(crate) device: Device<B>,
    pub(crate) transport: T,
    pub(crate) connections: HashMap<ConnectionId, Connection>,
    pub(crate) tuples: HashMap<(SocketAddr, SocketAddr), ConnectionId>,
    pub(crate) handshakes: HashMap<(SocketAddr, SocketAddr), Handshake>,
    pub(crate) keys: KeyTable,
    generations: Vec<u8>,
    pub(crate) flows_used: HashSet<u16>,
    pub(crate) regions: Regions,
    pub(crate) copier: Copier,
    pub(crate) removals: Vec<(Ticket, u16)>,
    pub(crate) completions: VecDeque<Completion>,
    pub(crate) counters: ProviderCounters,
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
            flows_used: HashSet::new(),
            regions: Regions::new(sizes.region_bits, sizes.page_bits),
            copier: Copier::default(),
            device,
            transport,
            connections: HashMap::new(),
            tuples: HashMap::new(),
            handshakes: HashMap::new(),
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
            ..self.counters
        }
    }

    /// Allocates application memory and registers it with the card.
    pub fn register(&mut self, kind: MemoryKind, bytes: usize) -> Result<RegionId> {
        let align = bytes.next_power_of_two().clamp(4096, 2 << 20);
        let memory = self.device.bus().allocate(kind, bytes, align)?;
        let (region, commands) = self.regions.register(memory, 0)?;
        self.copier
            .add(region.index, &self.device.bus().share(&memory)?)?;
        for entry in commands {
            self.device.command(entry);
        }
        Ok(RegionId(region.index))
    }

    /// Removes a region: the card stops using it, then its memory is released.
    pub fn deregister(&mut self, region: RegionId) -> Result<()> {
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

    fn region(&self, region: RegionId) -> Result<&Region> {
        self.regions
            .get(region.0)
            .ok_or(HostError::UnknownRegion(region.0))
    }

    /// Starts a connection.
    pub fn connect(&mut self, remote: SocketAddr) -> Result<ConnectionId> {
        let stream = self.transport.connect(remote)?;
        self.adopt(stream)
    }

    /// Opens a port.
    pub fn listen(&mut self, local: SocketAddr) -> Result<ListenerId> {
        Ok(self.transport.listen(local)?)
    }

    /// The next connection of a listener, if there is one.
    pub fn accept(&mut self, listener: ListenerId) -> Result<Option<ConnectionId>> {
        match self.transport.accept(listener)? {
            Some(stream) => self.adopt(stream).map(Some),
            None => Ok(None),
        }
    }

    fn adopt(&mut self, stream: crate::transport::StreamId) -> Result<ConnectionId> {
        let (local, remote) = self.transport.addresses(stream)?;
        let limit = self.generations.len();
        let flow = (0..limit)
            .map(|flow| flow as u16)
            .find(|flow| !self.flows_used.contains(flow))
            .ok_or(HostError::TableFull {
                what: "flows",
                limit,
            })?;
        self.flows_used.insert(flow);
        let generation = &mut self.generations[usize::from(flow)];
        *generation = generation.wrapping_add(1);
        let name = FlowName {
            flow,
            generation: *generation,
        };
        let id = ConnectionId(self.connection_next);
        self.connection_next += 1;
        self.connections
            .insert(id, Connection::new(stream, local, remote, name));
        self.tuples.insert((local, remote), id);
        self.handshakes.entry((local, remote)).or_default();
        Ok(id)
    }

    fn buffer(&self, region: RegionId, offset: u64, bytes: u32, request: u64) -> Result<Buffer> {
        let region = self.region(region)?;
        let region_bytes = region.memory.bytes as u64;
        let fits = offset
            .checked_add(bytes.into())
            .is_some_and(|end| end <= region_bytes);
        if bytes == 0 || bytes > abi::config::FLOW_REACH_BYTES / 4 || !fits {
            return Err(HostError::BadBuffer {
                offset,
                bytes: bytes.into(),
                region_bytes,
            });
        }
        let (region, region_key) = (region.index, region.key);
        Ok(Buffer {
            request,
            region,
            region_key,
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
        let buffer = self.buffer(region, offset, bytes, request)?;
        self.connection(id)?.add_send(buffer);
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
        let mut buffer = self.buffer(region, offset, bytes, request)?;
        buffer.partial = partial;
        self.connection(id)?.add_receive(buffer);
        Ok(())
    }

    /// Ends the sending half after everything sent; the receiving half stays open.
    pub fn finish(&mut self, id: ConnectionId) -> Result<()> {
        self.connection(id)?.finish();
        Ok(())
    }

    /// Closes a connection: sends what was posted, then takes its flow off the card.
    pub fn close(&mut self, id: ConnectionId) -> Result<()> {
        let connection = self.connection(id)?;
        connection.finish();
        if matches!(connection.phase, Phase::Installed) {
            connection.phase = Phase::Closing;
        }
        Ok(())
    }

    /// Lets card, transport and connections make progress; the completions since the last call.
    pub fn poll(&mut self) -> Result<Vec<Completion>> {
        self.device.bus().advance()?;
        self.take_faults()?;
        self.device.poll()?;
        self.take_headers()?;
        self.take_refused();
        // The connections look at their streams in every step; what counts here is that the
        // transport goes on.
        while self.transport.poll_event()?.is_some() {}
        self.take_transport_headers()?;
        self.step_connections()?;
        self.end_removals()?;
        self.device.poll()?;
        Ok(self.completions.drain(..).collect())
    }

    /// A refused posted write leaves no other trace: its flows stop before anything is announced.
    fn take_faults(&mut self) -> Result<()> {
        for fault in self.device.bus().take_faults() {
            let Some(region) = self.regions.at(fault.address).map(|region| region.index) else {
                continue;
            };
            let hit: Vec<ConnectionId> = self
                .connections
                .iter()
                .filter(|(_, c)| c.receive.as_ref().is_some_and(|r| r.uses_region(region)))
                .map(|(id, _)| *id)
                .collect();
            for id in hit {
                self.fail(id, format!("DMA write refused at {:#x}", fault.address))?;
            }
        }
        Ok(())
    }

    pub(crate) fn fail(&mut self, id: ConnectionId, why: String) -> Result<()> {
        let Some(connection) = self.connections.get_mut(&id) else {
            return Ok(());
        };
        if matches!(connection.phase, Phase::Removing(_)) {
            return Ok(());
        }
        let requests = connection.cancel();
        self.completions.push_back(Completion::Failed(id, why));
        self.transport.abort(connection.stream)?;
        connection.remove(&mut self.device);
        self.completions.extend(
            requests
                .into_iter()
                .map(|request| Completion::Cancelled { request }),
        );
        Ok(())
    }

    fn take_refused(&mut self) {
        while let Some(refused) = self.device.take_refused() {
            let hit = self
                .connections
                .iter()
                .find(|(_, c)| c.name.flow == refused.flow);
            let id = hit.map(|(id, _)| *id);
            let why = format!(
                "command {} refused: {}",
                refused.opcode,
                refused.status.name()
            );
            if let Some(id) = id {
                self.completions.push_back(Completion::Failed(id, why));
            }
        }
    }

    fn step_connections(&mut self) -> Result<()> {
        let mut ids: Vec<ConnectionId> = self.connections.keys().copied().collect();
        ids.sort_unstable();
        for id in ids {
            if let Err(error) = self.step_connection(id) {
                match error {
                    HostError::Transport(_) | HostError::BytesMissing { .. } => {
                        self.fail(id, error.to_string())?;
                    }
                    other => return Err(other),
                }
            }
        }
        Ok(())
    }
}
