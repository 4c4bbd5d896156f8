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
    let listener = rig.provider.listen(FIRST, local).expect("a port");
    let script = Script { send_bytes: BYTES.into(), seed: 7, receive_bytes_max: None };
    for _ in 0..2 {
        rig.peer.connect(local, script).expect("it starts");
    }
    rig.steps(50);
    let id = rig.provider.accept(listener).expect("a listener");
    let id = id.expect("one waits");
    rig.provider.unlisten(listener).expect("it ends");
    assert!(is_gone(rig.provider.accept(listener)));
    assert!(is_gone(rig.provider.unlisten(listener)));
    let kind = MemoryKind::Application;
    let region = rig.provider.register(FIRST, kind, 4096).expect("room");
    let recv = rig.provider.recv(id, region.span(0, BYTES), 1);
    recv.expect("a request");
    rig.completion(|c| matches!(c, Completion::Received { request: 1, .. }));
    let failed = |rig: &mut crate::provider::rig::GoldenRig| {
        let all = rig.peer.conversations();
        let is_failed = |progress: &Progress| matches!(progress, Progress::Failed(_));
        all.iter().filter(|c| is_failed(&c.progress)).count()
    };
    rig.until("the reset", |rig| failed(rig) > 0);
    // Nobody listens any more.
    rig.peer.connect(local, script).expect("it starts");
    rig.until("the refusal", |rig| failed(rig) > 1);
    assert!(is_gone(rig.provider.accept(listener)));
    // The port is free.
    rig.provider.listen(FIRST, local).expect("a port");
}

#[test]
fn connection_tells_addresses_until_gone() {
    let (mut rig, id, _) = connect_idle();
    let (local, remote) = rig.provider.addresses(id).expect("a connection");
    assert_eq!(remote, peer_address(5001));
    let conversations = rig.peer.conversations();
    assert_eq!(local, conversations[0].remote);
    rig.provider.close(id).expect("it closes");
    rig.completion(|c| *c == Completion::Closed(id));
    let gone = rig.provider.addresses(id);
    assert!(
        matches!(gone, Err(HostError::Request(RequestError::UnknownConnection(n))) if n == id.0)
    );
}
