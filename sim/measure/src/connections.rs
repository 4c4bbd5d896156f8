//! As many connections as the card has flows: opened, used both ways, closed, on the golden card.
//!
//! ```text
//!   Provider ── NullProtocol        open ─► all are open ─► each sends and receives ─► close
//!      └── golden card ── frames ── Echo                              │
//!                                                  memory of the process, before and here
//! ```
//! Each call of the host goes through the caller's meter, and nothing else does: card and far end
//! work between these calls. Each connection sends bytes of its own and gets them back into a
//! buffer of its own, judged byte by byte. A connection is closed when its flow has left the card,
//! behind the fence of its removal; the null protocol has no end of a stream on the wire.

mod echo;
mod report;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use abi::config::{CardConfig, DEFAULT};
use host::driver::bus::MemoryKind;
use host::driver::device::DeviceConfig;
use host::error::HostError;
use host::memory::ApplicationMapping;
use host::provider::{ApplicationId, Completion, ConnectionId, Provider, RegionId};
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::machine::Machine;
use thiserror::Error;

use self::echo::Echo;
pub use self::report::Report;
use crate::null_card::payload::Pattern;
use crate::null_protocol::{NullConfig, NullProtocol};

/// Bytes that each connection moves each way.
pub const BYTES: u32 = 1024;
/// Connections that are opened, used and closed together.
const TOGETHER: usize = 64;
/// Frames to the card between two polls: its header queue has room for more.
const FRAMES_PER_POLL: usize = 64;
/// Polls within which those together must be done.
const POLLS_MAX: usize = 1000;
/// Requests with numbers from here on are of the send side.
const SENDS_FROM: u64 = 1 << 32;
const PAGE_BYTES: u64 = 4096;

/// Calls a piece of the host's work.
pub type Meter<'a> = dyn FnMut(&mut dyn FnMut()) + 'a;

/// Why a run stops.
#[derive(Debug, Error)]
pub enum ConnectionsError {
    /// The control stack failed.
    #[error("{0}")]
    Host(#[from] HostError),
    /// A connection ended.
    #[error("connection {0:?} ended: {1}")]
    Ended(ConnectionId, String),
    /// The bytes that came back are others.
    #[error("connection {number}: {bytes} bytes came back, wrong from byte {wrong_from} on")]
    Bytes {
        /// Number of the connection, from 0.
        number: usize,
        /// Bytes that came back.
        bytes: u32,
        /// The first that is wrong.
        wrong_from: usize,
    },
    /// Nothing moves any more.
    #[error(
        "{done} of {all} connections {what} after {POLLS_MAX} polls, {refused} frames refused"
    )]
    Stuck {
        /// What they should be.
        what: &'static str,
        /// How many are.
        done: usize,
        /// How many should be.
        all: usize,
        /// Frames that the far end has refused.
        refused: u64,
    },
}

type Result<T, E = ConnectionsError> = std::result::Result<T, E>;

/// What a run has found.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Wall time to open all.
    pub opening: Duration,
    /// Wall time until each has sent and received its bytes.
    pub using: Duration,
    /// Wall time to close all.
    pub closing: Duration,
    /// Resident memory of the process that came with the connections, buffers apart: host stack,
    /// model of the card and far end together, bytes. `None` where the system does not say.
    pub memory_bytes: Option<u64>,
    /// Payload bytes that the host has copied.
    pub copied_bytes: u64,
}

/// Opens, uses and closes so many on the default card. `heap_bytes` makes a call and counts the
/// bytes of the heap that it leaves behind. In a `fresh` process resident memory is told as well.
pub fn measure(
    connections: u32,
    fresh: bool,
    heap_bytes: fn(&mut dyn FnMut()) -> i64,
) -> Result<Report> {
    let (heap, mut used_bytes) = (Cell::new(0), 0);
    let outcome = run(
        DEFAULT,
        connections as usize,
        &mut |call| heap.set(heap.get() + heap_bytes(call)),
        &mut || used_bytes = heap.get(),
    )?;
    let [opening_seconds, using_seconds, closing_seconds] =
        [outcome.opening, outcome.using, outcome.closing].map(|time| time.as_secs_f64());
    let each = |bytes: f64| bytes / f64::from(connections);
    let resident_bytes = outcome.memory_bytes.filter(|_| fresh);
    Ok(Report {
        ok: true,
        connections,
        opening_seconds,
        using_seconds,
        closing_seconds,
        seconds: opening_seconds + using_seconds + closing_seconds,
        bytes_per_connection: each(used_bytes as f64),
        resident_bytes_per_connection: resident_bytes.map(|bytes| each(bytes as f64)),
        copied_bytes: outcome.copied_bytes,
    })
}

type Host = Provider<GoldenBus, NullProtocol>;

/// Bytes of memory that the process has; only Linux says.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * PAGE_BYTES)
}

struct Run<'a, 'm> {
    meter: &'m mut Meter<'a>,
    machine: Machine<Host, Rc<RefCell<GoldenCard>>>,
    echo: Echo,
    region: RegionId,
    memory: ApplicationMapping,
    pattern: Pattern,
    connections: Vec<ConnectionId>,
    opened: usize,
    received: usize,
    sent: usize,
    closed: usize,
}

impl<'a, 'm> Run<'a, 'm> {
    fn open(
        card: Rc<RefCell<GoldenCard>>,
        connections: usize,
        meter: &'m mut Meter<'a>,
    ) -> Result<Self> {
        let protocol = NullProtocol::new(NullConfig {
            local: [10, 77, 0, 1].into(),
            send_bytes: BYTES,
            mss_bytes: BYTES as u16,
            segments_per_ack: None,
            burst: 1,
        });
        let bus = GoldenBus::late(card.clone());
        // With one of 600 secrets, some keys of a full table find no slot. These connections would
        // be copied.
        let protocol = (protocol, DeviceConfig::with_seed(1));
        let mut machine = Machine::provided(bus, protocol, card, (), None)?;
        machine.host.look_ahead();
        let bytes = 2 * connections * BYTES as usize;
        let region = machine.host.register(ApplicationId::FIRST, MemoryKind::Application, bytes)?;
        let mut run = Self {
            meter,
            memory: machine.host.map(region)?,
            machine,
            echo: Echo::default(),
            region,
            pattern: Pattern::new(BYTES as usize),
            connections: Vec::new(),
            opened: 0,
            received: 0,
            sent: 0,
            closed: 0,
        };
        for number in 0..connections {
            let at = number * BYTES as usize;
            let bytes = run.pattern.at(at as u64, BYTES as usize).to_vec();
            run.memory.write(at, &bytes);
            // Not what is to come, but there.
            let other = bytes.iter().map(|byte| !byte).collect::<Vec<u8>>();
            run.memory.write(at + connections * BYTES as usize, &other);
        }
        Ok(run)
    }

    /// Calls the host.
    fn call<T>(&mut self, call: impl FnOnce(&mut Host) -> host::error::Result<T>) -> Result<T> {
        let (provider, mut call, mut result) = (&mut self.machine.host, Some(call), None);
        (self.meter)(&mut || {
            if let Some(call) = call.take() {
                result = Some(call(provider));
            }
        });
        Ok(result.expect("a meter calls once")?)
    }

    /// Polls until all are `done`, which says how many are.
    fn until(&mut self, what: &'static str, all: usize, done: fn(&Self) -> usize) -> Result<()> {
        for _ in 0..POLLS_MAX {
            if done(self) >= all {
                return Ok(());
            }
            self.poll()?;
        }
        Err(ConnectionsError::Stuck { what, done: done(self), all, refused: self.echo.refused })
    }

    fn poll(&mut self) -> Result<()> {
        self.call(Provider::poll)?;
        while let Some(completion) = self.machine.host.next_completion() {
            match completion {
                Completion::Opened(_) => self.opened += 1,
                Completion::Received { request, bytes, .. } => {
                    self.judge(request as usize, bytes)?
                }
                Completion::Sent { .. } => self.sent += 1,
                Completion::Closed(_) => self.closed += 1,
                Completion::Failed { connection, reason } => {
                    return Err(ConnectionsError::Ended(connection, reason.to_string()))
                }
                Completion::EndOfStream(id) => {
                    return Err(ConnectionsError::Ended(id, "end of stream".to_owned()));
                }
                Completion::Cancelled { connection, .. } => {
                    return Err(ConnectionsError::Ended(connection, "cancelled".to_owned()));
                }
            }
        }
        self.machine.host.device().bus().carry_out();
        for frame in self.machine.take_sent() {
            self.echo.take(&frame.bytes);
        }
        for _ in 0..FRAMES_PER_POLL {
            let Some(bytes) = self.echo.next() else { break };
            self.machine.receive(bytes);
        }
        Ok(())
    }

    fn judge(&mut self, number: usize, bytes: u32) -> Result<()> {
        let (all, length) = (self.connections.len(), BYTES as usize);
        let mut found = vec![0; length];
        self.memory.read((all + number) * length, &mut found);
        let expected = self.pattern.at((number * length) as u64, length);
        let wrong = found.iter().zip(expected).position(|(a, b)| a != b);
        self.received += 1;
        match (bytes == BYTES, wrong) {
            (true, None) => Ok(()),
            (_, wrong) => {
                Err(ConnectionsError::Bytes { number, bytes, wrong_from: wrong.unwrap_or(length) })
            }
        }
    }

    fn connect_all(&mut self, all: usize) -> Result<()> {
        let remote = ([10, 77, 0, 2], 5001).into();
        while self.connections.len() < all {
            let end = all.min(self.connections.len() + TOGETHER);
            while self.connections.len() < end {
                let id = self.call(|host| host.connect(ApplicationId::FIRST, remote))?;
                self.connections.push(id);
            }
            self.until("open", end, |run| run.opened)?;
        }
        Ok(())
    }

    fn use_all(&mut self) -> Result<()> {
        let all = self.connections.len();
        for first in (0..all).step_by(TOGETHER) {
            let end = all.min(first + TOGETHER);
            for number in first..end {
                let (id, at) = (self.connections[number], u64::from(BYTES) * number as u64);
                let to = at + u64::from(BYTES) * all as u64;
                let (region, request) = (self.region, number as u64);
                self.call(|host| host.recv(id, region.span(to, BYTES), request))?;
                self.call(|host| host.send(id, region.span(at, BYTES), SENDS_FROM + request))?;
            }
            self.until("used", end, |run| run.received.min(run.sent))?;
        }
        Ok(())
    }

    fn close_all(&mut self) -> Result<()> {
        let all = self.connections.len();
        for first in (0..all).step_by(TOGETHER) {
            let end = all.min(first + TOGETHER);
            for number in first..end {
                let id = self.connections[number];
                self.call(|host| host.close(id))?;
            }
            self.until("closed", end, |run| run.closed)?;
        }
        Ok(())
    }
}

/// Opens, uses and closes so many connections on a card of that configuration. The calls of the
/// host go through `meter`; `used` is called when all are open and each has moved its bytes.
pub fn run(
    config: CardConfig,
    connections: usize,
    meter: &mut Meter,
    used: &mut dyn FnMut(),
) -> Result<Outcome> {
    run_on(GoldenCard::new(config), connections, meter, used)
}

/// The same on this card.
pub fn run_on(
    card: Rc<RefCell<GoldenCard>>,
    connections: usize,
    meter: &mut Meter,
    used: &mut dyn FnMut(),
) -> Result<Outcome> {
    let mut run = Run::open(card, connections, meter)?;
    let (before, started) = (resident_bytes(), Instant::now());
    run.connect_all(connections)?;
    let opening = started.elapsed();
    run.use_all()?;
    let using = started.elapsed() - opening;
    let grown = resident_bytes().zip(before);
    used();
    run.close_all()?;
    Ok(Outcome {
        opening,
        using,
        closing: started.elapsed() - opening - using,
        memory_bytes: grown.map(|(after, before)| after.saturating_sub(before)),
        copied_bytes: run.machine.host.counters().copied_payload_bytes,
    })
}
