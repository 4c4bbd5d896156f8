//! Hash secrets are changed while a connection receives.

use host::driver::bus::{Bus, MemoryKind};
use host::error::request::RequestError;
use host::error::HostError;
use host::provider::{ApplicationId, Completion};
use host::transport::peer::{RandomBytes, Script, WirePeer};
use lab::network_side::NetworkSide;

use crate::provider::calls::peer_address;
use crate::provider::rig::{assert_clean, golden, prompt, verilated_rig, Rig};

const FIRST: ApplicationId = ApplicationId::FIRST;
const BYTES: u32 = 400_000;
/// Stream bytes at which the secrets are changed.
const PIECE_BYTES: u32 = BYTES / 4;

/// The same; only what comes while the secrets change is copied.
fn receive_across<B: Bus, C: NetworkSide>(rig: &mut Rig<B, C>) {
    let mut settled_bytes = None;
    change_under_stream(rig, |request, copied_bytes| match request {
        0 => assert_eq!(copied_bytes, 0),
        // Its key is set again: nothing more is copied.
        2 => settled_bytes = Some(copied_bytes),
        3 => assert_eq!(Some(copied_bytes), settled_bytes),
        _ => {}
    });
}

/// Receives a stream in four buffers; the secrets are changed behind the first one. `judge` is told
/// of each buffer, and how many bytes were copied until then.
fn change_under_stream<B: Bus, C: NetworkSide>(
    rig: &mut Rig<B, C>,
    mut judge: impl FnMut(u64, u64),
) {
    let script = Script { send_bytes: BYTES.into(), seed: 9, receive_bytes_max: None };
    rig.machine.peer.listen(peer_address(5001), script).expect("a port");
    let region =
        rig.machine.host.register(FIRST, MemoryKind::Application, BYTES as usize).expect("room");
    let memory = rig.machine.host.map(region).expect("it maps");
    let id = rig.machine.host.connect(FIRST, peer_address(5001)).expect("it starts");
    for request in 0..4 {
        let at = request * u64::from(PIECE_BYTES);
        rig.machine.host.recv(id, region.span(at, PIECE_BYTES), request).expect("a request");
    }
    let is_done = |wanted: u64| {
        move |c: &Completion| match c {
            Completion::Received { request, .. } => *request == wanted,
            _ => false,
        }
    };
    rig.completion(is_done(0));
    judge(0, rig.machine.host.counters().copied_payload_bytes);
    let before = *rig.machine.host.device().secrets();
    rig.machine.host.rekey(Some(77)).expect("all keys have room");
    let again = rig.machine.host.rekey(None);
    assert!(matches!(again, Err(HostError::Request(RequestError::Rekeying))), "{again:?}");
    rig.until("new secrets", |rig| !rig.machine.host.is_rekeying());
    assert!(*rig.machine.host.device().secrets() != before);
    for request in 1..4 {
        rig.completion(is_done(request));
        judge(request, rig.machine.host.counters().copied_payload_bytes);
    }
    let (mut found, mut expected) = (vec![0; BYTES as usize], vec![0; BYTES as usize]);
    memory.read(0, &mut found);
    RandomBytes::new(9).fill(&mut expected);
    assert!(found == expected, "a byte in the wrong place");
}

#[test]
fn secrets_change_under_golden_cards_stream() {
    receive_across(&mut prompt());
}

/// However late the card is: the bytes are right, those that had to be copied as well.
#[test]
fn secrets_change_under_late_cards_stream() {
    let mut rig = golden();
    change_under_stream(&mut rig, |_, _| {});
}

#[test]
fn secrets_change_under_verilated_cards_stream() {
    let mut rig = verilated_rig();
    receive_across(&mut rig);
    assert_clean(&rig.machine.card);
}

/// No key of a connection that goes meanwhile is left, and one that opens is found.
#[test]
fn connections_change_during_secret_change() {
    let mut rig = golden();
    rig.machine.peer.listen(peer_address(5001), Script::default()).expect("a port");
    let open = |rig: &mut crate::provider::rig::GoldenRig| {
        let id = rig.machine.host.connect(FIRST, peer_address(5001));
        id.expect("it starts")
    };
    let leaving = open(&mut rig);
    rig.completion(|c| *c == Completion::Opened(leaving));
    rig.machine.host.rekey(None).expect("room");
    let coming = open(&mut rig);
    rig.machine.host.close(leaving).expect("it closes");
    rig.completion(|c| *c == Completion::Opened(coming));
    rig.completion(|c| *c == Completion::Closed(leaving));
    assert!(!rig.machine.host.is_rekeying());
    rig.machine.host.rekey(Some(1)).expect("room");
    rig.until("new secrets", |rig| !rig.machine.host.is_rekeying());
    rig.machine.host.close(coming).expect("it closes");
    rig.completion(|c| *c == Completion::Closed(coming));
}
