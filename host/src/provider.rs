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

mod agreement;
mod applications;
mod bounce;
mod calls;
mod connections;
mod counters;
mod names;
mod options;
mod polling;
mod secrets;

pub(crate) mod copier;

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Instant;

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
use crate::control::connection::Progress;
use crate::control::lists::Shared;
use crate::control::placement::KeyTable;
use crate::control::regions::Regions;
use crate::driver::bus::Bus;
use crate::driver::device::{Device, DeviceConfig};
use crate::error::{HostError, Result};
use crate::failure::Failure;
use crate::observed::Observed;
pub use crate::protocol::ConnectOptions;
use crate::protocol::Protocol;
use crate::records::profile::Profile;
use crate::records::ticket::Ticket;
use crate::transport::{ListenerId, Transport};

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
    /// The header profiles that it had the card set, with their numbers.
    profiles: Vec<(u8, Profile)>,
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
        let profiles = protocol.profiles();
        for (number, profile) in &profiles {
            device.set_profile(*number, profile)?;
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
            profiles,
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

    /// The oldest completion that was not taken.
    pub fn next_completion(&mut self) -> Option<Completion> {
        self.completions.pop_front()
    }
}
