//! A peer made by hand closes its window; what opens it again is lost on the wire.
//!
//! ```text
//!   us   3000 bytes ──►          byte 3001 ──► ... ──►          the rest ──►
//!   peer     ◄── ACK, window 0      ✗ window ◄── 0 ◄── window, with the byte
//! ```

use host::headers::layout::ACK;

use super::scripted::{answer, PEER};
use super::*;

const BYTES: u32 = 10_000;
/// The first window of the peer.
const WINDOW: u16 = 3000;

/// The next packet from the edge of the window on, and how many rounds it took.
fn next_probe(world: &mut World, edge: u32, distances: &[u32]) -> (u32, Vec<u8>) {
    let mut rounds = 0;
    loop {
        rounds += 1;
        let mut sent = world.round();
        sent.retain(|(_, payload)| !payload.is_empty());
        match sent.pop() {
            // What crossed the ACK.
            Some((header, _)) if header.sequence != edge => {}
            Some((_, payload)) => return (rounds, payload),
            None => assert!(rounds < 100_000, "no probe in 10 s: {distances:?}"),
        }
    }
}

/// Probes come at growing distances, each of one byte, until one is answered with a window; then
/// the rest follows.
fn closed_and_opened(card: Rc<RefCell<GoldenCard>>) {
    let mut world = World::new(card);
    let first = ApplicationId::FIRST;
    let provider = &mut world.machine.host;
    let region = provider.register(first, MemoryKind::Application, 1 << 16);
    let region = region.expect("room");
    let mut expected = vec![0; BYTES as usize];
    RandomBytes::new(3).fill(&mut expected);
    let mut memory = provider.map(region).expect("it maps");
    memory.write(0, &expected);
    let id = provider.connect(first, REMOTE.parse().expect("an address")).expect("a flow");
    provider.send(id, region.span(0, BYTES), 1).expect("it is taken");
    let syn = world.answer_syn(WINDOW);
    let start = syn.sequence.wrapping_add(1);

    let mut received = Vec::new();
    while received.len() < usize::from(WINDOW) {
        for (header, payload) in world.until_sent() {
            let at = header.sequence.wrapping_sub(start) as usize;
            received.truncate(at);
            received.extend(payload);
        }
    }
    assert_eq!(received.len(), usize::from(WINDOW));
    let edge = start.wrapping_add(WINDOW.into());
    let close = || answer(&syn, (PEER + 1, edge), ACK, 0, &[]);
    world.machine.card.receive(close());
    let mut distances = Vec::new();
    while distances.len() < 8 {
        let (rounds, probe) = next_probe(&mut world, edge, &distances);
        assert_eq!(probe, expected[3000..3001]);
        distances.push(rounds);
        // The first answer is lost, too.
        if distances.len() > 1 {
            world.machine.card.receive(close());
        }
    }
    // The card takes its time, so a distance is not exact: the last ones are far longer than that.
    let grows = distances[7] > 2 * distances[5] && distances[7] > distances[6];
    assert!(grows, "the timeout does not double: {distances:?}");

    let opened = edge.wrapping_add(1);
    received.push(expected[3000]);
    world.machine.card.receive(answer(&syn, (PEER + 1, opened), ACK, 60_000, &[]));
    let mut is_sent = false;
    for _ in 0..100_000 {
        for (header, payload) in world.round() {
            let at = header.sequence.wrapping_sub(start) as usize;
            if at <= received.len() && at + payload.len() > received.len() {
                received.truncate(at);
                received.extend(payload);
            }
        }
        let number = start.wrapping_add(received.len() as u32);
        if received.len() == expected.len() {
            world.machine.card.receive(answer(&syn, (PEER + 1, number), ACK, 60_000, &[]));
        }
        while let Some(completion) = world.machine.host.next_completion() {
            is_sent |= matches!(completion, Completion::Sent { request: 1, .. });
        }
        if is_sent {
            break;
        }
    }
    assert!(is_sent, "{} bytes arrived", received.len());
    assert!(received == expected);
}

#[test]
fn closed_window_is_probed_until_open() {
    closed_and_opened(GoldenCard::new(SMALL));
    let first = seed::seed();
    for seed in first..first + 4 {
        closed_and_opened(GoldenCard::late(SMALL, seed));
    }
}
