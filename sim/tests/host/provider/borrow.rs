//! More requests than a flow's committed segments: a list is borrowed and returned.

use host::driver::bus::{Bus, MemoryKind};
use host::memory::ApplicationMapping;
use host::provider::{ApplicationId, Completion, ConnectionId, RegionId};
use host::transport::peer::{digest_of, RandomBytes, Script, WirePeer};
use lab::network_side::NetworkSide;

use crate::provider::calls::peer_address;
use crate::provider::rig::{assert_clean, golden, received_completion, verilated_rig, Rig};

const PEER_SEED: u64 = 5;
const SEED: u64 = 6;

fn bytes_of(seed: u64, bytes: u64) -> Vec<u8> {
    let mut all = vec![0; bytes as usize];
    RandomBytes::new(seed).fill(&mut all);
    all
}

/// Memory for `bytes` bytes, and a peer that sends as many on every connection.
fn prepare<B: Bus, C: NetworkSide>(
    rig: &mut Rig<B, C>,
    bytes: u64,
) -> (RegionId, ApplicationMapping) {
    let script = Script { send_bytes: bytes, seed: PEER_SEED, receive_bytes_max: None };
    rig.machine.peer.listen(peer_address(5001), script).expect("a port");
    let kind = MemoryKind::Application;
    let region = rig.machine.host.register(ApplicationId::FIRST, kind, 4 * bytes as usize);
    let region = region.expect("room");
    let memory = rig.machine.host.map(region).expect("a mapping");
    (region, memory)
}

fn connect<B: Bus, C: NetworkSide>(rig: &mut Rig<B, C>) -> ConnectionId {
    rig.machine.host.connect(ApplicationId::FIRST, peer_address(5001)).expect("it starts")
}

fn forty_each_way<B: Bus, C: NetworkSide>(rig: &mut Rig<B, C>) {
    const REQUESTS: u64 = 40;
    const BYTES: u64 = 1000;
    let all = REQUESTS * BYTES;
    let (region, mut memory) = prepare(rig, all);
    let outgoing = bytes_of(SEED, all);
    let id = connect(rig);
    for request in 0..REQUESTS {
        let (offset, bytes) = (request * BYTES, BYTES as u32);
        // From the end on: buffers that follow each other in memory would share segments.
        let from = all - BYTES - offset;
        memory.write(from as usize, &outgoing[offset as usize..][..BYTES as usize]);
        rig.machine.host.send(id, region.span(from, bytes), request).expect("a request");
        rig.machine
            .host
            .recv(id, region.span(all + offset, bytes), 1000 + request)
            .expect("a request");
    }
    rig.machine.host.finish(id).expect("it ends");
    let mut borrowed_most = 0;
    rig.until("the end of the stream", |rig| {
        borrowed_most = borrowed_most.max(rig.machine.host.counters().borrowed_entries);
        rig.completions.contains(&Completion::EndOfStream(id))
    });
    rig.until("everything sent", |rig| {
        let is_sent = |c: &&Completion| matches!(c, Completion::Sent { .. });
        rig.completions.iter().filter(is_sent).count() as u64 == REQUESTS
    });
    // 64 entries in each direction hold 40.
    assert_eq!(borrowed_most, 2 * 64);
    rig.until("both lists returned", |rig| rig.machine.host.counters().borrowed_entries == 0);
    assert_eq!(rig.machine.host.counters().list_refusals, 0);
    for request in 0..REQUESTS {
        let (request, bytes) = (1000 + request, BYTES as u32);
        let done = received_completion(id, request, bytes);
        assert!(rig.completions.contains(&done), "{done:?}");
    }
    let mut incoming = vec![0; all as usize];
    memory.read(all as usize, &mut incoming);
    assert!(incoming == bytes_of(PEER_SEED, all), "received bytes differ");
    let conversations = rig.machine.peer.conversations();
    assert_eq!(conversations[0].received_digest, digest_of(SEED, all));
}

#[test]
fn forty_requests_borrow_on_golden_card() {
    forty_each_way(&mut golden());
}

#[test]
fn forty_requests_borrow_on_verilated_card() {
    let mut rig = verilated_rig();
    forty_each_way(&mut rig);
    assert_clean(&rig.machine.card);
}

#[test]
fn flow_continues_when_pool_is_empty() {
    const REQUESTS: u64 = 3000;
    const BYTES: u64 = 128;
    const CONNECTIONS: u64 = 4;
    let all = REQUESTS * BYTES;
    let mut rig = golden();
    let (region, memory) = prepare(&mut rig, all);
    // The pool of the small card has pieces of 2048, 1024 and 512 entries.
    for number in 0..CONNECTIONS {
        let id = connect(&mut rig);
        for request in 0..REQUESTS {
            let (offset, bytes) = (number * all + request * BYTES, BYTES as u32);
            rig.machine.host.recv(id, region.span(offset, bytes), request).expect("a request");
        }
    }
    let mut borrowed_most = 0;
    rig.until("everything received", |rig| {
        borrowed_most = borrowed_most.max(rig.machine.host.counters().borrowed_entries);
        let is_received = |c: &&Completion| matches!(c, Completion::Received { .. });
        let done = rig.completions.iter().filter(is_received).count() as u64;
        done == CONNECTIONS * REQUESTS
    });
    assert_eq!(borrowed_most, 2048 + 1024 + 512);
    assert!(rig.machine.host.counters().list_refusals > 0);
    for number in 0..CONNECTIONS {
        let mut incoming = vec![0; all as usize];
        memory.read((number * all) as usize, &mut incoming);
        let expected = bytes_of(PEER_SEED, all);
        assert!(incoming == expected, "connection {number}");
    }
    rig.until("all lists returned", |rig| rig.machine.host.counters().borrowed_entries == 0);
}
