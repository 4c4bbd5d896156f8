//! Malformed, truncated, giant, damaged and unknown frames.

use abi::config::SMALL;
use abi::reason::{Disposition, DropReason};
use host::driver::bus::MemoryKind;
use host::driver::device::{Device, DeviceConfig};
use host::driver::rings::HeaderEntry;
use host::records::commands::Direction;
use lab::frame::Frame;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::network_side::NetworkSide;
use pcie_sim::PcieConfig;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use sim::card::SimulatedCard;
use sim::direct::{disposition, Direct, Flow, GUARD};
use sim::harness::traffic::{Addresses, Layer4, PacketSpec};
use verilate::options::Options;

use DropReason as D;

/// Random frames of the storm.
const STORM_FRAMES: usize = 1_500;

fn direct() -> Direct {
    let pcie = PcieConfig::default();
    let card = SimulatedCard::new("small", pcie.clone(), Options::default());
    Direct::open(card.expect("it builds"), &pcie, DeviceConfig::with_seed(1))
}

/// Frames without an entry, by reason; all counters but those of stages.
fn counters(all: &[(&'static str, u64)]) -> Vec<(&'static str, u64)> {
    let is_end = |name: &str| Disposition::ALL.iter().any(|d| d.name() == name);
    let is_drop = |name: &str| D::ALL.iter().any(|d| d.name() == name);
    let counts = all.iter().filter(|(name, _)| is_end(name) || is_drop(name));
    counts.copied().collect()
}

/// The golden card's counters after the same frames, without a flow.
fn golden_counters(frames: &[Frame]) -> Vec<(&'static str, u64)> {
    let mut card = GoldenCard::new(SMALL);
    let bus = GoldenBus::new(card.clone());
    let mut device = Device::open(bus, DeviceConfig::with_seed(1)).expect("it opens");
    for frame in frames {
        card.receive(frame.clone());
        let mut entry = HeaderEntry::default();
        while device.next_header(&mut entry).expect("an entry") {}
        device.return_headers().expect("a doorbell");
    }
    counters(&device.counters().expect("counters"))
}

/// A TCP or UDP packet over IPv4 or IPv6 whose bytes a case changes.
fn packet(ipv6: bool, udp: bool, payload_bytes: usize) -> Vec<u8> {
    let addresses = match ipv6 {
        true => Addresses::V6([0x20; 16], [0x21; 16]),
        false => Addresses::V4([10, 0, 0, 9], [10, 0, 0, 1]),
    };
    let layer4 = match udp {
        true => Layer4::Udp { no_checksum: false },
        false => Layer4::Tcp { sequence: 1, acknowledgement: 2, flags: 0x10, options: Vec::new() },
    };
    let spec = PacketSpec {
        tags: Vec::new(),
        addresses,
        ip_options: Vec::new(),
        ports: (1234, 80),
        layer4,
        payload: vec![0x3c; payload_bytes],
    };
    spec.frame(0)
}

/// A frame with some bytes changed and the IPv4 header checksum corrected.
fn change_bytes(frame: &[u8], changes: &[(usize, u8)]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    for &(at, value) in changes {
        frame[at] = value;
    }
    let is_ipv4 = frame[12..14] == [8, 0];
    let header_bytes = usize::from(frame[14] & 15) * 4;
    if is_ipv4 && changes.iter().any(|(at, _)| *at < 34) && header_bytes >= 20 {
        frame[24..26].fill(0);
        let sum = golden::checksum::sum(&frame[14..14 + header_bytes]);
        let checksum = !golden::checksum::fold(sum);
        frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    }
    frame
}

/// Name, frame, the MAC's verdict, the reason that must be counted.
type Case = (&'static str, Vec<u8>, bool, DropReason);

fn cases() -> Vec<Case> {
    let tcp = packet(false, false, 100);
    let udp = packet(false, true, 100);
    let (tcp6, udp6) = (packet(true, false, 100), packet(true, true, 100));
    let with_length = |bytes: usize| {
        let mut frame = tcp.clone();
        frame.resize(bytes, 0);
        frame
    };
    let ip_and_l4 = {
        let mut frame = tcp.clone();
        (frame[22], frame[100]) = (frame[22] ^ 1, frame[100] ^ 1);
        frame
    };
    let raw = |at: usize, value: u8| {
        let mut frame = tcp.clone();
        frame[at] = value;
        frame
    };
    vec![
        ("short", tcp[..59].to_vec(), false, D::Runt),
        ("one byte", vec![1], false, D::Runt),
        ("long", with_length(9217), false, D::Giant),
        ("very long", with_length(20_000), false, D::Giant),
        ("bad FCS", tcp.clone(), true, D::BadFcs),
        ("short, bad FCS", tcp[..59].to_vec(), true, D::Runt),
        ("long, bad FCS", with_length(9217), true, D::Giant),
        ("all checksums", ip_and_l4.clone(), true, D::BadFcs),
        ("IP and L4 checksum", ip_and_l4, false, D::IpChecksum),
        ("version 5", change_bytes(&tcp, &[(14, 0x55)]), false, D::MalformedIp),
        ("short IP header", change_bytes(&tcp, &[(14, 0x44)]), false, D::MalformedIp),
        ("long IP header", raw(14, 0x4f), false, D::IpChecksum),
        ("IP longer than frame", change_bytes(&tcp, &[(16, 1)]), false, D::MalformedIp),
        ("IP shorter than header", change_bytes(&tcp, &[(17, 19)]), false, D::MalformedIp),
        ("cut inside IP", tcp[..100].to_vec(), false, D::MalformedIp),
        ("no room for TCP", change_bytes(&tcp, &[(17, 39)]), false, D::MalformedL4),
        ("short TCP header", change_bytes(&tcp, &[(46, 0x40)]), false, D::MalformedL4),
        (
            "TCP header too long",
            change_bytes(&packet(false, false, 0), &[(46, 0xf0)]),
            false,
            D::MalformedL4,
        ),
        ("TCP checksum", change_bytes(&tcp, &[(80, 0)]), false, D::L4Checksum),
        ("UDP length", change_bytes(&udp, &[(39, 7)]), false, D::MalformedL4),
        ("UDP checksum", change_bytes(&udp, &[(80, 0)]), false, D::L4Checksum),
        ("IPv6, version 4", change_bytes(&tcp6, &[(14, 0x40)]), false, D::MalformedIp),
        ("IPv6 longer than frame", change_bytes(&tcp6, &[(18, 9)]), false, D::MalformedIp),
        ("IPv6, no room for TCP", change_bytes(&tcp6, &[(19, 19)]), false, D::MalformedL4),
        ("IPv6, TCP checksum", change_bytes(&tcp6, &[(100, 0)]), false, D::L4Checksum),
        (
            "IPv6, UDP without checksum",
            change_bytes(&udp6, &[(60, 0), (61, 0)]),
            false,
            D::L4Checksum,
        ),
    ]
}

fn frame(bytes: &[u8], is_bad: bool) -> Frame {
    Frame { bytes: bytes.to_vec(), is_bad, time_ps: 0 }
}

#[test]
fn bad_frame_counts_first_failed_check() {
    let mut direct = direct();
    let mut before = direct.counters();
    for (name, bytes, is_bad, reason) in cases() {
        let frames = [frame(&bytes, is_bad)];
        direct.receive(bytes, is_bad);
        direct.run(2_000);
        let after = direct.counters();
        for other in D::ALL.iter().map(|reason| reason.name()) {
            let moved = after[other] - before[other];
            let expected = u64::from(other == reason.name());
            assert_eq!(moved, expected, "{name}: {other} moved by {moved}");
        }
        before = after;
        let golden = golden_counters(&frames);
        let judged = golden.iter().find(|(_, count)| *count > 0);
        assert_eq!(judged, Some(&(reason.name(), 1)), "{name} on the golden card");
    }
    assert!(direct.entries().is_empty(), "a bad frame has an entry");
    direct.conclude();
}

#[test]
fn frame_during_stop_counts_as_stopped() {
    use abi::registers as r;
    use host::driver::bus::Bus;
    let mut direct = direct();
    let bus = direct.machine.host.device.bus();
    bus.write_register(r::CONTROL, r::CONTROL_TX).expect("a register");
    direct.run(500);
    let cases = cases();
    for (_, bytes, is_bad, _) in &cases {
        direct.receive(bytes.clone(), *is_bad);
    }
    direct.rest();
    assert_eq!(direct.dropped(DropReason::Stopped), cases.len() as u64);
    direct.conclude();
}

/// A packet in which anything may be wrong.
fn draw_spoiled(random: &mut SmallRng) -> Frame {
    let mut bytes = packet(
        random.random(),
        random.random(),
        [0, 1, 5, 6, 7, 64, 700][random.random_range(0..7)],
    );
    if random.random_bool(0.2) {
        let tag = [0x81, 0, 0, 7];
        bytes.splice(12..12, tag);
    }
    for _ in 0..random.random_range(0..3) {
        let at = random.random_range(12..bytes.len().min(74));
        bytes[at] = random.random();
    }
    match random.random_range(0..8) {
        0 => bytes.truncate(random.random_range(1..=bytes.len())),
        1 => bytes.resize(bytes.len() + random.random_range(1..200), 0),
        2 => bytes = (0..random.random_range(1..300)).map(|_| random.random()).collect(),
        _ => {}
    }
    frame(&bytes, random.random_range(0..20) == 0)
}

#[test]
fn spoiled_frames_count_as_on_golden() {
    let mut random = SmallRng::seed_from_u64(seed::seed());
    let mut direct = direct();
    let flow = Flow::new(3, 1000);
    let region = direct.region(MemoryKind::Application, 4096, 0);
    direct.install(&flow);
    let segment = flow.segment(Direction::Receive, (0, 0, 4096), (&region, 0));
    direct.done([segment]);
    let frames: Vec<Frame> = (0..STORM_FRAMES).map(|_| draw_spoiled(&mut random)).collect();
    for frame in &frames {
        direct.receive(frame.bytes.clone(), frame.is_bad);
        direct.run(120);
        direct.entries();
    }
    direct.rest();
    direct.entries();
    let all = direct.machine.host.device.counters().expect("counters");
    let (ours, theirs) = (counters(&all), golden_counters(&frames));
    println!("{ours:?}");
    assert_eq!(ours, theirs);
    let memory = direct.memory(&region.memory);
    assert!(memory.iter().all(|byte| *byte == GUARD), "a spoiled frame was placed");
    // Nothing hangs: the next good packet is placed.
    direct.receive(flow.packet(0, &[5; 1000]).frame(0), false);
    direct.rest();
    let ends: Vec<_> = direct.entries().iter().map(disposition).collect();
    assert_eq!(ends, [Disposition::PlacedInOrder]);
    assert_eq!(direct.memory(&region.memory)[..1000], [5; 1000]);
    direct.conclude();
}
