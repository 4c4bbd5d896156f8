//! An application connects, sends and receives, on a card that is a model.
//!
//! ```text
//!   application ─ Provider ─ TcpProtocol ─ GoldenBus ─ golden card ── frames ── smoltcp
//!       └── memory ◄── payload ─────────────────────────────┘
//! ```
//! With another [`Bus`](host::driver::bus::Bus) the same calls drive a card in a slot.

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use abi::config::SMALL;
use host::clock::{Clock, ManualClock};
use host::driver::bus::MemoryKind;
use host::driver::device::DeviceConfig;
use host::provider::{ApplicationId, Completion, Provider};
use host::tcp::TcpProtocol;
use host::transport::peer::{digest_of, RandomBytes, Script, SmoltcpPeer, WirePeer};
use host::transport::{LinkConfig, Tuning};
use lab::frame::Frame;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::network_side::NetworkSide;
use tcp::{Config, Secret};

const BYTES: u32 = 32 << 10;
/// Requests, as the application names them.
const SEND: u64 = 1;
const RECEIVE: u64 = 2;
const SEEDS: [u64; 2] = [1, 2];
const ROUNDS_MAX: u32 = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let (clock, mut card) = (ManualClock::default(), GoldenCard::new(SMALL));
    let link = |host| LinkConfig::lab(host, 1500, Tuning::SIMULATION);
    let tcp = TcpProtocol::new(&link(1), Config::private_wire(), Secret([1; 32]));
    let bus = GoldenBus::new(card.clone());
    let mut provider = Provider::open(bus, tcp, DeviceConfig::with_seed(1))?;
    provider.set_clock(Clock::Manual(clock.clone()));
    let remote: SocketAddr = "10.77.0.2:5001".parse()?;
    let mut peer = SmoltcpPeer::open(&link(2), Clock::Manual(clock.clone()))?;
    let script = Script { send_bytes: BYTES.into(), seed: SEEDS[1], ..Script::default() };
    peer.listen(remote, script)?;

    // The application: memory that the card reaches, what it sends in the first half of it.
    let owner = ApplicationId::FIRST;
    let region = provider.register(owner, MemoryKind::Application, 2 * BYTES as usize)?;
    let mut memory = provider.map(region)?;
    let mut bytes = vec![0; BYTES as usize];
    RandomBytes::new(SEEDS[0]).fill(&mut bytes);
    memory.write(0, &bytes);
    let connection = provider.connect(owner, remote)?;
    provider.send(connection, region.span(0, BYTES), SEND)?;
    provider.finish(connection)?;
    provider.recv(connection, region.span(BYTES.into(), BYTES), RECEIVE)?;

    let mut is_whole = [false; 2];
    for _ in 0..ROUNDS_MAX {
        provider.poll()?;
        while let Some(completion) = provider.next_completion() {
            println!("{:>7} us  {completion:?}", clock.now_ns() / 1_000);
            match completion {
                Completion::Sent { request: SEND, .. } => is_whole[0] = true,
                Completion::Received { request: RECEIVE, bytes: BYTES, .. } => is_whole[1] = true,
                Completion::Failed { reason, .. } => return Err(reason.to_string().into()),
                _ => {}
            }
        }
        carry(&mut card, &mut peer)?;
        clock.advance(Duration::from_micros(10));
        if is_whole == [true; 2] {
            break;
        }
    }
    memory.read(BYTES as usize, &mut bytes);
    let mut expected = vec![0; BYTES as usize];
    RandomBytes::new(SEEDS[1]).fill(&mut expected);
    let conversations = peer.conversations();
    let taken = conversations.last().ok_or("the peer has no connection")?;
    println!("{} bytes at the peer, {} here", taken.received_bytes, bytes.len());
    let is_right = taken.received_digest == digest_of(SEEDS[0], BYTES.into());
    if is_whole != [true; 2] || bytes != expected || !is_right {
        return Err(format!("sent and received whole: {is_whole:?}; or wrong bytes").into());
    }
    for (name, count) in provider.device().counters()? {
        if count > 0 {
            println!("{name:>20} {count}");
        }
    }
    provider.shut_down()?;
    Ok(())
}

/// A wire without faults: all frames of both ends, padded to what Ethernet asks for.
fn carry(card: &mut impl NetworkSide, peer: &mut dyn WirePeer) -> Result<(), Box<dyn Error>> {
    let mut sent = Vec::new();
    card.take_sent(&mut sent);
    for frame in sent {
        peer.inject_frame(&frame.bytes)?;
    }
    let mut buffer = vec![0; 65_600];
    while let Some(length) = peer.poll_frame(&mut buffer)? {
        let mut bytes = buffer[..length].to_vec();
        bytes.resize(length.max(60), 0);
        card.receive(Frame { bytes, ..Frame::default() });
    }
    Ok(())
}
