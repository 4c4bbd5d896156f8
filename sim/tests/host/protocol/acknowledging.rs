//! A packet with payload acknowledges all that was sent, and nothing follows it.
//!
//! ```text
//!   us   2000 bytes ──►
//!   peer            ◄── payload with the ACK: taken at rest, or refused; then silence
//! ```

use host::headers::layout::ACK;

use super::scripted::{answer, PEER};
use super::*;

const BYTES: u32 = 2000;

/// The request is complete, whatever becomes of the payload that lies so far ahead.
fn is_complete_with_payload_ahead_by(bytes: u32) {
    let mut world = World::new(GoldenCard::new(SMALL));
    let first = ApplicationId::FIRST;
    let provider = &mut world.machine.host;
    let region = provider.register(first, MemoryKind::Application, 1 << 16);
    let region = region.expect("room");
    let id = provider.connect(first, REMOTE.parse().expect("an address")).expect("a flow");
    // More than the peer sends: the connection stays at rest.
    let receive = provider.recv(id, region.span(1 << 14, 1 << 14), 1);
    receive.expect("it is taken");
    provider.send(id, region.span(0, BYTES), 2).expect("it is taken");
    let syn = world.answer_syn(60_000);
    let start = syn.sequence.wrapping_add(1);
    let mut sent_bytes = 0;
    while sent_bytes < BYTES as usize {
        let sent = world.until_sent();
        sent_bytes += sent.iter().map(|(_, payload)| payload.len()).sum::<usize>();
    }
    // What the connection has under way comes to its end.
    for _ in 0..20 {
        world.round();
    }
    let numbers = (PEER + 1 + bytes, start.wrapping_add(BYTES));
    world.machine.card.receive(answer(&syn, numbers, ACK, 60_000, &[7; 10]));
    let is_sent = (0..1000).any(|_| {
        world.round();
        let completion = world.machine.host.next_completion();
        matches!(completion, Some(Completion::Sent { request: 2, .. }))
    });
    assert!(is_sent, "{bytes} bytes ahead: the acknowledgement was lost");
}

#[test]
fn payload_in_order_acknowledges() {
    is_complete_with_payload_ahead_by(0);
}

/// Far beyond the window: refused.
#[test]
fn payload_that_is_refused_acknowledges() {
    is_complete_with_payload_ahead_by(1 << 20);
}
