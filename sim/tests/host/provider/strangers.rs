//! Packets that no peer sent: they change nothing for those who are there.

use host::driver::bus::MemoryKind;
use host::headers::layout::{ACK, RST, SYN};
use host::headers::packet::parse_tcp;
use host::provider::{ApplicationId, Completion, ConnectionId, ReceiveOptions};
use host::transport::peer::{RandomBytes, Script, WirePeer};
use host::transport::ListenerId;
use lab::frame::Frame;
use lab::network_side::NetworkSide;

use crate::provider::rig::{golden, received_completion, GoldenRig};

const FIRST: ApplicationId = ApplicationId::FIRST;
const DRAM: MemoryKind = MemoryKind::Application;
const SEED: u64 = 3;
const PACKET_BYTES: usize = 1460;

/// A peer that sends `send_bytes` has connected to a listener; nobody has accepted it yet.
fn waiting(rig: &mut GoldenRig, send_bytes: u64) -> ListenerId {
    let local = ([10, 77, 0, 1], 80).into();
    let listener = rig.machine.host.listen(FIRST, local).unwrap();
    let script = Script { send_bytes, seed: SEED, receive_bytes_max: None };
    rig.machine.peer.connect(local, script).unwrap();
    rig.steps(50);
    listener
}

/// Accepts the connection and receives what it sends.
fn accept(rig: &mut GoldenRig, listener: ListenerId, bytes: u32) {
    let id = rig.machine.host.accept(listener).unwrap().expect("one waits");
    rig.completion(|c| *c == Completion::Opened(id));
    let region = rig.machine.host.register(FIRST, DRAM, 4096).unwrap();
    rig.machine.host.recv(id, region.span(0, bytes), 1).unwrap();
    rig.completion(|c| *c == received_completion(id, 1, bytes));
}

/// Strangers begin more handshakes than a listener carries, between a peer's handshake and its
/// accept.
#[test]
fn peer_awaiting_accept_is_not_evicted() {
    let mut rig = golden();
    let listener = waiting(&mut rig, 100);
    for number in 0..4200u32 {
        let port = 10_000 + number as u16;
        for to in [80, 81] {
            rig.forge((port, to), (number, 0), SYN, &[]);
        }
        if number % 16 == 0 {
            rig.step();
        }
    }
    rig.steps(50);
    accept(&mut rig, listener, 100);
}

#[test]
fn syn_refused_by_transport_is_disbelieved() {
    let mut rig = golden();
    let listener = waiting(&mut rig, 100);
    let (sequence, _, ports) = rig.peer_next();
    rig.forge(ports, (sequence.wrapping_add(1 << 20), 0), SYN, &[]);
    rig.steps(5);
    accept(&mut rig, listener, 100);
}

/// A packet has come ahead of its turn, and TCP keeps it; one with an old ACK number follows.
#[test]
fn late_packet_leaves_landed_bytes() {
    let mut rig = golden();
    rig.hold = (0..1000).collect();
    let listener = waiting(&mut rig, 2 * PACKET_BYTES as u64);
    let id = rig.machine.host.accept(listener).unwrap().unwrap();
    let region = rig.machine.host.register(FIRST, DRAM, 4096).unwrap();
    let memory = rig.machine.host.map(region).unwrap();
    let bytes = 2 * PACKET_BYTES as u32;
    rig.machine.host.recv(id, region.span(0, bytes), 1).unwrap();
    let take = |rig: &mut GoldenRig, sequence: u32| {
        let is_it = |frame: &Frame| parse_tcp(&frame.bytes).unwrap().sequence == sequence;
        let at = rig.held.iter().position(is_it)?;
        Some(rig.held.remove(at))
    };
    rig.until("a packet", |rig| !rig.held.is_empty());
    let (sequence, acknowledged, ports) = rig.peer_next();
    let ahead = sequence.wrapping_add(PACKET_BYTES as u32);
    let mut second = None;
    rig.until("the second packet", |rig| {
        second = take(rig, ahead);
        second.is_some()
    });
    rig.machine.card.receive(second.unwrap());
    rig.step();
    let numbers = (ahead, acknowledged.wrapping_sub(1));
    rig.forge(ports, numbers, ACK, &[0xee; PACKET_BYTES]);
    rig.step();
    rig.hold.clear();
    for frame in std::mem::take(&mut rig.held) {
        rig.machine.card.receive(frame);
    }
    rig.completion(|c| *c == received_completion(id, 1, bytes));
    let (mut now, mut expected) = ([0; 2 * PACKET_BYTES], [0; 2 * PACKET_BYTES]);
    memory.read(0, &mut now);
    RandomBytes::new(SEED).fill(&mut expected);
    assert!(now == expected);
}

/// More connections than a listener carries begin and are left there, or are reset before anybody
/// accepts them.
#[test]
fn listener_outlives_absent_peers() {
    let mut rig = golden();
    let listener = waiting(&mut rig, 100);
    rig.cut = true;
    for number in 0..1100u16 {
        let ports = (10_000 + number, 80);
        let next = rig.forge_syn(ports, 1000);
        if number % 2 == 0 {
            rig.forge(ports, (1001, next), ACK, &[]);
            rig.forge(ports, (1001, next), RST | ACK, &[]);
        }
    }
    for number in 0..600u16 {
        rig.forge((20_000 + number, 80), (1000, 0), SYN, &[]);
        rig.step();
    }
    rig.cut = false;
    accept(&mut rig, listener, 100);
    let script = Script { send_bytes: 100, seed: SEED, receive_bytes_max: None };
    rig.machine.peer.connect(([10, 77, 0, 1], 80).into(), script).unwrap();
    rig.steps(50);
    accept(&mut rig, listener, 100);
}

/// A packet with an old ACK number is placed first; TCP takes the good one.
#[test]
fn old_ack_bytes_do_not_stand() {
    the_good_packet_stands(|rig, (sequence, acknowledged, ports)| {
        let numbers = (sequence, acknowledged.wrapping_sub(1));
        rig.forge(ports, numbers, ACK, &[0xee; PACKET_BYTES]);
    });
}

/// No TCP takes payload of a packet with a SYN, however little.
#[test]
fn syn_bytes_do_not_stand() {
    for bytes in [1, 2, PACKET_BYTES] {
        the_good_packet_stands(|rig, (sequence, acknowledged, ports)| {
            // A SYN takes a number of its own.
            let numbers = (sequence.wrapping_sub(1), acknowledged);
            rig.forge(ports, numbers, SYN | ACK, &vec![0xee; bytes]);
        });
    }
}

/// Holds a good packet until another one, forged with what the peer sends next, is placed.
#[track_caller]
fn the_good_packet_stands(forge: impl Fn(&mut GoldenRig, (u32, u32, (u16, u16)))) {
    let mut rig = golden();
    rig.hold = (0..1000).collect();
    let listener = waiting(&mut rig, PACKET_BYTES as u64);
    let id = rig.machine.host.accept(listener).unwrap().unwrap();
    let region = rig.machine.host.register(FIRST, DRAM, 4096).unwrap();
    let memory = rig.machine.host.map(region).unwrap();
    let bytes = PACKET_BYTES as u32;
    rig.machine.host.recv(id, region.span(0, bytes), 1).unwrap();
    rig.until("the good packet", |rig| !rig.held.is_empty());
    let next = rig.peer_next();
    forge(&mut rig, next);
    rig.step();
    let good = rig.held.remove(0);
    rig.machine.card.receive(good);
    rig.completion(|c| *c == received_completion(id, 1, bytes));
    let (mut now, mut expected) = ([0; PACKET_BYTES], [0; PACKET_BYTES]);
    memory.read(0, &mut now);
    RandomBytes::new(SEED).fill(&mut expected);
    assert!(now == expected, "it begins with {:x?}", &now[..4]);
}

/// A late packet's bytes were once in a packet that TCP refused: the late one's stand.
#[test]
fn bytes_refused_by_tcp_stay_out() {
    // An ACK number that nobody sent; one below what is acknowledged.
    the_late_packet_stands(|_| 0x7777_7777);
    the_late_packet_stands(|acknowledged| acknowledged.wrapping_sub(1));
}

fn the_late_packet_stands(forged: impl Fn(u32) -> u32) {
    let warm_up = 64usize << 10;
    let stream = 3 * PACKET_BYTES;
    let buffer = 64u32 << 10;
    let mut rig = golden();
    let listener = waiting(&mut rig, (warm_up + stream) as u64);
    let id: ConnectionId = rig.machine.host.accept(listener).unwrap().unwrap();
    let region = rig.machine.host.register(FIRST, DRAM, 4 << 16).unwrap();
    let memory = rig.machine.host.map(region).unwrap();
    let far = 3 * u64::from(buffer);
    rig.machine.host.recv(id, region.span(far, warm_up as u32), 9).unwrap();
    rig.completion(|c| matches!(c, Completion::Received { request: 9, .. }));
    let syns = rig.received.iter().filter_map(|f| parse_tcp(f));
    let base = syns.clone().find(|h| h.flags & SYN != 0).unwrap().sequence;
    let (_, acknowledged, ports) = rig.peer_next();
    // Sequence number of the third packet.
    let third = base.wrapping_add(1 + (warm_up + 2 * PACKET_BYTES) as u32);
    let numbers = (third, forged(acknowledged));
    rig.forge(ports, numbers, ACK, &[0xee; PACKET_BYTES]);
    rig.step();
    rig.hold = vec![rig.payload_frames + 1];
    rig.machine
        .host
        .recv_with(id, region.span(0, buffer), 0, ReceiveOptions { partial: true })
        .unwrap();
    rig.completion(|c| matches!(c, Completion::Received { request: 0, .. }));
    rig.machine
        .host
        .recv_with(id, region.span(buffer.into(), buffer), 1, ReceiveOptions { partial: true })
        .unwrap();
    rig.until("the late packet", |rig| !rig.held.is_empty());
    rig.steps(20);
    let late = rig.held.remove(0);
    rig.machine.card.receive(late);
    rig.completion(|c| matches!(c, Completion::Received { request: 1, .. }));
    let mut rest = vec![0; stream - PACKET_BYTES];
    memory.read(buffer as usize, &mut rest);
    let mut expected = vec![0; warm_up + stream];
    RandomBytes::new(SEED).fill(&mut expected);
    assert_eq!(rest, expected[warm_up + PACKET_BYTES..]);
}
