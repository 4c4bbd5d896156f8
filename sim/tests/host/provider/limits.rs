//! What a connection may ask for, and what is held for it.

use host::driver::bus::MemoryKind;
use host::error::request::RequestError;
use host::error::HostError;
use host::headers::packet::parse_tcp;
use host::provider::{ApplicationId, Completion, ConnectionId};
use host::records::state::PostedState;
use host::transport::peer::{RandomBytes, Script, WirePeer};

use crate::provider::calls::{connect_idle, peer_address};
use crate::provider::rig::{cancelled_completion, carries_payload, golden, prompt, slow_commands};

const FIRST: ApplicationId = ApplicationId::FIRST;
const DRAM: MemoryKind = MemoryKind::Application;
/// Requests that may be open in one direction.
const REQUESTS_MAX: u64 = 8192;
const PACKET_BYTES: u32 = 1460;
const GUARD: u8 = 0xa5;

fn is_refused(result: Result<(), HostError>, of: u32) -> bool {
    match result {
        Ok(()) => false,
        Err(HostError::Request(RequestError::TooManyRequests { connection, limit })) => {
            assert_eq!((connection, limit as u64), (of, REQUESTS_MAX));
            true
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn open_requests_are_limited_by_completions() {
    let (mut rig, id, region) = connect_idle();
    for request in 0..REQUESTS_MAX {
        rig.machine.host.send(id, region.span(request, 1), request).expect("below the limit");
    }
    let provider = &mut rig.machine.host;
    assert!(is_refused(provider.send(id, region.span(0, 1), 0), id.0));
    // The other direction has a limit of its own.
    for request in 0..REQUESTS_MAX {
        provider.recv(id, region.span(request, 1), request).expect("below the limit");
    }
    assert!(is_refused(provider.recv(id, region.span(0, 1), 0), id.0));
    let sent = |c: &Completion| matches!(c, Completion::Sent { .. });
    rig.until("a completion", |rig| rig.completions.iter().any(sent));
    let free = rig.completions.iter().filter(|c| sent(c)).count();
    for request in 0..free as u64 {
        rig.machine.host.send(id, region.span(0, 1), request).expect("one for each completion");
    }
    assert!(is_refused(rig.machine.host.send(id, region.span(0, 1), 0), id.0));
}

#[test]
fn requests_before_handshake_are_limited() {
    let mut rig = golden();
    let region = rig.machine.host.register(FIRST, DRAM, 64 << 10).expect("room");
    let id = rig.machine.host.connect(FIRST, peer_address(5001)).expect("it starts");
    for request in 0..REQUESTS_MAX {
        rig.machine.host.recv(id, region.span(request, 1), request).expect("below the limit");
    }
    let recv = rig.machine.host.recv(id, region.span(0, 1), 0);
    assert!(is_refused(recv, id.0));
}

/// The first packet is lost, so the others are placed ahead and have to be remembered.
#[test]
fn held_bytes_are_counted_until_close() {
    let mut rig = golden();
    let script =
        Script { send_bytes: 3 * u64::from(PACKET_BYTES), seed: 7, receive_bytes_max: None };
    rig.machine.peer.listen(peer_address(5001), script).expect("a port");
    let region = rig.machine.host.register(FIRST, DRAM, 8192).expect("room");
    rig.hold = vec![0];
    let id = rig.machine.host.connect(FIRST, peer_address(5001)).expect("it starts");
    rig.machine.host.recv(id, region.span(0, 3 * PACKET_BYTES), 1).expect("a request");
    assert_eq!(rig.machine.host.counters().held_bytes, 0);
    rig.until("held bytes", |rig| rig.machine.host.counters().held_bytes > 0);
    rig.cut = true;
    rig.machine.host.close(id).expect("it closes");
    rig.completion(|c| *c == Completion::Closed(id));
    assert_eq!(rig.machine.host.counters().held_bytes, 0);
}

/// A request whose region is not confirmed waits; the command ring is short.
#[test]
fn waiting_request_cancels_at_once() {
    let mut rig = slow_commands();
    // The peer has bytes that never come, so that its stream does not end.
    rig.hold = (0..1000).collect();
    let script = Script { send_bytes: 3000, ..Script::default() };
    rig.machine.peer.listen(peer_address(5001), script).expect("a port");
    let region = rig.machine.host.register(FIRST, DRAM, 4096).expect("room");
    let id = rig.machine.host.connect(FIRST, peer_address(5001)).expect("it starts");
    // Before the handshake.
    for request in [1, 2, 2] {
        rig.machine.host.recv(id, region.span(0, 100), request).expect("a request");
    }
    rig.machine.host.cancel(id, 2).expect("it waits");
    rig.step();
    assert_eq!(rig.completions, [cancelled_completion(id, 2)]);
    rig.completions.clear();
    rig.completion(|c| *c == Completion::Opened(id));
    // Request 1 and the other request 2 are posted, and confirmed.
    rig.until("a window of both", |rig| {
        let last = rig.sent.iter().rev().find_map(|frame| parse_tcp(frame));
        last.is_some_and(|header| header.window == 200)
    });
    for _ in 0..30 {
        rig.machine.host.register(FIRST, DRAM, 4096).expect("room");
    }
    let fresh = rig.machine.host.register(FIRST, DRAM, 4096).expect("room");
    rig.machine.host.recv(id, fresh.span(0, 100), 1).expect("a request");
    rig.machine.host.send(id, fresh.span(0, 100), 3).expect("a request");
    rig.step();
    for request in [1, 3] {
        rig.machine.host.cancel(id, request).expect("it waits");
    }
    rig.step();
    assert_eq!(rig.completions, [cancelled_completion(id, 1), cancelled_completion(id, 3)]);
    let error = rig.machine.host.cancel(id, 3).unwrap_err();
    assert_eq!(error.to_string(), format!("connection {} has no open request 3", id.0));
    // What was cancelled is never posted.
    rig.completions.clear();
    rig.steps(200);
    assert_eq!(rig.completions, []);
    let conversations = rig.machine.peer.conversations();
    assert_eq!(conversations[0].received_bytes, 0);
    rig.machine.host.close(id).expect("it closes");
    rig.completion(|c| *c == Completion::Closed(id));
    assert_eq!(rig.completions, [cancelled_completion(id, 1), cancelled_completion(id, 2)]);
    let gone = rig.machine.host.cancel(id, 1);
    assert!(
        matches!(gone, Err(HostError::Request(RequestError::UnknownConnection(n))) if n == id.0)
    );
}

/// Of four buffers the first is full and the second has some bytes when another is cancelled.
#[test]
fn cancelled_receive_leaves_the_others() {
    const BYTES: u32 = 1000;
    const SOME: u32 = PACKET_BYTES - BYTES;
    const REST: u32 = 2 * PACKET_BYTES - 2 * BYTES;
    let cases = [
        // One without bytes; the one that has some; then what each request ends with.
        (3, vec![(1, BYTES), (2, BYTES), (4, REST)]),
        (2, vec![(1, BYTES), (2, SOME), (3, BYTES), (4, REST - SOME)]),
    ];
    for (cancel, ends) in cases {
        // What comes between the first completion and the cancel would change the ends.
        let mut rig = prompt();
        let script =
            Script { send_bytes: 2 * u64::from(PACKET_BYTES), seed: 7, receive_bytes_max: None };
        rig.machine.peer.listen(peer_address(5001), script).expect("a port");
        let region = rig.machine.host.register(FIRST, DRAM, 4096).expect("room");
        let mut memory = rig.machine.host.map(region).expect("it maps");
        memory.write(0, &[GUARD; 4096]);
        // It comes again after the peer's timeout.
        rig.hold = vec![1];
        let id = rig.machine.host.connect(FIRST, peer_address(5001)).expect("it starts");
        for request in 1..=4 {
            let at = (request - 1) * u64::from(BYTES);
            rig.machine.host.recv(id, region.span(at, BYTES), request).expect("a request");
        }
        rig.completion(|c| matches!(c, Completion::Received { request: 1, .. }));
        rig.machine.host.cancel(id, cancel).expect("it is posted");
        assert!(rig.machine.host.cancel(id, 9).is_err(), "there is none");
        rig.until("the end", |rig| rig.completions.contains(&Completion::EndOfStream(id)));
        let mut received = vec![(1, BYTES)];
        received.extend(rig.completions.iter().filter_map(|c| match c {
            Completion::Received { request, bytes, .. } => Some((*request, *bytes)),
            _ => None,
        }));
        received.sort_unstable();
        assert_eq!(received, ends);
        let is_cancelled = rig.completions.contains(&cancelled_completion(id, cancel));
        assert_eq!(is_cancelled, cancel == 3);
        let mut stream = vec![0; 2 * PACKET_BYTES as usize];
        RandomBytes::new(7).fill(&mut stream);
        let (mut expected, mut rest) = (vec![GUARD; 4096], &stream[..]);
        for (request, bytes) in ends {
            let at = (request as usize - 1) * BYTES as usize;
            let (now, later) = rest.split_at(bytes as usize);
            expected[at..at + now.len()].copy_from_slice(now);
            rest = later;
        }
        let mut found = vec![0; 4096];
        memory.read(0, &mut found);
        assert!(found == expected, "a byte in the wrong place");
    }
}

#[test]
fn a_posted_send_is_not_cancelled() {
    let mut rig = golden();
    rig.machine.peer.listen(peer_address(5001), Script::default()).expect("a port");
    let region = rig.machine.host.register(FIRST, DRAM, 4096).expect("room");
    let id = rig.machine.host.connect(FIRST, peer_address(5001)).expect("it starts");
    rig.completion(|c| *c == Completion::Opened(id));
    rig.cut = true;
    rig.sent.clear();
    rig.machine.host.send(id, region.span(0, 100), 5).expect("a request");
    // Its segment is confirmed, or nothing would be sent.
    rig.until("its packet", |rig| rig.sent.iter().any(|it| carries_payload(it)));
    let error = rig.machine.host.cancel(id, 5).unwrap_err();
    assert_eq!(posted_state(&error, id), (5, PostedState::Confirmed));
    rig.cut = false;
    let (connection, request) = (id, 5);
    rig.completion(|c| *c == Completion::Sent { connection, request });
}

/// The request that was to be cancelled, and how far it had come.
fn posted_state(error: &HostError, of: ConnectionId) -> (u64, PostedState) {
    match error {
        HostError::Request(RequestError::RequestPosted { connection, request, state }) => {
            assert_eq!(*connection, of.0);
            (*request, *state)
        }
        other => panic!("{other}"),
    }
}
