//! Packets to another station on the same wire: the card knows their addresses, our TCP does not.

use host::headers::layout::{ACK, SYN};
use host::headers::packet::parse_tcp;
use host::provider::{ApplicationId, Completion};
use host::transport::peer::{RandomBytes, Script, WirePeer};
use lab::frame::Frame;
use lab::network_side::NetworkSide;

use crate::provider::calls::peer_address;
use crate::provider::late::{connect_idle, SEED};
use crate::provider::rig::{carries_payload, forge_packet, golden, received_completion};

const PORT: u16 = 5002;
/// Sequence number of the peer's SYN.
const PEER_FIRST: u32 = 1000;

/// An answer to our SYN that is sent to somebody else opens nothing, and is counted.
#[test]
fn answer_to_other_station_opens_nothing() {
    let mut rig = golden();
    // The peer makes its link address known, and is cut off.
    let other = ([10, 77, 0, 1], 9999).into();
    rig.machine.peer.connect(other, Script::default()).expect("it starts");
    rig.steps(30);
    rig.cut = true;
    rig.sent.clear();
    let id = rig.machine.host.connect(ApplicationId::FIRST, peer_address(PORT)).expect("it starts");
    let syn = |frame: &Vec<u8>| parse_tcp(frame).filter(|header| header.flags == SYN);
    rig.until("our SYN", |rig| rig.sent.iter().any(|it| syn(it).is_some()));
    let syn = rig.sent.iter().find_map(syn).expect("it was sent");
    let ports = (syn.destination.port(), syn.source.port());
    let numbers = (PEER_FIRST, syn.sequence.wrapping_add(1));
    let answer = forge_packet(ports, numbers, SYN | ACK, &[]);
    let mut foreign = answer.clone();
    foreign.bytes[5] ^= 0x40;
    assert_eq!(rig.machine.host.counters().withheld_foreign, 0);
    rig.machine.card.receive(foreign);
    rig.steps(30);
    assert_eq!(rig.machine.host.counters().withheld_foreign, 1);
    assert!(!rig.completions.contains(&Completion::Opened(id)));
    rig.machine.card.receive(answer);
    rig.completion(|c| *c == Completion::Opened(id));
    assert_eq!(rig.machine.host.counters().withheld_foreign, 1);
}

/// A packet lands ahead, and TCP holds it. It comes again with a bit of its link address changed
/// (behind the last frame check, for the TCP checksum does not cover it): the card places it, TCP
/// is not shown it, and nothing is lost.
#[test]
fn foreign_station_repetition_keeps_tcp_bytes() {
    const BYTES: u32 = 4000;
    let (mut rig, id, region, memory) = connect_idle(BYTES.into());
    // The first packet: those behind it land ahead.
    rig.hold = vec![0];
    rig.machine.host.recv(id, region.span(0, BYTES), 1).expect("a request");
    rig.until("a packet ahead", |rig| rig.payload_frames > 1);
    rig.steps(2);
    let mut bytes = rig.received.last().expect("the packet ahead").clone();
    assert!(carries_payload(&bytes));
    bytes[5] ^= 0x40;
    rig.machine.card.receive(Frame { bytes, ..Frame::default() });
    rig.steps(2);
    assert_eq!(rig.machine.host.counters().withheld_foreign, 1);
    let held = rig.held.pop().expect("the first");
    rig.machine.card.receive(held);
    rig.completion(|c| *c == received_completion(id, 1, BYTES));
    let (mut found, mut expected) = (vec![0; BYTES as usize], vec![0; BYTES as usize]);
    memory.read(0, &mut found);
    RandomBytes::new(SEED).fill(&mut expected);
    assert!(found == expected, "a byte in the wrong place");
}
