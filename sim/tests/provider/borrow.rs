//! More requests than a flow's committed segments: a list is borrowed and returned.

use host::bus::MemoryKind;
use host::provider::{ApplicationId, Completion};
use host::transport::peer::{digest_of, RandomBytes, Script, WirePeer};

use crate::calls::peer_address;
use crate::rig::{assert_clean, verilated};

const REQUESTS: u64 = 40;
const BYTES: u64 = 1000;

#[test]
fn forty_requests_each_way_borrow_and_return() {
    let mut rig = verilated();
    let all = REQUESTS * BYTES;
    let script = Script {
        send_bytes: all,
        seed: 5,
        receive_bytes_max: None,
    };
    rig.peer.listen(peer_address(5001), script).expect("a port");
    let region = rig
        .provider
        .register(
            ApplicationId::FIRST,
            MemoryKind::Application,
            2 * all as usize,
        )
        .expect("room");
    let mut memory = rig.provider.map(region).expect("a mapping");
    let mut outgoing = vec![0; all as usize];
    RandomBytes::new(6).fill(&mut outgoing);
    memory.write(0, &outgoing);
    let id = rig
        .provider
        .connect(ApplicationId::FIRST, peer_address(5001))
        .expect("it starts");
    for request in 0..REQUESTS {
        let (offset, bytes) = (request * BYTES, BYTES as u32);
        rig.provider
            .send(id, region, offset, bytes, request)
            .expect("a request");
        rig.provider
            .recv(id, region, all + offset, bytes, false, 1000 + request)
            .expect("a request");
    }
    rig.provider.finish(id).expect("it ends");
    let mut borrowed_most = 0;
    rig.until("the end of the stream", |rig| {
        borrowed_most = borrowed_most.max(rig.provider.counters().borrowed_entries);
        rig.completions.contains(&Completion::EndOfStream(id))
    });
    rig.until("everything sent", |rig| {
        let sent = |c: &&Completion| matches!(c, Completion::Sent { .. });
        rig.completions.iter().filter(sent).count() as u64 == REQUESTS
    });
    // 64 entries in each direction hold 40.
    assert_eq!(borrowed_most, 2 * 64);
    rig.until("both lists returned", |rig| {
        rig.provider.counters().borrowed_entries == 0
    });
    assert_eq!(rig.provider.counters().list_refusals, 0);
    for request in 0..REQUESTS {
        let (request, bytes) = (1000 + request, BYTES as u32);
        let done = Completion::Received { request, bytes };
        assert!(rig.completions.contains(&done), "{done:?}");
    }
    let mut incoming = vec![0; all as usize];
    memory.read(all as usize, &mut incoming);
    let mut expected = vec![0; all as usize];
    RandomBytes::new(5).fill(&mut expected);
    assert!(incoming == expected, "received bytes differ");
    let conversations = rig.peer.conversations();
    assert_eq!(conversations[0].received_digest, digest_of(6, all));
    assert_clean(&rig.card);
}
