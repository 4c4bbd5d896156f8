//! A card that another thread serves at a socket, under the host that knows nothing of it.
//!
//! ```text
//!   application ─ Provider ─ SocketBus ══ socket, sealed files, events ══ ServedCard ─ frames ─┐
//!                                                                       smoltcp as the peer ◄──┘
//! ```
//! Time is the clock's: runs do not repeat from a seed.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ::tcp::{Config, Secret};
use abi::config::SMALL;
use abi::registers as r;
use host::clock::Clock;
use host::driver::bus::{Bus, MemoryKind};
use host::driver::device::{Device, DeviceConfig};
use host::provider::Provider;
use host::tcp::TcpProtocol;
use host::transport::peer::SmoltcpPeer;
use host::transport::{LinkConfig, Tuning};
use lab::exchange::{Blind, Exchange, Lab};
use lab::frame::Frame;
use lab::network_side::NetworkSide;
use lab::wire::Disturbance;
use served::ServedCard;
use vfio::{OpenError, SocketBus};
use vfio_user::{Client, ClientError};

/// A socket of its own for each card.
fn socket() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    // A path of a socket is short, which that of the target folder need not be.
    std::env::temp_dir().join(format!("zeronic-{}-{number}.sock", std::process::id()))
}

/// A card in a thread, and its wire.
struct Other {
    socket: PathBuf,
    to_card: Sender<Frame>,
    from_card: Receiver<Vec<u8>>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    started: Instant,
    frames: u64,
}

impl Other {
    fn start() -> Self {
        let socket = socket();
        let mut card = ServedCard::bind(&socket, SMALL).expect("a socket");
        let (to_card, frames) = channel::<Frame>();
        let (sent, from_card) = channel();
        let ends = Arc::new(AtomicBool::new(false));
        let until = ends.clone();
        let thread = std::thread::spawn(move || {
            while !until.load(Ordering::Relaxed) {
                card.serve().expect("it serves");
                for frame in frames.try_iter() {
                    card.receive(&frame.bytes, frame.is_bad);
                }
                for frame in card.take_sent() {
                    let _ = sent.send(frame);
                }
                std::thread::yield_now();
            }
        });
        let started = Instant::now();
        let thread = Some(thread);
        Self { socket, to_card, from_card, ends, thread, started, frames: 0 }
    }

    /// The card's process ends.
    fn end(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("it ends");
        }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
    }
}

impl NetworkSide for Other {
    fn receive(&mut self, frame: Frame) {
        self.frames += 1;
        let _ = self.to_card.send(frame);
    }

    fn take_sent(&mut self, into: &mut Vec<Frame>) {
        let before = into.len();
        into.extend(self.from_card.try_iter().map(|bytes| Frame { bytes, ..Frame::default() }));
        self.frames += (into.len() - before) as u64;
    }

    fn is_quiet(&self) -> bool {
        true
    }

    fn wire_busy_ps(&self) -> u64 {
        0
    }

    fn now_ps(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64 * 1000
    }

    fn traffic(&self) -> Option<u64> {
        Some(self.frames)
    }
}

type Host = Provider<SocketBus, TcpProtocol>;

fn host(other: &Other) -> Host {
    let link = LinkConfig::lab(1, 1500, Tuning::REAL_TIME);
    let protocol = TcpProtocol::new(&link, Config::private_wire(), Secret([7; 32]));
    let bus = SocketBus::open(&other.socket).expect("a card");
    Provider::open(bus, protocol, DeviceConfig::with_seed(1)).expect("it opens")
}

/// Moves bytes both ways; all of them are right.
fn exchange(other: &mut Other, provider: &mut Host, seed: u64) {
    let link = LinkConfig::lab(2, 1500, Tuning::REAL_TIME);
    let mut peer = SmoltcpPeer::open(&link, Clock::Wall { divisor: 1 }).expect("a peer");
    let mut lab = Lab { provider, card: other, peer: &mut peer, clock: None };
    let remote: SocketAddr = "10.77.0.2:5001".parse().expect("an address");
    let bytes = 300_000;
    let disturbance = Disturbance::default();
    let plan = Exchange { bytes, seed, disturbance, memory: MemoryKind::Application };
    let outcome = lab.run(remote, &plan, &mut Blind).expect("it runs");
    assert_eq!(outcome.received, (bytes, outcome.received_expected));
    assert_eq!(outcome.sent, (bytes, outcome.sent_expected));
}

#[test]
fn host_moves_bytes_through_socket_card() {
    let mut other = Other::start();
    let mut provider = host(&other);
    exchange(&mut other, &mut provider, 1);
    provider.shut_down().expect("it closes");
    // The next one finds an empty card.
    let mut provider = host(&other);
    exchange(&mut other, &mut provider, 2);
}

#[test]
fn abruptly_ended_client_leaves_fresh_card() {
    let other = Other::start();
    let epoch = {
        let mut device = open(&other);
        let epoch = device.bus().read_register(r::EPOCH).expect("a register");
        // As one that is killed: nothing is closed, the socket goes.
        let bus = SocketBus::open(&other.socket).err().expect("the card is taken");
        assert!(matches!(bus, OpenError::Client(ClientError::Busy(_))), "{bus}");
        drop(device);
        epoch
    };
    let mut bus = loop {
        match SocketBus::open(&other.socket) {
            Ok(bus) => break bus,
            Err(OpenError::Client(ClientError::Busy(_))) => std::thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(bus.read_register(r::ID).expect("a register"), r::ID_VALUE);
    assert_ne!(bus.read_register(r::EPOCH).expect("a register"), epoch);
    assert_eq!(bus.read_register(r::CONTROL).expect("a register"), 0);
}

fn open(other: &Other) -> Device<SocketBus> {
    let bus = SocketBus::open(&other.socket).expect("a card");
    Device::open(bus, DeviceConfig::with_seed(1)).expect("it opens")
}

#[test]
fn host_notices_lost_card_within_second() {
    let mut other = Other::start();
    let mut provider = host(&other);
    provider.poll().expect("it polls");
    other.end();
    let gone = Instant::now();
    let error = loop {
        match provider.poll() {
            Ok(_) => assert!(gone.elapsed() < Duration::from_secs(1), "nobody notices"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("has gone"), "{error}");
}

#[test]
fn interrupt_ends_hosts_sleep() {
    let mut other = Other::start();
    let mut provider = host(&other);
    while provider.poll().expect("it polls") {}
    let started = Instant::now();
    let to_card = other.to_card.clone();
    let waker = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        // Nobody's frame: its header is delivered all the same.
        let _ = to_card.send(Frame { bytes: vec![0xff; 64], ..Frame::default() });
    });
    let mut is_woken = false;
    while !is_woken && started.elapsed() < Duration::from_secs(5) {
        is_woken = provider.wait(Duration::from_secs(5)).expect("it waits");
        provider.poll().expect("it polls");
    }
    waker.join().expect("it ends");
    assert!(is_woken && started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    other.end();
}

#[test]
fn non_card_is_refused_in_one_line() {
    let missing = std::env::temp_dir().join("zeronic-nobody.sock");
    let error = SocketBus::open(&missing).err().expect("nobody").to_string();
    assert!(error.contains("nobody serves") && !error.contains('\n'), "{error}");
    let other = Other::start();
    let mut client = Client::connect(&other.socket).expect("a device");
    // The register file answers whole dwords alone.
    assert!(client.read(0, 2, &mut [0; 2]).is_err());
    let mut word = [0; 4];
    client.read(0, r::ID.into(), &mut word).expect("a register");
    assert_eq!(u32::from_le_bytes(word), r::ID_VALUE);
}
