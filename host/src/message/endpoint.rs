//! The applications' calls for messages: register, expect, send, poll.

use std::collections::HashMap;
use std::time::Duration;

use abi::config::FRAME_BYTES_MAX;

use super::header::{Station, HEADER_BYTES};
use super::protocol::{Messages, Remote};
use crate::clock::{Clock, ManualClock};
use crate::driver::bus::{Bus, MemoryKind};
use crate::driver::device::{Device, DeviceConfig};
use crate::error::{HostError, Result};
use crate::failure::Failure;
use crate::memory::ApplicationMapping;
use crate::provider::{ApplicationId, Completion, ConnectionId, Provider, RegionId};
use crate::records::size::SizeError;

/// Header bytes from IP to the payload, for the larger of both IP versions.
const OVERHEAD_BYTES: u32 = 40 + 8 + HEADER_BYTES as u32;
/// Bytes of an Ethernet header.
const LINK_BYTES: u32 = 14;

/// The end of a message, whose buffer is returned to the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageDone {
    /// The whole message was received.
    Received {
        /// The application's name for the request.
        request: u64,
    },
    /// The other end has acknowledged the whole message.
    Sent {
        /// The application's name for the request.
        request: u64,
    },
    /// The card could not transfer the message.
    Failed {
        /// The application's name for the request.
        request: u64,
        /// The reason; `None` when the request ended with its connection.
        reason: Option<Failure>,
    },
}

/// One end of the protocol, on a card of its own.
pub struct Endpoint<B: Bus> {
    provider: Provider<B, Messages>,
    clock: ManualClock,
    /// Messages that have failed, until their buffers come back.
    failed: HashMap<ConnectionId, Failure>,
}

impl<B: Bus> Endpoint<B> {
    /// Opens the card on `bus` for the station `local`, with IP packets of up to `mtu_bytes`.
    pub fn open(bus: B, local: Station, mtu_bytes: u16, config: DeviceConfig) -> Result<Self> {
        let (least, most) = (OVERHEAD_BYTES + 1, FRAME_BYTES_MAX as u32 - LINK_BYTES);
        if !(least..=most).contains(&mtu_bytes.into()) {
            return Err(HostError::Size(SizeError {
                name: "mtu_bytes",
                value: mtu_bytes.into(),
                min: least.into(),
                max: most.into(),
            }));
        }
        let protocol = Messages::new(local, u32::from(mtu_bytes) - OVERHEAD_BYTES);
        let mut provider = Provider::open(bus, protocol, config)?;
        let clock = ManualClock::default();
        provider.set_clock(Clock::Manual(clock.clone()));
        Ok(Self { provider, clock, failed: HashMap::new() })
    }

    /// The card.
    pub fn device(&mut self) -> &mut Device<B> {
        self.provider.device()
    }

    /// Payload bytes that the CPU copied.
    pub fn copied_payload_bytes(&self) -> u64 {
        self.provider.counters().copied_payload_bytes
    }

    /// Allocates memory for messages and registers it. Returns the region and the application's
    /// mapping.
    pub fn register(
        &mut self,
        kind: MemoryKind,
        bytes: usize,
    ) -> Result<(RegionId, ApplicationMapping)> {
        let region = self.provider.register(ApplicationId::FIRST, kind, bytes)?;
        Ok((region, self.provider.map(region)?))
    }

    /// Expects a message of `bytes` bytes from a station, to be placed in a region.
    pub fn expect(
        &mut self,
        from: Station,
        message: u64,
        (region, offset, bytes): (RegionId, u64, u32),
        request: u64,
    ) -> Result<()> {
        let id = self.open_message(from, message, (region, bytes), true)?;
        let posted = self.provider.recv(id, region.span(offset, bytes), request);
        self.or_close(id, posted)
    }

    /// Sends `bytes` bytes of a region as one message.
    pub fn send(
        &mut self,
        to: Station,
        message: u64,
        (region, offset, bytes): (RegionId, u64, u32),
        request: u64,
    ) -> Result<()> {
        let id = self.open_message(to, message, (region, bytes), false)?;
        let posted = self.provider.send(id, region.span(offset, bytes), request);
        self.or_close(id, posted)
    }

    fn open_message(
        &mut self,
        station: Station,
        message: u64,
        (region, bytes): (RegionId, u32),
        is_incoming: bool,
    ) -> Result<ConnectionId> {
        self.provider.memory(region)?;
        let remote = Remote { station, message, bytes, is_incoming };
        self.provider.connect(ApplicationId::FIRST, remote)
    }

    /// A message whose request was refused is given up.
    fn or_close(&mut self, id: ConnectionId, posted: Result<()>) -> Result<()> {
        if posted.is_err() {
            self.provider.close(id)?;
        }
        posted
    }

    /// Makes progress at a time, which never goes back. Returns the messages that ended since the
    /// last call.
    pub fn poll(&mut self, now_ns: u64) -> Result<Vec<MessageDone>> {
        let passed = now_ns.saturating_sub(self.clock.now_ns());
        self.clock.advance(Duration::from_nanos(passed));
        let mut done = Vec::new();
        self.provider.poll()?;
        while let Some(completion) = self.provider.next_completion() {
            match completion {
                Completion::Received { connection, request, .. } => {
                    done.push(MessageDone::Received { request });
                    self.provider.close(connection)?;
                }
                Completion::Sent { connection, request } => {
                    done.push(MessageDone::Sent { request });
                    self.provider.close(connection)?;
                }
                Completion::Failed { connection, reason } => {
                    self.failed.insert(connection, reason);
                }
                Completion::Cancelled { connection, request } => {
                    let reason = self.failed.get(&connection).cloned();
                    done.push(MessageDone::Failed { request, reason });
                }
                Completion::Closed(connection) => {
                    self.failed.remove(&connection);
                }
                Completion::Opened(_) | Completion::EndOfStream(_) => {}
            }
        }
        Ok(done)
    }
}
