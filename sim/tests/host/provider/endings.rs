//! How connections end: by a reset, by their application, and with the same addresses coming again.

use host::driver::bus::MemoryKind;
use host::failure::Failure;
use host::headers::layout::{ACK, RST};
use host::provider::{ApplicationId, Completion, ConnectionId, ReceiveOptions, RegionId};
use host::transport::peer::{Script, WirePeer};
use host::transport::ListenerId;
use lab::network_side::NetworkSide;

use crate::provider::calls::peer_address;
use crate::provider::rig::{
    cancelled_completion, failure, golden, received_completion, sent_completion, slow_commands,
    GoldenRig,
};

/// The urgent flag of TCP.
const URG: u8 = 0x20;
const FIRST: ApplicationId = ApplicationId::FIRST;
const DRAM: MemoryKind = MemoryKind::Application;
const RESET: &str = "Connection reset by peer (os error 104)";

/// A connection to a peer that sends `send_bytes`, and a region of a page.
fn connect_sender(rig: &mut GoldenRig, send_bytes: u64) -> (ConnectionId, RegionId) {
    let script = Script { send_bytes, seed: 7, receive_bytes_max: None };
    rig.machine.peer.listen(peer_address(5001), script).unwrap();
    let region = rig.machine.host.register(FIRST, DRAM, 4096).unwrap();
    let id = rig.machine.host.connect(FIRST, peer_address(5001)).unwrap();
    rig.completion(|c| *c == Completion::Opened(id));
    (id, region)
}

fn reset(rig: &mut GoldenRig) {
    // What is under way would move the numbers.
    rig.steps(DELAYED_ACK_ROUNDS);
    let (sequence, acknowledgement, ports) = rig.peer_next();
    rig.cut = true;
    rig.forge(ports, (sequence, acknowledgement), RST | ACK, &[]);
}

/// Rounds in which a TCP acknowledges what it has.
const DELAYED_ACK_ROUNDS: usize = 50;

/// Ports of a peer that is only forged, and of our listener.
const PORTS: (u16, u16) = (4444, 80);

/// Our listener, with the real peer's link address known and the peer cut off.
fn listening(rig: &mut GoldenRig) -> ListenerId {
    let local = ([10, 77, 0, 1], PORTS.1).into();
    let listener = rig.machine.host.listen(FIRST, local).unwrap();
    let other = ([10, 77, 0, 1], 9999).into();
    rig.machine.peer.connect(other, Script::default()).unwrap();
    rig.steps(30);
    rig.cut = true;
    listener
}

/// A forged handshake that begins at `sequence`: the connection, and our next sequence number.
fn accept_forged(rig: &mut GoldenRig, listener: ListenerId, sequence: u32) -> (ConnectionId, u32) {
    let next = rig.forge_syn(PORTS, sequence);
    rig.forge(PORTS, (sequence + 1, next), ACK, &[]);
    let mut id = None;
    rig.until("a connection", |rig| {
        id = rig.machine.host.accept(listener).unwrap();
        id.is_some()
    });
    (id.unwrap(), next)
}

fn is_reset(completion: &Completion, id: ConnectionId) -> bool {
    let says = |reason: &Failure| reason.to_string().contains(RESET);
    let is_told = matches!(completion, Completion::Failed { reason, .. } if says(reason));
    is_told && failure(completion, id) == Some(libc::ECONNRESET)
}

/// A request goes back when the card has confirmed that it has let the buffer go, not before.
#[test]
fn cancelled_buffer_is_never_written_again() {
    let mut rig = slow_commands();
    rig.hold = (0..1000).collect();
    let (id, region) = connect_sender(&mut rig, 3000);
    let mut memory = rig.machine.host.map(region).unwrap();
    rig.machine.host.recv(id, region.span(0, 2000), 1).unwrap();
    rig.until("two packets held", |rig| rig.held.len() >= 2);
    for _ in 0..30 {
        rig.machine.host.register(FIRST, DRAM, 4096).unwrap();
    }
    reset(&mut rig);
    rig.completion(|c| is_reset(c, id));
    rig.completion(|c| *c == cancelled_completion(id, 1));
    memory.write(0, &[0x11; 4096]);
    for frame in std::mem::take(&mut rig.held) {
        rig.machine.card.receive(frame);
    }
    let mut now = vec![0; 4096];
    memory.read(0, &mut now);
    assert_eq!(now, [0x11; 4096]);
}

/// A partial request takes what was accepted before the reset.
#[test]
fn bytes_before_reset_reach_partial_request() {
    let mut rig = golden();
    rig.hold = (0..1000).collect();
    let (id, region) = connect_sender(&mut rig, 3000);
    rig.machine
        .host
        .recv_with(id, region.span(0, 4096), 1, ReceiveOptions { partial: true })
        .unwrap();
    rig.steps(30);
    let (sequence, acknowledgement, ports) = rig.peer_next();
    rig.cut = true;
    rig.forge(ports, (sequence, acknowledgement), ACK, &[7; 100]);
    let end = sequence.wrapping_add(100);
    rig.forge(ports, (end, acknowledgement), RST | ACK, &[]);
    rig.until("the failure", |rig| rig.completions.iter().any(|c| is_reset(c, id)));
    assert_eq!(rig.completions[0], received_completion(id, 1, 100));
    rig.completion(|c| *c == Completion::Closed(id));
}

/// What was accepted, and so acknowledged, is reported with its number, buffer by buffer, before
/// the failure: bytes in order and such as were deferred.
#[test]
fn partial_buffer_before_reset_is_reported() {
    for deferred in [false, true] {
        let mut rig = golden();
        rig.hold = (0..1000).collect();
        let (id, region) = connect_sender(&mut rig, 3000);
        for (request, at, bytes) in [(1, 0, 60), (2, 60, 2000), (3, 2060, 100)] {
            rig.machine.host.recv(id, region.span(at, bytes), request).unwrap();
        }
        // What is sent stays unacknowledged: the forged packets acknowledge nothing of it.
        rig.cut = true;
        rig.machine.host.send(id, region.span(3000, 10), 4).unwrap();
        rig.steps(30);
        let (sequence, acknowledgement, ports) = rig.peer_next();
        // Payload with the urgent flag is not placed.
        let flags = if deferred { ACK | URG } else { ACK };
        rig.forge(ports, (sequence, acknowledgement), flags, &[7; 100]);
        let end = sequence.wrapping_add(100);
        rig.forge(ports, (end, acknowledgement), RST | ACK, &[]);
        rig.completion(|c| *c == Completion::Closed(id));
        let failed = rig.completions.iter().position(|c| is_reset(c, id)).expect("it failed");
        let (before, behind) = (&rig.completions[..failed], &rig.completions[failed + 1..]);
        assert_eq!(
            before,
            [received_completion(id, 1, 60), received_completion(id, 2, 40)],
            "deferred: {deferred}"
        );
        assert_eq!(behind, [cancelled_completion(id, 4), cancelled_completion(id, 3)]);
        let mut now = vec![0; 101];
        rig.machine.host.map(region).unwrap().read(0, &mut now);
        assert_eq!(now, [&[7; 100][..], &[0]].concat());
    }
}

#[test]
fn reset_fails_connection_with_open_sends() {
    let mut rig = golden();
    let (id, region) = connect_sender(&mut rig, 0);
    rig.steps(20);
    rig.cut = true;
    rig.machine.host.send(id, region.span(0, 1000), 5).unwrap();
    rig.steps(10);
    reset(&mut rig);
    rig.completion(|c| is_reset(c, id));
    rig.completion(|c| *c == cancelled_completion(id, 5));
    rig.completion(|c| *c == Completion::Closed(id));
}

#[test]
fn a_reset_fails_an_idle_connection() {
    let mut rig = golden();
    let (id, region) = connect_sender(&mut rig, 100_000);
    rig.machine.host.recv(id, region.span(0, 4096), 1).unwrap();
    rig.completion(|c| matches!(c, Completion::Received { request: 1, .. }));
    reset(&mut rig);
    rig.completion(|c| is_reset(c, id));
    rig.completion(|c| *c == Completion::Closed(id));
}

/// What is acknowledged when the application closes is sent, not cancelled.
#[test]
fn close_after_send_lets_it_complete() {
    let mut rig = golden();
    let (id, region) = connect_sender(&mut rig, 0);
    rig.machine.host.send(id, region.span(0, 1000), 5).unwrap();
    rig.machine.host.close(id).unwrap();
    rig.completion(|c| *c == Completion::Closed(id));
    assert!(rig.completions.contains(&sent_completion(id, 5)));
    assert!(!rig.completions.contains(&cancelled_completion(id, 5)));
}

/// The reset of a connection and the SYN of the next one with its addresses come together.
#[test]
fn addresses_may_return_with_the_reset() {
    let mut rig = golden();
    let listener = listening(&mut rig);
    let mut reset = None;
    for start in [1000, 500_000] {
        if let Some(next) = reset {
            rig.forge(PORTS, (1001, next), RST | ACK, &[]);
        }
        let (id, next) = accept_forged(&mut rig, listener, start);
        rig.completion(|c| *c == Completion::Opened(id));
        reset = Some(next);
    }
}

/// The peer's port comes again while the flow of its last connection is still on the card.
#[test]
fn addresses_may_return_while_flow_leaves() {
    let mut rig = slow_commands();
    let listener = listening(&mut rig);
    let (first, next) = accept_forged(&mut rig, listener, 1000);
    rig.completion(|c| *c == Completion::Opened(first));
    for _ in 0..40 {
        rig.machine.host.register(FIRST, DRAM, 4096).unwrap();
    }
    rig.forge(PORTS, (1001, next), RST | ACK, &[]);
    rig.completion(|c| is_reset(c, first));
    let (second, next) = accept_forged(&mut rig, listener, 500_000);
    assert!(!rig.completions.contains(&Completion::Closed(first)), "still leaving");
    rig.completion(|c| *c == Completion::Opened(second));
    assert!(rig.completions.contains(&Completion::Closed(first)));
    // And it works.
    let region = rig.machine.host.register(FIRST, DRAM, 4096).unwrap();
    rig.machine.host.recv(second, region.span(0, 100), 1).unwrap();
    rig.steps(30);
    rig.forge(PORTS, (500_001, next), ACK, &[0x77; 100]);
    rig.completion(|c| *c == received_completion(second, 1, 100));
}
