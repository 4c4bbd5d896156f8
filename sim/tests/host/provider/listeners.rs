//! Listeners that end, and the addresses of connections.

use host::driver::bus::MemoryKind;
use host::error::request::RequestError;
use host::error::HostError;
use host::provider::{ApplicationId, Completion};
use host::transport::peer::{Progress, Script, WirePeer};
use host::transport::TransportError;

use crate::provider::calls::{connect_idle, peer_address};
use crate::provider::rig::golden;

const FIRST: ApplicationId = ApplicationId::FIRST;
const BYTES: u32 = 1000;

/// Whether a call failed because its listener is not there.
fn is_gone<T>(result: Result<T, HostError>) -> bool {
    let error = result.err().expect("it is gone");
    let is_it =
        |e: &HostError| matches!(e, HostError::Transport(TransportError::UnknownListener(_)));
    assert!(is_it(&error), "{error}");
    true
}

/// Two peers have connected, one was accepted.
#[test]
fn ended_listener_keeps_accepted_resets_rest() {
    let mut rig = golden();
    let local = ([10, 77, 0, 1], 80).into();
    let listener = rig.machine.host.listen(FIRST, local).expect("a port");
    let script = Script { send_bytes: BYTES.into(), seed: 7, receive_bytes_max: None };
    for _ in 0..2 {
        rig.machine.peer.connect(local, script).expect("it starts");
    }
    rig.steps(50);
    let id = rig.machine.host.accept(listener).expect("a listener").expect("one waits");
    rig.machine.host.unlisten(listener).expect("it ends");
    assert!(is_gone(rig.machine.host.accept(listener)));
    assert!(is_gone(rig.machine.host.unlisten(listener)));
    let kind = MemoryKind::Application;
    let region = rig.machine.host.register(FIRST, kind, 4096).expect("room");
    rig.machine.host.recv(id, region.span(0, BYTES), 1).expect("a request");
    rig.completion(|c| matches!(c, Completion::Received { request: 1, .. }));
    let failed = |rig: &mut crate::provider::rig::GoldenRig| {
        let all = rig.machine.peer.conversations();
        let is_failed = |progress: &Progress| matches!(progress, Progress::Failed(_));
        all.iter().filter(|c| is_failed(&c.progress)).count()
    };
    rig.until("the reset", |rig| failed(rig) > 0);
    // Nobody listens any more.
    rig.machine.peer.connect(local, script).expect("it starts");
    rig.until("the refusal", |rig| failed(rig) > 1);
    assert!(is_gone(rig.machine.host.accept(listener)));
    // The port is free.
    rig.machine.host.listen(FIRST, local).expect("a port");
}

#[test]
fn connection_tells_addresses_until_gone() {
    let (mut rig, id, _) = connect_idle();
    let (local, remote) = rig.machine.host.addresses(id).expect("a connection");
    assert_eq!(remote, peer_address(5001));
    let conversations = rig.machine.peer.conversations();
    assert_eq!(local, conversations[0].remote);
    rig.machine.host.close(id).expect("it closes");
    rig.completion(|c| *c == Completion::Closed(id));
    let gone = rig.machine.host.addresses(id);
    assert!(
        matches!(gone, Err(HostError::Request(RequestError::UnknownConnection(n))) if n == id.0)
    );
}
