//! Packets to another station on the same wire: the card knows their addresses, our TCP does not.

use host::control::packet::parse_tcp;
use host::provider::{ApplicationId, Completion};
use host::transport::header::{ACK, SYN};
use host::transport::peer::{Script, WirePeer};
use sim::network_side::NetworkSide;

use crate::calls::peer_address;
use crate::rig::{forged, golden};

const PORT: u16 = 5002;
/// Sequence number of the peer's SYN.
const PEER_FIRST: u32 = 1000;

/// An answer to our SYN that is sent to somebody else opens nothing, and is counted.
#[test]
fn an_answer_to_another_station_opens_nothing() {
    let mut rig = golden();
    // The peer makes its link address known, and is cut off.
    let other = ([10, 77, 0, 1], 9999).into();
    let known = rig.peer.connect(other, Script::default());
    known.expect("it starts");
    rig.steps(30);
    rig.cut = true;
    rig.sent.clear();
    let id = rig
        .provider
        .connect(ApplicationId::FIRST, peer_address(PORT));
    let id = id.expect("it starts");
    let syn = |frame: &Vec<u8>| parse_tcp(frame).filter(|header| header.flags == SYN);
    rig.until("our SYN", |rig| rig.sent.iter().any(|it| syn(it).is_some()));
    let syn = rig.sent.iter().find_map(syn).expect("it was sent");
    let ports = (syn.destination.port(), syn.source.port());
    let numbers = (PEER_FIRST, syn.sequence.wrapping_add(1));
    let answer = forged(ports, numbers, SYN | ACK, &[]);
    let mut foreign = answer.clone();
    foreign.bytes[5] ^= 0x40;
    assert_eq!(rig.provider.counters().withheld_foreign, 0);
    rig.card.receive(foreign);
    rig.steps(30);
    assert_eq!(rig.provider.counters().withheld_foreign, 1);
    assert!(!rig.completions.contains(&Completion::Opened(id)));
    rig.card.receive(answer);
    rig.completion(|c| *c == Completion::Opened(id));
    assert_eq!(rig.provider.counters().withheld_foreign, 1);
}
