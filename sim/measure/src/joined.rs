//! Two hosts with a card each, on one wire: what a real protocol at both ends costs.
//!
//! ```text
//!   Provider ── protocol                           protocol ── Provider
//!      └── golden card ──────────── frames ──────────── golden card ──┘
//!          bytes of a pattern ─────────────────────────► read and judged
//! ```
//! The protocol is Linux TCP behind a TAP device, by the wall clock, or our own TCP, whose time
//! goes on by what the frames of a round take on the wire.
//!
//! One connection, one way. Each call of a host goes through the caller's meter, and nothing else
//! does: the cards work between these calls, on buses that are late, and so do the frames on the
//! wire. Nothing is lost on it. Payload and headers are carried as on a real wire; the receiving
//! card writes the payload on the core of the host.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use abi::config::DEFAULT;
use host::clock::{Clock, ManualClock};
use host::driver::bus::{Bus, MemoryKind};
use host::driver::device::{DeviceConfig, COALESCE_TIME};
use host::error::HostError;
use host::memory::ApplicationMapping;
use host::observed::Observed;
use host::protocol::Protocol;
use host::provider::{ApplicationId, Completion, ConnectionId, Provider, RegionId};
use host::tcp::TcpProtocol;
use host::transport::patience::{Patience, PATIENCE};
use host::transport::{LinkConfig, LinuxTransport, ListenerId, TransportError, Tuning};
use lab::frame::{wire_time_ps, Frame};
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::network_side::NetworkSide;
use tcp::{Config, Secret};
use thiserror::Error;

use crate::null_card::payload::{sum_of_buffer, Pattern, WrongSum};

/// Length of a buffer, and how many are posted at each end.
const BUFFER: (u32, usize) = (256 << 10, 8);
/// Frames to a card between two polls: its header queue has room for more.
const FRAMES_PER_ROUND: usize = 64;
const PORT: u16 = 5001;
const ETHERNET_BYTES: usize = 14;

/// Calls a piece of the host's work, which returns whether it found anything.
pub type Meter<'a> = dyn FnMut(Whose, &mut dyn FnMut() -> bool) + 'a;

/// Whose work a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The host that sends.
    Sender,
    /// The host that receives, and its application.
    Receiver,
}

/// What goes over the wire, and how it is taken.
#[derive(Clone, Copy, Debug)]
pub struct JoinedConfig {
    /// Largest IP packet, bytes.
    pub mtu_bytes: u16,
    /// The application's reading of each received byte is a piece of the host's work; otherwise
    /// bytes are only judged.
    pub touched: bool,
    /// Both cards sum received packets up.
    pub coalesces: bool,
}

/// Why a run stops.
#[derive(Debug, Error)]
pub enum JoinedError {
    /// The kernel's side failed, or is forbidden.
    #[error("{0}")]
    Transport(#[from] TransportError),
    /// The control stack failed.
    #[error("{0}")]
    Host(#[from] HostError),
    /// The connection ended.
    #[error("the connection ended: {0}")]
    Ended(String),
    /// A received buffer holds other bytes than were sent.
    #[error("{0}")]
    Payload(#[from] WrongSum),
    /// Nothing moves any more.
    #[error("no progress for {} s after {bytes} bytes", PATIENCE.as_secs())]
    Stuck {
        /// Bytes received so far.
        bytes: u64,
    },
}

type Result<T, E = JoinedError> = std::result::Result<T, E>;

/// One host with its card.
struct End<P: Protocol> {
    whose: Whose,
    provider: Provider<GoldenBus, P>,
    card: Rc<RefCell<GoldenCard>>,
    region: RegionId,
    memory: ApplicationMapping,
    connection: Option<ConnectionId>,
    /// Buffers posted so far.
    posted: usize,
    /// Frames on their way to it.
    frames: VecDeque<Frame>,
}

impl<P: Protocol> End<P> {
    fn open(whose: Whose, coalesces: bool, protocol: P, clock: Clock) -> Result<Self> {
        let card = GoldenCard::new(DEFAULT);
        let bus = GoldenBus::late(card.clone());
        let coalesce = coalesces.then_some(COALESCE_TIME);
        let device = DeviceConfig { coalesce, ..DeviceConfig::default() };
        let mut provider = Provider::open(bus, protocol, device)?;
        provider.set_clock(clock);
        let bytes = BUFFER.0 as usize * BUFFER.1;
        let region = provider.register(ApplicationId::FIRST, MemoryKind::Application, bytes)?;
        Ok(Self {
            whose,
            memory: provider.map(region)?,
            provider,
            card,
            region,
            connection: None,
            posted: 0,
            frames: VecDeque::new(),
        })
    }

    /// Polls once.
    fn poll(&mut self, meter: &mut Meter) -> Result<()> {
        let provider = &mut self.provider;
        let mut result = Ok(false);
        meter(self.whose, &mut || {
            let seen = |provider: &Provider<GoldenBus, P>| {
                let counters = provider.counters();
                (counters.sent_headers, counters.header_entries)
            };
            let before = seen(provider);
            result = provider.poll();
            seen(provider) != before || !matches!(result, Ok(false))
        });
        result?;
        Ok(())
    }

    /// Place of the next buffer in the region.
    fn next_offset(&mut self) -> u64 {
        let offset = (self.posted % BUFFER.1) as u64 * u64::from(BUFFER.0);
        self.posted += 1;
        offset
    }
}

/// Both hosts. See the head of this file.
pub struct Joined<P: Protocol> {
    sender: End<P>,
    receiver: End<P>,
    listener: ListenerId,
    pattern: Pattern,
    config: JoinedConfig,
    /// What a round takes on the wire.
    round: Duration,
    /// Places of the next byte to post for sending, and of the next one that is received.
    sent: u64,
    received: u64,
    patience: Patience<u64>,
    /// The clock of both, where it is not the wall's.
    clock: Option<ManualClock>,
}

impl Joined<Observed<LinuxTransport>> {
    /// Two hosts with Linux TCP.
    pub fn linux(config: JoinedConfig) -> Result<Self> {
        Self::open(config, None, |number| {
            let link = LinkConfig::lab(number, config.mtu_bytes, Tuning::REAL_TIME);
            Ok(Observed::new(LinuxTransport::open(&link)?))
        })
    }
}

impl Joined<TcpProtocol> {
    /// The same with our own TCP, on a wire of 100 Gb/s that is full.
    pub fn own(config: JoinedConfig) -> Result<Self> {
        Self::open(config, Some(ManualClock::default()), |number| {
            let link = LinkConfig::lab(number, config.mtu_bytes, Tuning::REAL_TIME);
            Ok(TcpProtocol::new(&link, Config::private_wire(), Secret([number; 32])))
        })
    }
}

impl<P: Protocol<Remote = SocketAddr>> Joined<P> {
    /// Opens both hosts and starts to connect them.
    fn open(
        config: JoinedConfig,
        clock: Option<ManualClock>,
        protocol: impl Fn(u8) -> Result<P>,
    ) -> Result<Self> {
        let by = || match &clock {
            Some(clock) => Clock::Manual(clock.clone()),
            None => Clock::Wall { divisor: 1 },
        };
        let frame_ps = wire_time_ps(usize::from(config.mtu_bytes) + ETHERNET_BYTES);
        let coalesces = config.coalesces;
        let mut sender = End::open(Whose::Sender, coalesces, protocol(1)?, by())?;
        let mut receiver = End::open(Whose::Receiver, coalesces, protocol(2)?, by())?;
        let remote = ([10, 77, 0, 2], PORT).into();
        let listener = receiver.provider.listen(ApplicationId::FIRST, remote)?;
        let connection = sender.provider.connect(ApplicationId::FIRST, remote)?;
        sender.connection = Some(connection);
        Ok(Self {
            sender,
            receiver,
            listener,
            pattern: Pattern::new(BUFFER.0 as usize),
            config,
            round: Duration::from_nanos(FRAMES_PER_ROUND as u64 * frame_ps / 1000),
            sent: 0,
            received: 0,
            patience: Patience::new(0),
            clock,
        })
    }

    /// Bytes received so far.
    pub fn received_bytes(&self) -> u64 {
        self.received
    }

    /// Both hosts poll, then both cards and the wire do their part.
    pub fn round(&mut self, meter: &mut Meter) -> Result<()> {
        self.sender.poll(meter)?;
        while let Some(completion) = self.sender.provider.next_completion() {
            match completion {
                Completion::Opened(_) => {
                    for _ in 0..BUFFER.1 {
                        self.send(meter)?;
                    }
                }
                Completion::Sent { .. } => self.send(meter)?,
                other => return Err(JoinedError::Ended(format!("{other:?}"))),
            }
        }
        if self.receiver.connection.is_none() {
            self.receiver.connection = self.receiver.provider.accept(self.listener)?;
            if self.receiver.connection.is_some() {
                for _ in 0..BUFFER.1 {
                    self.receive(meter)?;
                }
            }
        }
        self.receiver.poll(meter)?;
        while let Some(completion) = self.receiver.provider.next_completion() {
            match completion {
                Completion::Opened(_) => {}
                Completion::Received { bytes, .. } => {
                    self.judge(bytes, meter)?;
                    self.receive(meter)?;
                }
                other => return Err(JoinedError::Ended(format!("{other:?}"))),
            }
        }
        self.carry();
        self.pass_round()?;
        match self.patience.is_over(self.received) {
            true => Err(JoinedError::Stuck { bytes: self.received }),
            false => Ok(()),
        }
    }

    /// The time of a round passes: on the hosts' clock, and on that of cards whose runs wait for
    /// it.
    fn pass_round(&mut self) -> Result<()> {
        if let Some(clock) = &self.clock {
            clock.advance(self.round);
        }
        for end in [&mut self.sender, &mut self.receiver] {
            let bus = end.provider.device().bus();
            let over = bus.now() + self.round;
            while self.config.coalesces && bus.now() < over {
                bus.advance().map_err(HostError::from)?;
            }
        }
        Ok(())
    }

    /// Header entries that the receiving host has taken, and packets that they stand for.
    pub fn received_entries(&self) -> (u64, u64) {
        let counters = self.receiver.provider.counters();
        let single = counters.header_entries - counters.run_entries;
        (counters.header_entries, single + counters.run_packets)
    }

    /// Fills the next buffer and posts it.
    fn send(&mut self, meter: &mut Meter) -> Result<()> {
        let (end, bytes) = (&mut self.sender, BUFFER.0);
        let (region, offset) = (end.region, end.next_offset());
        let Some(id) = end.connection else {
            return Ok(());
        };
        end.memory.write(offset as usize, self.pattern.at(self.sent, bytes as usize));
        self.sent += u64::from(bytes);
        let (whose, provider, mut result) = (end.whose, &mut end.provider, Ok(()));
        meter(whose, &mut || {
            result = provider.send(id, region.span(offset, bytes), 0);
            true
        });
        Ok(result?)
    }

    fn receive(&mut self, meter: &mut Meter) -> Result<()> {
        let (end, bytes) = (&mut self.receiver, BUFFER.0);
        let (region, offset) = (end.region, end.next_offset());
        let Some(id) = end.connection else {
            return Ok(());
        };
        let (whose, provider, mut result) = (end.whose, &mut end.provider, Ok(()));
        meter(whose, &mut || {
            result = provider.recv(id, region.span(offset, bytes), 0);
            true
        });
        Ok(result?)
    }

    /// Reads the buffer that has come back: the next one, as all are full.
    fn judge(&mut self, bytes: u32, meter: &mut Meter) -> Result<()> {
        let (memory, place) = (&self.receiver.memory, self.received);
        let start = (place % (u64::from(BUFFER.0) * BUFFER.1 as u64)) as usize;
        let mut found = 0;
        let mut read = || {
            found = sum_of_buffer(memory, start, bytes as usize);
            true
        };
        match self.config.touched {
            true => meter(Whose::Receiver, &mut read),
            false => {
                read();
            }
        }
        self.received += u64::from(bytes);
        Ok(self.pattern.judge(place, bytes, found)?)
    }

    /// The cards' part, and the wire's.
    fn carry(&mut self) {
        let ends = [&mut self.sender, &mut self.receiver];
        let mut sent = [Vec::new(), Vec::new()];
        for (end, sent) in ends.into_iter().zip(&mut sent) {
            end.provider.device().bus().carry_out();
            end.card.take_sent(sent);
        }
        let [from_sender, from_receiver] = sent;
        self.receiver.frames.extend(from_sender);
        self.sender.frames.extend(from_receiver);
        for end in [&mut self.sender, &mut self.receiver] {
            let count = end.frames.len().min(FRAMES_PER_ROUND);
            for frame in end.frames.drain(..count) {
                end.card.receive(frame);
            }
        }
    }
}
