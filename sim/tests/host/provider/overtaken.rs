//! Descriptors that are under way in the card while the commands around them take effect.

use host::driver::bus::MemoryKind;
use host::headers::layout::ACK;
use host::provider::{ApplicationId, Completion};
use host::transport::peer::{Script, WirePeer};

use crate::provider::calls::peer_address;
use crate::provider::rig::{prompt, sent_completion};

/// Bytes of each of the two buffers; both fit the initial window. Smaller ones share a segment, and
/// the floor of the first one waits.
const BYTES: u32 = 5000;

/// Our TCP repeats what it sent. Between the two look-ups of the repetition the peer acknowledges
/// `acknowledged` bytes, so that the send floor passes and the head of the list with it.
fn a_repetition_is_overtaken(acknowledged: u32) {
    // The test itself holds what is to be overtaken.
    let mut rig = prompt();
    let script = Script::default();
    rig.machine.peer.listen(peer_address(5001), script).expect("a port");
    let (first, dram) = (ApplicationId::FIRST, MemoryKind::Application);
    let region = rig.machine.host.register(first, dram, 16384).expect("room");
    let remote = peer_address(5001);
    let id = rig.machine.host.connect(first, remote).expect("a connection");
    rig.completion(|c| *c == Completion::Opened(id));
    rig.steps(20);
    let (sequence, start, ports) = rig.peer_next();

    rig.cut = true;
    for request in 0..2 {
        let offset = request * u64::from(BYTES);
        rig.machine.host.send(id, region.span(offset, BYTES), request).expect("a request");
    }
    rig.steps(20);
    rig.machine.card.borrow_mut().hold_sends();
    rig.until("a repetition", |rig| rig.machine.card.borrow().held_sends() > 0);
    rig.forge(ports, (sequence, start.wrapping_add(acknowledged)), ACK, &[]);
    rig.steps(20);
    let early = |c: &&Completion| matches!(c, Completion::Sent { .. });
    let done = rig.completions.iter().find(early);
    assert_eq!(done, None, "a floor is confirmed before the sends in front of it");
    rig.machine.card.borrow_mut().release_sends();
    rig.steps(20);
    assert!(rig.machine.host.counters().overtaken_sends > 0, "nothing raced");

    // The connection lives, and what is left arrives.
    rig.forge(ports, (sequence, start.wrapping_add(2 * BYTES)), ACK, &[]);
    for request in 0..2 {
        rig.completion(|c| *c == sent_completion(id, request));
    }
    let failed = |c: &&Completion| matches!(c, Completion::Failed { .. });
    assert_eq!(rig.completions.iter().find(failed), None);
}

#[test]
fn repetition_with_emptied_list_is_overtaken() {
    a_repetition_is_overtaken(2 * BYTES);
}

#[test]
fn repetition_without_first_segment_is_overtaken() {
    a_repetition_is_overtaken(BYTES + 100);
}
