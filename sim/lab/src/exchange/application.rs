//! The application of a lab, on one connection.

use std::collections::VecDeque;
use std::net::SocketAddr;

use host::driver::bus::Bus;
use host::error::request::RequestError;
use host::error::HostError;
use host::memory::ApplicationMapping;
use host::protocol::Protocol;
use host::provider::{ApplicationId, Completion, ConnectionId, Provider, RegionId};
use host::transport::peer::RandomBytes;
use sha2::{Digest, Sha256};

use super::plan::{Exchange, LabError, BUFFER_BYTES};

/// Buffers in each direction: one list's worth.
const BUFFERS: usize = 8;
/// Requests below this are sends of the buffer with that number; others are receives.
const RECEIVE_REQUESTS: u64 = BUFFERS as u64;
/// The receive that waits for the end of the stream: a peer sends its FIN into an open window only.
const END_REQUEST: u64 = 2 * BUFFERS as u64;

/// The application's side of a run.
pub(super) struct Application {
    connection: ConnectionId,
    region: RegionId,
    /// The application's own view of the region.
    memory: ApplicationMapping,
    random: RandomBytes,
    sent_posted: u64,
    pub(super) sent_done: u64,
    receives: VecDeque<(u64, usize)>,
    received_posted: u64,
    pub(super) received: u64,
    hasher: Sha256,
    free_sends: Vec<usize>,
    finished: bool,
    end_posted: bool,
    end_of_stream: bool,
}

impl Application {
    /// Registers memory, connects to `remote` and posts all receive buffers.
    pub(super) fn connect<B: Bus, P: Protocol<Remote = SocketAddr>>(
        provider: &mut Provider<B, P>,
        remote: SocketAddr,
        exchange: &Exchange,
    ) -> Result<Self, HostError> {
        let owner = ApplicationId::FIRST;
        let region = provider.register(owner, exchange.memory, 2 * BUFFERS * BUFFER_BYTES)?;
        let mut application = Self {
            connection: provider.connect(owner, remote)?,
            region,
            memory: provider.map(region)?,
            random: RandomBytes::new(exchange.seed),
            sent_posted: 0,
            sent_done: 0,
            receives: VecDeque::new(),
            received_posted: 0,
            received: 0,
            hasher: Sha256::new(),
            free_sends: (0..BUFFERS).collect(),
            finished: false,
            end_posted: false,
            end_of_stream: false,
        };
        for buffer in 0..BUFFERS {
            application.post_receive(provider, BUFFERS + buffer, exchange.bytes)?;
        }
        Ok(application)
    }

    /// Digest of the bytes received.
    pub(super) fn digest(self) -> [u8; 32] {
        self.hasher.finalize().into()
    }

    pub(super) fn is_done(&self, bytes: u64) -> bool {
        self.sent_done == bytes && self.has_received(bytes)
    }

    /// Whether all bytes and the end of the stream have come.
    pub(super) fn has_received(&self, bytes: u64) -> bool {
        self.received == bytes && self.end_of_stream
    }

    fn post_receive<B: Bus, P: Protocol>(
        &mut self,
        provider: &mut Provider<B, P>,
        buffer: usize,
        bytes: u64,
    ) -> Result<(), HostError> {
        let left = bytes - self.received_posted;
        if left == 0 && self.end_posted {
            return Ok(());
        }
        let offset = (buffer * BUFFER_BYTES) as u64;
        let (length, request) = match left {
            0 => (BUFFER_BYTES as u64, END_REQUEST),
            _ => (left.min(BUFFER_BYTES as u64), buffer as u64),
        };
        provider.recv(self.connection, self.region.span(offset, length as u32), request)?;
        if request == END_REQUEST {
            self.end_posted = true;
            return Ok(());
        }
        self.received_posted += length;
        self.receives.push_back((request, buffer));
        Ok(())
    }

    pub(super) fn post_sends<B: Bus, P: Protocol>(
        &mut self,
        provider: &mut Provider<B, P>,
        bytes: u64,
    ) -> Result<bool, HostError> {
        let mut moved = false;
        while self.sent_posted < bytes {
            let Some(buffer) = self.free_sends.pop() else { break };
            let length = (bytes - self.sent_posted).min(BUFFER_BYTES as u64) as usize;
            let offset = buffer * BUFFER_BYTES;
            let mut bytes = vec![0; length];
            self.random.fill(&mut bytes);
            self.memory.write(offset, &bytes);
            let request = buffer as u64;
            provider.send(
                self.connection,
                self.region.span(offset as u64, length as u32),
                request,
            )?;
            self.sent_posted += length as u64;
            moved = true;
        }
        if self.sent_posted == bytes && !self.finished {
            provider.finish(self.connection)?;
            self.finished = true;
        }
        Ok(moved)
    }

    pub(super) fn take<B: Bus, P: Protocol>(
        &mut self,
        provider: &mut Provider<B, P>,
        completion: Completion,
        bytes: u64,
    ) -> Result<(), LabError> {
        match completion {
            Completion::Sent { request, .. } => {
                let buffer = request as usize;
                let last = bytes - (bytes - 1) / BUFFER_BYTES as u64 * BUFFER_BYTES as u64;
                let rest = bytes - self.sent_done;
                self.sent_done += if rest == last { last } else { BUFFER_BYTES as u64 };
                self.free_sends.push(buffer);
            }
            // Data after the end of the stream is an error.
            Completion::Received { request: END_REQUEST, bytes: length, .. } => {
                self.received += u64::from(length)
            }
            Completion::Cancelled { request: END_REQUEST, .. } => {}
            Completion::Received { request, bytes: length, .. } => {
                let buffer = request as usize;
                assert!(request >= RECEIVE_REQUESTS, "receive request {request}");
                let mut arrived = vec![0; length as usize];
                self.memory.read(buffer * BUFFER_BYTES, &mut arrived);
                self.hasher.update(&arrived);
                self.received += u64::from(length);
                self.receives.pop_front();
                match self.post_receive(provider, buffer, bytes) {
                    // It has ended behind these bytes: the reason is the next completion.
                    Err(HostError::Request(RequestError::UnknownConnection(_))) => {}
                    posted => posted?,
                }
            }
            Completion::EndOfStream(_) => self.end_of_stream = true,
            Completion::Failed { reason, .. } => return Err(LabError::Connection(reason)),
            Completion::Cancelled { request, .. } => {
                return Err(LabError::Cancelled(request));
            }
            Completion::Opened(_) | Completion::Closed(_) => {}
        }
        Ok(())
    }
}
