//! A transport that does what a kernel may do. A header that it refuses is dropped and counted: the
//! provider and the connection go on. What it is given it may work on in its own time.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use abi::config::SMALL;
use host::driver::bus::MemoryKind;
use host::driver::device::DeviceConfig;
use host::headers::error::HeaderError;
use host::headers::layout::{ACK, RST};
use host::memory::ApplicationMapping;
use host::provider::{ApplicationId, Completion};
use host::transport::peer::{RandomBytes, Script, WirePeer};
use host::transport::{
    Drained, Event, ListenerId, NextTimer, Result, StreamId, StreamInfo, StreamStatus,
    TransmitHeader, Transport, TransportCounters, TransportError,
};
use lab::golden_card::{GoldenBus, GoldenCard};

use crate::provider::calls::peer_address;
use crate::provider::rig::{GoldenRig, Rig};

/// Refuses as many headers with payload, and as many whole frames, as is asked of it. The others
/// reach the TCP once its events have been asked for so many times.
struct Refusing {
    transport: Box<dyn Transport>,
    headers: Arc<AtomicUsize>,
    frames: Arc<AtomicUsize>,
    late_polls: u32,
    /// Headers on their way to the TCP, their payload bytes, and the polls that are left.
    late: VecDeque<(Vec<u8>, usize, u32)>,
}

/// Takes one of what is left, if there is any.
fn take(left: &AtomicUsize) -> bool {
    let less = |left: usize| left.checked_sub(1);
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
}

impl Transport for Refusing {
    fn deliver(&mut self, header: &[u8], payload_bytes: usize) -> Result<()> {
        if payload_bytes > 0 && take(&self.headers) {
            let (field, value) = ("protocol", 17);
            return Err(HeaderError::NotTcp { field, value }.into());
        }
        if self.late_polls == 0 {
            return self.transport.deliver(header, payload_bytes);
        }
        let entry = (header.to_vec(), payload_bytes, self.late_polls);
        self.late.push_back(entry);
        Ok(())
    }

    fn deliver_frame(&mut self, frame: &[u8]) -> Result<()> {
        if take(&self.frames) {
            let (bytes, limit) = (frame.len(), 1);
            return Err(TransportError::FrameTooLong { bytes, limit });
        }
        self.transport.deliver_frame(frame)
    }

    fn poll_header(&mut self) -> Result<Option<TransmitHeader>> {
        self.transport.poll_header()
    }

    fn connect(&mut self, remote: SocketAddr, local: Option<SocketAddr>) -> Result<StreamId> {
        self.transport.connect(remote, local)
    }

    fn listen(&mut self, local: SocketAddr) -> Result<ListenerId> {
        self.transport.listen(local)
    }

    fn listener_address(&self, listener: ListenerId) -> Result<SocketAddr> {
        self.transport.listener_address(listener)
    }

    fn accept(&mut self, listener: ListenerId) -> Result<Option<StreamId>> {
        self.transport.accept(listener)
    }

    fn close_listener(&mut self, listener: ListenerId) -> Result<()> {
        self.transport.close_listener(listener)
    }

    fn feed(&mut self, stream: StreamId, bytes: u64) -> Result<u64> {
        self.transport.feed(stream, bytes)
    }

    fn drain(&mut self, stream: StreamId, bytes_max: u64) -> Result<Drained> {
        self.transport.drain(stream, bytes_max)
    }

    fn finish(&mut self, stream: StreamId) -> Result<()> {
        self.transport.finish(stream)
    }

    fn close(&mut self, stream: StreamId) -> Result<()> {
        self.transport.close(stream)
    }

    fn abort(&mut self, stream: StreamId) -> Result<()> {
        self.transport.abort(stream)
    }

    fn status(&mut self, stream: StreamId) -> Result<StreamStatus> {
        self.transport.status(stream)
    }

    fn info(&mut self, stream: StreamId) -> Result<StreamInfo> {
        self.transport.info(stream)
    }

    fn addresses(&self, stream: StreamId) -> Result<(SocketAddr, SocketAddr)> {
        self.transport.addresses(stream)
    }

    fn poll_event(&mut self) -> Result<Option<Event>> {
        if let Some(event) = self.transport.poll_event()? {
            return Ok(Some(event));
        }
        self.late.iter_mut().for_each(|(_, _, left)| *left -= 1);
        while self.late.front().is_some_and(|(_, _, left)| *left == 0) {
            if let Some((header, bytes, _)) = self.late.pop_front() {
                self.transport.deliver(&header, bytes)?;
            }
        }
        // What follows from them is found by the next poll.
        Ok(None)
    }

    fn readiness(&self) -> Option<BorrowedFd<'_>> {
        self.transport.readiness()
    }

    fn takes_old_acks(&self) -> bool {
        self.transport.takes_old_acks()
    }

    fn next_timer(&mut self) -> NextTimer {
        self.transport.next_timer()
    }

    fn counters(&self) -> TransportCounters {
        self.transport.counters()
    }
}

const BYTES: usize = 10_000;
const SEED: u64 = 5;

/// A peer that sends, and our side that has connected and posted memory for [`BYTES`].
fn receiving(
    (headers, frames): (Arc<AtomicUsize>, Arc<AtomicUsize>),
    late_polls: u32,
    send_bytes: usize,
) -> (GoldenRig, ApplicationMapping) {
    let card = GoldenCard::late(SMALL, seed::seed());
    let bus = GoldenBus::new(card.clone());
    let mut rig: GoldenRig = Rig::over(bus, card, DeviceConfig::with_seed(1), |transport| {
        Box::new(Refusing { transport, headers, frames, late_polls, late: VecDeque::new() })
    });
    let script = Script { send_bytes: send_bytes as u64, seed: SEED, receive_bytes_max: None };
    rig.machine.peer.listen(peer_address(5001), script).unwrap();
    let first = ApplicationId::FIRST;
    let id = rig.machine.host.connect(first, peer_address(5001)).unwrap();
    let kind = MemoryKind::Application;
    let region = rig.machine.host.register(first, kind, BYTES).unwrap();
    let memory = rig.machine.host.map(region).unwrap();
    let recv = rig.machine.host.recv(id, region.span(0, BYTES as u32), 1);
    recv.unwrap();
    (rig, memory)
}

/// All bytes came, and nothing failed.
fn assert_received(rig: &GoldenRig, memory: &ApplicationMapping) {
    let (mut now, mut expected) = (vec![0; BYTES], vec![0; BYTES]);
    memory.read(0, &mut now);
    RandomBytes::new(SEED).fill(&mut expected);
    assert!(now == expected, "other bytes");
    let failed = |c: &Completion| matches!(c, Completion::Failed { .. });
    assert!(!rig.completions.iter().any(failed), "{:?}", rig.completions);
}

#[test]
fn packet_refused_by_transport_ends_nothing() {
    let [headers, frames] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
    let counts = [headers.clone(), frames.clone()];
    let (mut rig, memory) = receiving((headers, frames), 0, BYTES);
    // The first answer to our question for the peer's link address, and the first packet.
    counts.iter().for_each(|c| c.store(1, Ordering::Relaxed));
    rig.completion(|c| matches!(c, Completion::Received { request: 1, .. }));
    assert_eq!(rig.machine.host.counters().refused_headers, 2);
    assert_received(&rig, &memory);
}

#[test]
fn connection_continues_after_header_is_processed() {
    let (mut rig, memory) = receiving(Default::default(), 3, BYTES);
    rig.completion(|c| matches!(c, Completion::Received { request: 1, .. }));
    assert_received(&rig, &memory);
    rig.completion(|c| matches!(c, Completion::EndOfStream(_)));
}

/// Nothing but an event says that a reset has had its effect: no header answers it.
#[test]
fn reset_processed_later_fails_connection() {
    let (mut rig, _memory) = receiving(Default::default(), 3, 10 * BYTES);
    rig.completion(|c| matches!(c, Completion::Received { request: 1, .. }));
    // What is under way would move the numbers.
    rig.steps(100);
    let (sequence, acknowledgement, ports) = rig.peer_next();
    rig.cut = true;
    rig.forge(ports, (sequence, acknowledgement), RST | ACK, &[]);
    rig.completion(|c| matches!(c, Completion::Failed { reason, .. } if reason.errno() == 104));
}
