//! What a connection may ask for, and what is held for it.

use host::driver::bus::MemoryKind;
use host::driver::error::HostError;
use host::provider::{ApplicationId, Completion};
use host::transport::peer::{Script, WirePeer};

use crate::calls::{connected, peer_address};
use crate::rig::golden;

const FIRST: ApplicationId = ApplicationId::FIRST;
/// Requests that may be open in one direction.
const REQUESTS_MAX: u64 = 8192;
const PACKET_BYTES: u32 = 1460;

fn is_refused(result: Result<(), HostError>, of: u32) -> bool {
    match result {
        Ok(()) => false,
        Err(HostError::TooManyRequests { connection, limit }) => {
            assert_eq!((connection, limit as u64), (of, REQUESTS_MAX));
            true
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn open_requests_are_limited_until_completions_come() {
    let (mut rig, id, region) = connected();
    for request in 0..REQUESTS_MAX {
        let send = rig.provider.send(id, region, request, 1, request);
        send.expect("below the limit");
    }
    let provider = &mut rig.provider;
    assert!(is_refused(provider.send(id, region, 0, 1, 0), id.0));
    // The other direction has a limit of its own.
    for request in 0..REQUESTS_MAX {
        let recv = provider.recv(id, region, request, 1, false, request);
        recv.expect("below the limit");
    }
    assert!(is_refused(provider.recv(id, region, 0, 1, false, 0), id.0));
    let sent = |c: &Completion| matches!(c, Completion::Sent { .. });
    rig.until("a completion", |rig| rig.completions.iter().any(sent));
    let free = rig.completions.iter().filter(|c| sent(c)).count();
    for request in 0..free as u64 {
        let send = rig.provider.send(id, region, 0, 1, request);
        send.expect("one for each completion");
    }
    assert!(is_refused(rig.provider.send(id, region, 0, 1, 0), id.0));
}

#[test]
fn requests_before_the_handshake_are_limited_too() {
    let mut rig = golden();
    let kind = MemoryKind::Application;
    let region = rig.provider.register(FIRST, kind, 64 << 10).expect("room");
    let id = rig.provider.connect(FIRST, peer_address(5001));
    let id = id.expect("it starts");
    for request in 0..REQUESTS_MAX {
        let recv = rig.provider.recv(id, region, request, 1, false, request);
        recv.expect("below the limit");
    }
    let recv = rig.provider.recv(id, region, 0, 1, false, 0);
    assert!(is_refused(recv, id.0));
}

/// The first packet is lost, so the others are placed ahead and have to be remembered.
#[test]
fn what_is_held_for_a_connection_is_counted_until_it_is_closed() {
    let mut rig = golden();
    let script = Script {
        send_bytes: 3 * u64::from(PACKET_BYTES),
        seed: 7,
        receive_bytes_max: None,
    };
    rig.peer.listen(peer_address(5001), script).expect("a port");
    let kind = MemoryKind::Application;
    let region = rig.provider.register(FIRST, kind, 8192).expect("room");
    rig.hold = vec![0];
    let id = rig.provider.connect(FIRST, peer_address(5001));
    let id = id.expect("it starts");
    rig.provider
        .recv(id, region, 0, 3 * PACKET_BYTES, false, 1)
        .expect("a request");
    assert_eq!(rig.provider.counters().held_bytes, 0);
    rig.until("held bytes", |rig| rig.provider.counters().held_bytes > 0);
    rig.cut = true;
    rig.provider.close(id).expect("it closes");
    rig.completion(|c| *c == Completion::Closed(id));
    assert_eq!(rig.provider.counters().held_bytes, 0);
}
