//! The applications' calls for messages: register, expect, send, cancel, say, poll.
//!
//! ```text
//!   expect ─► flow, segment ─► Ready ─► Received, or Cancelled: the card is done with the buffer
//!   send ───► flow, segment ──────────► Sent, or Cancelled
//! ```

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use abi::config::FRAME_BYTES_MAX;

use super::channel::CONTROL_BYTES_MAX;
use super::channels::{ControlEvent, CHANNELS_MAX};
use super::header::{Station, HEADER_BYTES};
use super::protocol::{Messages, Remote};
use crate::clock::{Clock, ManualClock};
use crate::driver::bus::{Bus, MemoryKind};
use crate::driver::device::{Device, DeviceConfig};
use crate::error::request::RequestError;
use crate::error::table::TableError;
use crate::error::{HostError, Result};
use crate::failure::Failure;
use crate::memory::{ApplicationMapping, MemoryRange};
use crate::provider::{ApplicationId, Completion, ConnectionId, Provider, RegionId};
use crate::records::size::SizeError;
use crate::transport::NextTimer;

/// Header bytes from IP to the payload, for the larger of both IP versions.
const OVERHEAD_BYTES: u32 = 40 + 8 + HEADER_BYTES as u32;
/// Bytes of an Ethernet header.
const LINK_BYTES: u32 = 14;

/// What has become of a message, and what other stations have said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageDone {
    /// The card has confirmed the buffer of an expected message: what comes of it has its place.
    /// Once for each, before its end.
    Ready {
        /// The application's name for the request.
        request: u64,
    },
    /// The whole message was received. Its buffer is the application's again.
    Received {
        /// The application's name for the request.
        request: u64,
        /// Length of the message, which may be shorter than its buffer.
        bytes: u32,
    },
    /// The other end has acknowledged the whole message. Its buffer is the application's again.
    Sent {
        /// The application's name for the request.
        request: u64,
    },
    /// A request was cancelled ([`Endpoint::cancel`]). Its buffer is the application's again.
    Cancelled {
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
    /// A station has said something ([`Endpoint::say`]).
    Told {
        /// The station.
        from: Station,
        /// What it has said.
        content: Vec<u8>,
    },
    /// A station is gone: it was watched ([`Endpoint::watch`]) and silent for
    /// [`SILENCE`](super::SILENCE), or its card was opened again. Requests of it stay open.
    Lost {
        /// The station.
        station: Station,
    },
}

/// A message that is not over.
#[derive(Debug)]
struct Open {
    request: u64,
    is_incoming: bool,
    /// It was reported to be ready.
    is_ready: bool,
    is_cancelled: bool,
    failure: Option<Failure>,
}

/// One end of the protocol, on a card of its own.
pub struct Endpoint<B: Bus> {
    provider: Provider<B, Messages>,
    clock: ManualClock,
    open: HashMap<ConnectionId, Open>,
    /// The connection of each request; of several under one name that of the youngest.
    requests: HashMap<u64, ConnectionId>,
    /// Expected messages whose buffers are not confirmed yet.
    preparing: Vec<ConnectionId>,
}

/// A packet carries whole lines of so many bytes, so that none comes in two halves: who looks at
/// the memory before the message is complete, as kernels of NCCL do by LL (8 bytes) and LL128 (128
/// bytes), finds flag and data of a line together. The memory has to be aligned to it as well.
const LINE_BYTES: u32 = 128;

/// The most payload of an IP packet of so many bytes: whole lines, if one fits.
fn payload_of(mtu_bytes: u16) -> Result<u32> {
    let (least, most) = (OVERHEAD_BYTES + 1, FRAME_BYTES_MAX as u32 - LINK_BYTES);
    if !(least..=most).contains(&mtu_bytes.into()) {
        return Err(HostError::Size(SizeError {
            name: "mtu_bytes",
            value: mtu_bytes.into(),
            min: least.into(),
            max: most.into(),
        }));
    }
    let bytes = u32::from(mtu_bytes) - OVERHEAD_BYTES;
    Ok(if bytes < LINE_BYTES { bytes } else { bytes - bytes % LINE_BYTES })
}

/// A number that names an opening of a card: random, or by the seed of a run that must repeat.
fn incarnation(seed: Option<u64>) -> u64 {
    seed.unwrap_or_else(|| RandomState::new().build_hasher().finish())
}

impl<B: Bus> Endpoint<B> {
    /// Opens the card on `bus` for the station `local`, with IP packets of up to `mtu_bytes`.
    pub fn open(bus: B, local: Station, mtu_bytes: u16, config: DeviceConfig) -> Result<Self> {
        let payload_bytes_max = payload_of(mtu_bytes)?;
        let protocol = Messages::new(local, payload_bytes_max, incarnation(config.hash_seed));
        let mut provider = Provider::open(bus, protocol, config)?;
        let clock = ManualClock::default();
        provider.set_clock(Clock::Manual(clock.clone()));
        let (open, requests) = (HashMap::new(), HashMap::new());
        Ok(Self { provider, clock, open, requests, preparing: Vec::new() })
    }

    /// The card.
    pub fn device(&mut self) -> &mut Device<B> {
        self.provider.device()
    }

    /// Payload bytes that the CPU copied.
    pub fn copied_payload_bytes(&self) -> u64 {
        self.provider.counters().copied_payload_bytes
    }

    /// Packets that were taken for lost and sent again. Where one was not, the receiver may copy
    /// bytes of the second one.
    pub fn sent_again(&mut self) -> u64 {
        self.provider.protocol().sent_again()
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

    /// Registers memory that the application has: whole pages, of a kind. See
    /// [`Provider::register_existing`].
    pub fn register_existing(&mut self, kind: MemoryKind, range: MemoryRange) -> Result<RegionId> {
        self.provider.register_existing_as(ApplicationId::FIRST, kind, range)
    }

    /// Removes a region. The card may use its memory until [`Endpoint::is_leaving`] says no.
    pub fn deregister(&mut self, region: RegionId) -> Result<()> {
        self.provider.deregister(region)
    }

    /// Whether a region is still being removed. Asked after each poll: its number is given again.
    pub fn is_leaving(&self, region: RegionId) -> bool {
        self.provider.is_leaving(region)
    }

    /// Expects a message of up to `bytes` bytes from a station, to be placed in a region.
    /// [`MessageDone::Ready`] tells when the card has its place; what comes before is copied.
    pub fn expect(
        &mut self,
        from: Station,
        message: u64,
        (region, offset, bytes): (RegionId, u64, u32),
        request: u64,
    ) -> Result<()> {
        let id = self.open_message(from, message, (region, bytes), true)?;
        let posted = self.provider.recv(id, region.span(offset, bytes), request);
        self.or_close((id, request), true, posted)
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
        self.or_close((id, request), false, posted)
    }

    /// Whether the card has a flow for one more message; without one it is copied.
    pub fn has_flow(&self) -> bool {
        self.provider.has_flow()
    }

    /// Gives a message up. [`MessageDone::Cancelled`] tells when the card is done with its buffer;
    /// what was on its way to an end may come before. The other end is not told.
    pub fn cancel(&mut self, request: u64) -> Result<()> {
        let unknown = RequestError::UnknownRequest { connection: 0, request };
        let id = self.requests.get(&request).copied().ok_or(HostError::Request(unknown))?;
        if let Some(open) = self.open.get_mut(&id).filter(|open| !open.is_cancelled) {
            open.is_cancelled = true;
            self.provider.abort(id)?;
        }
        Ok(())
    }

    /// Says up to [`CONTROL_BYTES_MAX`] bytes to a station: in order and once, as long as both
    /// cards stay open. No buffer has to be expected for it.
    pub fn say(&mut self, to: Station, content: &[u8]) -> Result<()> {
        if content.len() > CONTROL_BYTES_MAX {
            return Err(HostError::Size(SizeError {
                name: "control bytes",
                value: content.len() as u64,
                min: 0,
                max: CONTROL_BYTES_MAX as u64,
            }));
        }
        let now_ns = self.clock.now_ns();
        let is_taken = self.provider.protocol().channels().say(now_ns, to, content.to_vec());
        let limit = CHANNELS_MAX;
        let full = TableError::Full { what: "stations", limit };
        is_taken.then_some(()).ok_or(HostError::Table(full))
    }

    /// IP packets to a station are no longer than this: what both ends have agreed on. Holds for
    /// messages from now on.
    pub fn limit_mtu(&mut self, station: Station, mtu_bytes: u16) -> Result<()> {
        let payload_bytes_max = payload_of(mtu_bytes)?;
        self.provider.protocol().limit_payload(station, payload_bytes_max);
        Ok(())
    }

    /// From now on the silence of a station is told, or is not.
    pub fn watch(&mut self, station: Station, is_watched: bool) {
        let now_ns = self.clock.now_ns();
        self.provider.protocol().channels().watch(now_ns, station, is_watched);
    }

    /// Whether all that was said is acknowledged.
    pub fn is_said(&mut self) -> bool {
        self.provider.protocol().channels().is_said()
    }

    /// When a poll is due, if nothing comes before, by the clock of [`Endpoint::poll`].
    pub fn deadline(&mut self) -> NextTimer {
        self.provider.deadline()
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
    fn or_close(
        &mut self,
        (id, request): (ConnectionId, u64),
        is_incoming: bool,
        posted: Result<()>,
    ) -> Result<()> {
        if posted.is_err() {
            self.provider.close(id)?;
            return posted;
        }
        let open =
            Open { request, is_incoming, is_ready: false, is_cancelled: false, failure: None };
        self.open.insert(id, open);
        self.requests.insert(request, id);
        if is_incoming {
            self.preparing.push(id);
        }
        Ok(())
    }

    /// Makes progress at a time, which never goes back. Returns the messages that ended since the
    /// last call.
    pub fn poll(&mut self, now_ns: u64) -> Result<Vec<MessageDone>> {
        let passed = now_ns.saturating_sub(self.clock.now_ns());
        self.clock.advance(Duration::from_nanos(passed));
        let mut done = Vec::new();
        self.provider.poll()?;
        self.report_ready(&mut done);
        while let Some(completion) = self.provider.next_completion() {
            self.take(completion, &mut done)?;
        }
        while let Some(event) = self.provider.protocol().channels().event() {
            done.push(match event {
                ControlEvent::Told(from, content) => MessageDone::Told { from, content },
                ControlEvent::Lost(station) => MessageDone::Lost { station },
            });
        }
        Ok(done)
    }

    /// Reports the expected messages whose buffers are confirmed by now.
    fn report_ready(&mut self, done: &mut Vec<MessageDone>) {
        let (provider, open) = (&self.provider, &mut self.open);
        self.preparing.retain(|id| {
            let Some(open) = open.get_mut(id).filter(|open| !open.is_cancelled) else {
                return false;
            };
            let is_ready = provider.is_posted(*id);
            if is_ready {
                open.is_ready = true;
                done.push(MessageDone::Ready { request: open.request });
            }
            !is_ready
        });
    }

    fn take(&mut self, completion: Completion, done: &mut Vec<MessageDone>) -> Result<()> {
        match completion {
            Completion::Received { connection, bytes, .. } => {
                let open = self.open.get_mut(&connection);
                // What was cancelled may be incomplete: what it has got is nobody's.
                if let Some(open) = open.filter(|open| !open.is_cancelled && open.is_incoming) {
                    let request = open.request;
                    if !std::mem::replace(&mut open.is_ready, true) {
                        done.push(MessageDone::Ready { request });
                    }
                    done.push(MessageDone::Received { request, bytes });
                    self.end(connection, request);
                    self.provider.close(connection)?;
                }
            }
            Completion::Sent { connection, request } => {
                let open = self.open.get(&connection);
                if open.is_some_and(|open| !open.is_cancelled) {
                    done.push(MessageDone::Sent { request });
                    self.end(connection, request);
                    self.provider.close(connection)?;
                }
            }
            Completion::Failed { connection, reason } => {
                if let Some(open) = self.open.get_mut(&connection) {
                    open.failure = Some(reason);
                }
            }
            Completion::Closed(connection) => {
                if let Some(open) = self.open.get(&connection) {
                    let (request, reason) = (open.request, open.failure.clone());
                    done.push(match open.is_cancelled {
                        true => MessageDone::Cancelled { request },
                        false => MessageDone::Failed { request, reason },
                    });
                    self.end(connection, request);
                }
            }
            Completion::Cancelled { .. } | Completion::Opened(_) | Completion::EndOfStream(_) => {}
        }
        Ok(())
    }

    /// A request is over.
    fn end(&mut self, id: ConnectionId, request: u64) {
        self.open.remove(&id);
        if self.requests.get(&request) == Some(&id) {
            self.requests.remove(&request);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_carry_whole_lines() {
        let bytes = [1280, 1500, 9000].map(|mtu_bytes| payload_of(mtu_bytes).unwrap());
        assert_eq!(bytes, [1152, 1408, 8832]);
        assert_eq!(payload_of(OVERHEAD_BYTES as u16 + 1).unwrap(), 1);
        assert!(payload_of(OVERHEAD_BYTES as u16).is_err());
    }
}
