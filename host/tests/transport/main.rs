//! A transport that sees headers only, against a peer that sees every byte.
//!
//! ```text
//!   feed/drain -> transport -> headers -> perfect card -> frames -> wire with faults -> peer
//!                                            |  ^
//!                                            v  |
//!                                 application memory, by sequence number
//! ```
//!
//! Proven: every byte arrives once and in order in both directions, over both IP versions, for
//! every pair of transport and peer; also with faults on the wire, between two kernels and between
//! two smoltcps; and a transport behind a TAP device does not read the payload.

mod card;
mod kernel_scripts;
mod rig;
mod runs;
mod streams;
mod wire;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use host::clock::{Clock, ManualClock};
use host::headers::layout::HEADER_BYTES_MAX;
use host::transport::patience::Patience;
use host::transport::peer::{KernelPeer, Progress, RandomBytes, Script, SmoltcpPeer, WirePeer};
use host::transport::{
    FrameKind, LinkConfig, LinuxTransport, NextTimer, SmoltcpTransport, StreamId, StreamState,
    Transport, TransportError, Tuning,
};
use skip::{skip, skip_if_refused, Need};

use rig::{address, Rig};
use seed::seed_or;
use wire::Faults;

const MIB: u64 = 1 << 20;
/// The header of virtio-net before each frame.
const VIRTIO_HEADER_BYTES: usize = 10;
/// Wires that are drawn from one seed.
const WIRES: u64 = 40;
const US: u8 = 1;
const PEER: u8 = 2;

fn linux(mtu: u16, tuning: Tuning) -> Option<Box<dyn Transport>> {
    let transport = skip_if_refused(
        LinuxTransport::open(&LinkConfig::lab(US, mtu, tuning)),
        TransportError::is_refusal,
    )?;
    for (name, error) in transport.refused_settings() {
        println!("setting refused: {name}: {error}");
    }
    Some(Box::new(transport))
}

/// The transport of choice runs wherever the tests do, and through its box.
#[test]
fn chosen_transport_sends_first_header() {
    let clock = Clock::Wall { divisor: 1 };
    let (mut transport, refusal) =
        host::transport::open(&LinkConfig::lab(US, 1500, Tuning::REAL_TIME), clock).unwrap();
    assert_eq!(transport.readiness().is_none(), refusal.is_some());
    if let Some(refusal) = refusal {
        skip(Need::Namespaces, refusal);
    }
    while transport.poll_header().unwrap().is_some() {}
    let stream = transport.connect(address(PEER, false, 5001), None).unwrap();
    let mut patience = Patience::new(());
    let header = loop {
        if let Some(header) = Transport::poll_header(&mut transport).unwrap() {
            break header;
        }
        assert!(!patience.is_over(()), "no neighbour is sought");
    };
    assert_eq!(header.kind, FrameKind::Whole);
    Transport::abort(&mut transport, stream).unwrap();
}

fn kernel_peer(mtu: u16, tuning: Tuning) -> Option<Box<dyn WirePeer>> {
    Some(Box::new(skip_if_refused(
        KernelPeer::open(&LinkConfig::lab(PEER, mtu, tuning)),
        TransportError::is_refusal,
    )?))
}

/// Our side connects to a peer that follows a script.
fn connect(rig: &mut Rig, ipv6: bool, script: Script) -> StreamId {
    let remote = address(PEER, ipv6, 5001);
    rig.peer.listen(remote, script).unwrap();
    rig.transport.connect(remote, None).unwrap()
}

/// The same, over IPv4; waits until both ends have the connection.
fn establish(rig: &mut Rig, script: Script) -> StreamId {
    let stream = connect(rig, false, script);
    rig.run_until(|rig| rig.transport.status(stream).unwrap().state == StreamState::Open);
    rig.run_until(|rig| !rig.peer.conversations().is_empty());
    stream
}

/// Our side connects, and both send `bytes`.
fn exchange(rig: &mut Rig, ipv6: bool, bytes: u64, seed: u64) {
    let script = Script { send_bytes: bytes, seed: seed ^ 4, ..Script::default() };
    let stream = connect(rig, ipv6, script);
    rig.converse(stream, (seed ^ 3, bytes), (seed ^ 4, bytes));
    rig.run();
}

/// The least timeout that a link is tuned to is the kernel's, on our side.
#[test]
fn kernel_waits_as_tuned_for_link() {
    const LEAST: Duration = Duration::from_millis(700);
    let seed = seed_or(0x5eed_0011);
    let tuning = Tuning { retransmission_timeout_min: LEAST, ..Tuning::REAL_TIME };
    let (Some(transport), Some(peer)) = (linux(1500, tuning), kernel_peer(1500, tuning)) else {
        return;
    };
    let mut rig = Rig::new(transport, peer, Faults::NONE, seed);
    exchange(&mut rig, false, 100_000, seed);
    report(&rig);
    let info = rig.info.last().expect("a stream");
    // A timeout is the least one and a few round trips (RFC 6298, 2).
    let (timeout, trips) = (info.retransmission_timeout, 10 * info.round_trip);
    assert!((LEAST..LEAST + trips + LEAST).contains(&timeout), "{info:?}");
}

/// Losses in a row double its timeout up to the longest one.
#[test]
fn kernel_never_waits_beyond_link_tuning() {
    const LONGEST: Duration = Duration::from_secs(1);
    let tuning = Tuning { retransmission_timeout_max: LONGEST, ..Tuning::REAL_TIME };
    let transport = skip_if_refused(
        LinuxTransport::open(&LinkConfig::lab(US, 1500, tuning)),
        TransportError::is_refusal,
    );
    let (Some(transport), Some(peer)) = (transport, kernel_peer(1500, tuning)) else { return };
    let mut refused = transport.refused_settings().iter();
    if let Some((name, error)) = refused.find(|(name, _)| name.ends_with("tcp_rto_max_ms")) {
        // Linux before 6.15.
        println!("setting refused: {name}: {error}");
        return;
    }
    let mut rig = Rig::new(Box::new(transport), peer, Faults::NONE, 1);
    let stream = establish(&mut rig, Script::default());
    rig.to_peer = wire::Wire::new(Faults::ALL_LOST, 1);
    rig.converse(stream, (1, 1000), (2, 0));
    let mut longest = Duration::ZERO;
    rig.run_until(|rig| {
        let info = rig.transport.info(stream).unwrap();
        longest = longest.max(info.retransmission_timeout);
        info.timeouts >= 5
    });
    // Doubled five times, the least one would be 6.4 s.
    assert!((LONGEST / 2..=LONGEST).contains(&longest), "{longest:?}");
}

/// A stream that was closed goes on with what it has still to send, though its timeouts have become
/// as long as they may: nobody would learn that it gave up.
#[test]
fn kernel_keeps_what_was_closed() {
    // Timeouts of 0.2, 0.4, 0.8, 1 and 1 s.
    const LOST_FOR: Duration = Duration::from_secs(4);
    let tuning = Tuning { retransmission_timeout_max: Duration::from_secs(1), ..Tuning::REAL_TIME };
    let (Some(transport), Some(peer)) = (linux(1500, tuning), kernel_peer(1500, tuning)) else {
        return;
    };
    let mut rig = Rig::new(transport, peer, Faults::NONE, 1);
    let script = Script { send_bytes: 1000, seed: 2, ..Script::default() };
    let stream = establish(&mut rig, script);
    rig.to_card = wire::Wire::new(Faults::ALL_LOST, 1);
    rig.converse(stream, (1, 1000), (2, 1000));
    // It has all that we send, and closes.
    rig.run_until(|rig| {
        let conversations = rig.peer.conversations();
        conversations.iter().any(|one| one.progress == Progress::Finished)
    });
    let closed = Instant::now();
    rig.run_until(|_| closed.elapsed() > LOST_FOR);
    rig.to_card = wire::Wire::new(Faults::NONE, 1);
    rig.run();
}

fn report(rig: &Rig) {
    let counters = rig.transport.counters();
    println!("{counters:?}\n{:?}", rig.info);
    println!("frames to peer {}, lost {}", rig.to_peer.frames, rig.to_peer.lost);
    println!("frames to card {}, lost {}", rig.to_card.frames, rig.to_card.lost);
    if let Some(clock) = &rig.clock {
        println!("time of the stacks: {:?}", Duration::from_nanos(clock.now_ns()));
    }
}

fn linux_with_kernel(ipv6: bool, mtu: u16, faults: Faults, bytes: u64) {
    let seed = seed_or(0x5eed_0001);
    let tuning = Tuning::REAL_TIME;
    let (Some(transport), Some(peer)) = (linux(mtu, tuning), kernel_peer(mtu, tuning)) else {
        return;
    };
    let mut rig = Rig::new(transport, peer, faults, seed);
    exchange(&mut rig, ipv6, bytes, seed);
    report(&rig);
    let counters = rig.transport.counters();
    assert!(counters.transmit_payload_bytes >= bytes);
    assert_eq!(counters.oversize_frames, 0);
    // What is read is headers of both directions: of segments, and of acknowledgements.
    let payload = counters.transmit_payload_bytes + counters.receive_payload_bytes;
    println!(
        "read {} of {payload} payload bytes in {} headers, the longest of {}",
        counters.transmit_read_bytes, counters.transmit_headers, rig.longest_payload
    );
    // A read ends with the longest header that there is, whatever follows it.
    let read_max = counters.transmit_headers * (VIRTIO_HEADER_BYTES + HEADER_BYTES_MAX) as u64;
    assert!(counters.transmit_read_bytes <= read_max, "payload was read");
    // How many segments share a header follows from the pace, and with it from this machine: two
    // at least wherever so many wait (`tcp_min_tso_segs`).
    let shared = rig.longest_payload > u32::from(mtu);
    assert!(shared, "each segment had a header of its own");
}

#[test]
fn linux_exchanges_bytes_over_ipv4() {
    linux_with_kernel(false, 1500, Faults::NONE, 4 * MIB);
}

#[test]
fn linux_exchanges_ipv6_in_jumbo_frames() {
    linux_with_kernel(true, 9000, Faults::NONE, 4 * MIB);
}

#[test]
fn linux_recovers_from_faults_over_ipv4() {
    linux_with_kernel(false, 1500, Faults::ONE_PERCENT, 4 * MIB);
}

#[test]
fn linux_recovers_from_faults_over_ipv6() {
    linux_with_kernel(true, 1500, Faults::ONE_PERCENT, 4 * MIB);
}

/// Buffers that leave room for the bandwidth of a test, and not more: smoltcp allocates them.
fn small_buffers() -> Tuning {
    Tuning { receive_buffer_bytes: 256 << 10, send_buffer_bytes: 256 << 10, ..Tuning::REAL_TIME }
}

/// Both ends in this process by a clock of their own: the same run each time.
fn smoltcps(mtu: u16, tuning: Tuning, faults: Faults, seed: u64) -> Rig {
    let clock = ManualClock::default();
    let by = || Clock::Manual(clock.clone());
    let transport = SmoltcpTransport::open(&LinkConfig::lab(US, mtu, tuning), by()).unwrap();
    let peer = SmoltcpPeer::open(&LinkConfig::lab(PEER, mtu, tuning), by()).unwrap();
    let mut rig = Rig::new(Box::new(transport), Box::new(peer), faults, seed);
    rig.clock = Some(clock);
    rig
}

fn smoltcp_with_smoltcp(ipv6: bool, mtu: u16, faults: Faults, bytes: u64) {
    smoltcp_from_seed(ipv6, mtu, faults, bytes, seed_or(0x5eed_0002));
}

fn smoltcp_from_seed(ipv6: bool, mtu: u16, faults: Faults, bytes: u64, seed: u64) {
    let mut rig = smoltcps(mtu, small_buffers(), faults, seed);
    exchange(&mut rig, ipv6, bytes, seed);
    report(&rig);
}

#[test]
fn smoltcp_exchanges_every_byte_over_ipv4() {
    smoltcp_with_smoltcp(false, 1500, Faults::NONE, 4 * MIB);
}

#[test]
fn smoltcp_exchanges_ipv6_in_jumbo_frames() {
    smoltcp_with_smoltcp(true, 9000, Faults::NONE, 4 * MIB);
}

#[test]
fn smoltcp_recovers_from_faults_over_ipv4() {
    smoltcp_with_smoltcp(false, 1500, Faults::ONE_PERCENT, 4 * MIB);
}

#[test]
fn smoltcp_recovers_from_faults_over_ipv6() {
    smoltcp_with_smoltcp(true, 1500, Faults::ONE_PERCENT, 4 * MIB);
}

/// Each end takes the other's retransmissions for duplicates; see `smol/duplicates.rs`.
#[test]
fn smoltcp_recovers_when_both_ends_time_out() {
    for seed in [1, 13, 20, 29, 40] {
        for ipv6 in [false, true] {
            smoltcp_from_seed(ipv6, 1500, Faults::ONE_PERCENT, 4 * MIB, seed);
        }
    }
}

/// Whatever a wire does to frames, up to a tenth of them each, and however the frames of the two
/// ends cross: both come to know what has arrived.
#[test]
fn smoltcp_recovers_on_any_wire() {
    let first = seed_or(0x5eed_0005);
    for seed in (0..WIRES).map(|wire| first.wrapping_add(wire)) {
        let mut drawn = [0; 6];
        RandomBytes::new(seed).fill(&mut drawn);
        let [loss, duplicate, reorder, mtu, ipv6, delay] = drawn;
        let faults = Faults {
            loss: u64::from(loss) * 100 / 255,
            duplicate: u64::from(duplicate) * 100 / 255,
            reorder: u64::from(reorder) * 100 / 255,
            ..Faults::NONE
        };
        let mtu = [576, 1280, 1500, 9000][usize::from(mtu % 4)];
        let ipv6 = ipv6 % 2 == 1 && mtu >= 1280;
        let tuning = Tuning {
            acknowledgement_delay: Duration::from_millis(u64::from(delay % 2) * 10),
            ..small_buffers()
        };
        println!("wire of seed {seed}: {faults:?}, MTU {mtu}, IPv6 {ipv6}, {tuning:?}");
        let mut rig = smoltcps(mtu, tuning, faults, seed);
        rig.uneven = Some(RandomBytes::new(seed ^ 5));
        exchange(&mut rig, ipv6, MIB / 2, seed);
        report(&rig);
    }
}

/// A run follows from its seed: with a clock of its own nothing else is random.
#[test]
fn smoltcp_retransmits_by_own_clock() {
    let first_sequence = |host| {
        let clock = ManualClock::default();
        let by = || Clock::Manual(clock.clone());
        let link = |host| LinkConfig::lab(host, 1500, small_buffers());
        let mut transport = SmoltcpTransport::open(&link(host), by()).unwrap();
        let peer = SmoltcpPeer::open(&link(PEER), by()).unwrap();
        transport.connect(address(PEER, false, 5001), None).unwrap();
        let mut rig = Rig::new(Box::new(transport), Box::new(peer), Faults::NONE, 1);
        rig.clock = Some(clock);
        rig.run_until(|rig| rig.card.first_sequence().is_some());
        rig.card.first_sequence()
    };
    assert_eq!(first_sequence(US), first_sequence(US));
    assert_ne!(first_sequence(US), first_sequence(PEER + 1));
}

/// Whoever drives its clock may go from timer to timer; each repeats what had no answer.
#[test]
fn smoltcp_says_when_it_acts_next() {
    let clock = ManualClock::default();
    let by = Clock::Manual(clock.clone());
    let link = LinkConfig::lab(US, 1500, small_buffers());
    let mut transport = SmoltcpTransport::open(&link, by).unwrap();
    assert_eq!(transport.next_timer(), NextTimer::Never);
    transport.connect(address(PEER, false, 5001), None).unwrap();
    for _ in 0..3 {
        assert!(transport.poll_header().unwrap().is_some());
        assert!(transport.poll_header().unwrap().is_none());
        let NextTimer::At(at_ns) = transport.next_timer() else {
            panic!("no timer, but an unanswered request");
        };
        assert!(at_ns > clock.now_ns(), "{at_ns} ns");
        clock.advance(Duration::from_nanos(at_ns - clock.now_ns()));
    }
    let by_wall = SmoltcpTransport::open(&link, Clock::Wall { divisor: 1 });
    assert_eq!(by_wall.unwrap().next_timer(), NextTimer::WallClock);
}

#[test]
fn smoltcp_talks_to_the_kernel() {
    let seed = seed_or(0x5eed_0003);
    let Some(peer) = kernel_peer(1500, Tuning::REAL_TIME) else { return };
    let clock = Clock::Wall { divisor: 1 };
    let transport =
        SmoltcpTransport::open(&LinkConfig::lab(US, 1500, small_buffers()), clock).unwrap();
    let mut rig = Rig::new(Box::new(transport), peer, Faults::NONE, seed);
    exchange(&mut rig, false, MIB, seed);
}

#[test]
fn linux_talks_to_smoltcp() {
    let seed = seed_or(0x5eed_0004);
    let Some(transport) = linux(1500, Tuning::REAL_TIME) else { return };
    let clock = Clock::Wall { divisor: 1 };
    let peer = SmoltcpPeer::open(&LinkConfig::lab(PEER, 1500, small_buffers()), clock).unwrap();
    let mut rig = Rig::new(transport, Box::new(peer), Faults::NONE, seed);
    exchange(&mut rig, true, MIB, seed);
}

/// Neither the handshake nor the data is sent twice, though the wire takes a third of a
/// millisecond for each packet (a card of 100 Gb/s that is simulated 2,500 times too slow) and
/// the answer comes a tenth of a second later: queues and timers fit together.
#[test]
fn slow_wire_causes_no_retransmission() {
    let frame_time = Duration::from_micros(300);
    sends_nothing_twice(Tuning::SIMULATION, frame_time, MIB);
}

/// Nor where the card records waveforms: 60,000 times too slow, so that a first window takes
/// a second.
#[test]
fn traced_wire_causes_no_retransmission() {
    let frame_time = Duration::from_millis(8);
    sends_nothing_twice(Tuning::TRACED_SIMULATION, frame_time, MIB / 4);
}

fn sends_nothing_twice(tuning: Tuning, frame_time: Duration, bytes: u64) {
    let faults = Faults { delay: Duration::from_millis(50), frame_time, ..Faults::NONE };
    let rig = loop {
        let (Some(transport), Some(peer)) = (linux(1500, tuning), kernel_peer(1500, tuning)) else {
            return;
        };
        let mut rig = Rig::new(transport, peer, faults, 1);
        exchange(&mut rig, false, bytes, 1);
        report(&rig);
        println!("longest pause {:?}", rig.longest_pause);
        // A machine that does not let us run for so long repeats on its own account.
        let is_ours = rig.longest_pause < tuning.retransmission_timeout_min / 2;
        if is_ours || rig.info[0].retransmitted_packets == 0 {
            break rig;
        }
    };
    assert_eq!(rig.info[0].retransmitted_packets, 0);
    assert_eq!(rig.transport.counters().transmit_payload_bytes, bytes);
    assert_eq!(rig.transport.counters().receive_payload_bytes, bytes);
}

/// A connection begins at the address that is asked for, of which a part may be left open; one that
/// the machine does not have, or that is in use, is refused with a number.
fn begins_where_it_is_asked_to(mut transport: Box<dyn Transport>) {
    let remote = address(PEER, false, 5001);
    let anywhere = |port| Some(SocketAddr::from(([0, 0, 0, 0], port)));
    let local = address(US, false, 4321);
    let whole = transport.connect(remote, Some(local)).unwrap();
    assert_eq!(transport.addresses(whole).unwrap(), (local, remote));
    let port_alone = transport.connect(remote, anywhere(4322)).unwrap();
    let [ours, theirs] = <[SocketAddr; 2]>::from(transport.addresses(port_alone).unwrap());
    assert_eq!((ours, theirs), (address(US, false, 4322), remote));
    let address_alone = transport.connect(remote, Some(address(US, false, 0))).unwrap();
    let (chosen, _) = transport.addresses(address_alone).unwrap();
    assert_eq!(chosen.ip(), local.ip());
    assert!(![0, 4321, 4322].contains(&chosen.port()), "{chosen}");
    let mut refused = |local: SocketAddr| transport.connect(remote, Some(local)).unwrap_err();
    assert_eq!(refused(address(77, false, 4323)).errno(), libc::EADDRNOTAVAIL);
    assert_eq!(refused(local).errno(), libc::EADDRINUSE);
    // What was refused holds nothing.
    transport.connect(remote, Some(address(US, false, 4323))).unwrap();
}

#[test]
fn smoltcp_connects_from_requested_local_address() {
    let by = Clock::Manual(ManualClock::default());
    let link = LinkConfig::lab(US, 1500, Tuning::REAL_TIME);
    begins_where_it_is_asked_to(Box::new(SmoltcpTransport::open(&link, by).unwrap()));
}

#[test]
fn linux_connects_from_requested_local_address() {
    if let Some(transport) = linux(1500, Tuning::REAL_TIME) {
        begins_where_it_is_asked_to(transport);
    }
}
