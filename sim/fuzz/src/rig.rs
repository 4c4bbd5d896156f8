//! A provider on the golden card, smoltcp at both ends, and one connection.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use abi::config::SMALL;
use host::clock::{Clock, ManualClock};
use host::driver::bus::{Bus, MemoryKind};
use host::driver::device::DeviceConfig;
use host::error::Result;
use host::observed::Observed;
use host::provider::{ApplicationId, Completion, ConnectionId, Provider, RegionId};
use host::transport::peer::{Script, SmoltcpPeer, WirePeer};
use host::transport::{LinkConfig, SmoltcpTransport, Tuning};
use lab::frame::Frame;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::network_side::NetworkSide;

/// Time of the two TCPs in a round.
const ROUND: Duration = Duration::from_micros(500);
/// Rounds within which a connection opens.
const ROUNDS_MAX: usize = 200;
/// Port of the peer.
pub const PORT: u16 = 5001;
/// Bytes of the region.
pub const REGION_BYTES: usize = 64 << 10;

const TUNING: Tuning = Tuning { receive_buffer_bytes: 60_000, ..Tuning::REAL_TIME };

/// The rig. See the head of this file.
pub struct Rig<B: Bus> {
    /// The provider under test.
    pub provider: Provider<B, Observed<SmoltcpTransport>>,
    card: Rc<RefCell<GoldenCard>>,
    peer: SmoltcpPeer,
    clock: ManualClock,
    /// The open connection.
    pub connection: ConnectionId,
    /// A region of the first application.
    pub region: RegionId,
    /// The last frame of the connection that our side has sent.
    pub sent: Vec<u8>,
}

impl<B: Bus> Rig<B> {
    /// A rig with an open connection, on the bus that `wrap` makes.
    ///
    /// # Panics
    /// If it cannot be set up: then the fuzzer has nothing to do.
    pub fn new(wrap: impl FnOnce(GoldenBus) -> B) -> Self {
        let card = GoldenCard::new(SMALL);
        let clock = ManualClock::default();
        let link = |number| LinkConfig::lab(number, 1500, TUNING);
        let manual = || Clock::Manual(clock.clone());
        let transport = SmoltcpTransport::open(&link(1), manual()).expect("a transport");
        let mut peer = SmoltcpPeer::open(&link(2), manual()).expect("a peer");
        let remote = ([10, 77, 0, 2], PORT).into();
        let script = Script { send_bytes: 100_000, ..Script::default() };
        peer.listen(remote, script).expect("a port");
        let bus = wrap(GoldenBus::new(card.clone()));
        let provider = Provider::open(bus, Observed::new(transport), DeviceConfig::with_seed(1));
        let mut provider = provider.expect("a provider");
        let first = ApplicationId::FIRST;
        let region = provider.register(first, MemoryKind::Application, REGION_BYTES);
        let region = region.expect("a region");
        let connection = provider.connect(first, remote).expect("a connection");
        let mut rig = Rig { provider, card, peer, clock, connection, region, sent: Vec::new() };
        let opened = (0..ROUNDS_MAX).any(|_| {
            let completions = rig.step(true).expect("it polls");
            completions.contains(&Completion::Opened(connection))
        });
        assert!(opened, "no connection");
        rig
    }

    /// Polls the provider; `wire` carries the frames of both sides.
    pub fn step(&mut self, wire: bool) -> Result<Vec<Completion>> {
        self.provider.poll()?;
        let completions = std::iter::from_fn(|| self.provider.next_completion()).collect();
        let mut sent = Vec::new();
        self.card.take_sent(&mut sent);
        for frame in sent {
            if wire {
                self.peer.inject_frame(&frame.bytes).expect("the peer takes frames");
            }
            if frame.bytes[12..14] == [8, 0] {
                self.sent = frame.bytes;
            }
        }
        let mut buffer = vec![0; 2000];
        while let Some(bytes) = self.peer.poll_frame(&mut buffer).expect("a frame") {
            let mut frame = Frame { bytes: buffer[..bytes].to_vec(), ..Frame::default() };
            frame.bytes.resize(bytes.max(60), 0);
            if wire {
                self.card.receive(frame);
            }
        }
        self.clock.advance(ROUND);
        Ok(completions)
    }
}
