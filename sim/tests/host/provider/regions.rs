//! Regions that come and go under connections.

use host::driver::bus::MemoryKind;
use host::driver::rings::RingSizes;
use host::failure::Failure;
use host::provider::{ApplicationId, Completion, ShardId};
use host::transport::peer::{Script, WirePeer};
use lab::network_side::NetworkSide;

use crate::provider::calls::peer_address;
use crate::provider::owners::harmed::{harm_application, Harm};
use crate::provider::rig::{
    cancelled_completion, golden, sent_completion, slow_commands, GoldenRig,
};

const FIRST: ApplicationId = ApplicationId::FIRST;
const DRAM: MemoryKind = MemoryKind::Application;

/// A buffer is posted in a region that goes; the region's index goes to another application; then
/// the bytes come, deferred.
#[test]
fn missing_regions_bytes_reach_nobody_else() {
    let mut rig = golden();
    let script = Script { send_bytes: 3000, seed: 7, receive_bytes_max: None };
    rig.machine.peer.listen(peer_address(5001), script).unwrap();
    let gone = rig.machine.host.register(FIRST, DRAM, 4096).unwrap();
    rig.hold = (0..1000).collect();
    let id = rig.machine.host.connect(FIRST, peer_address(5001)).unwrap();
    rig.completion(|c| *c == Completion::Opened(id));
    rig.machine.host.recv(id, gone.span(0, 2000), 1).unwrap();
    rig.until("two packets held", |rig| rig.held.len() >= 2);
    rig.machine.host.deregister(gone).unwrap();
    rig.steps(50);
    let other = rig.machine.host.open_application(ShardId::FIRST).unwrap();
    let next = rig.machine.host.register(other, DRAM, 4096).unwrap();
    assert_eq!(next, gone, "the test needs the index to be used again");
    let mut memory = rig.machine.host.map(next).unwrap();
    memory.write(0, &[0x11; 4096]);
    rig.hold.clear();
    for frame in std::mem::take(&mut rig.held) {
        rig.machine.card.receive(frame);
    }
    let failed =
        Completion::Failed { connection: id, reason: Failure::UnknownRegion { region: 0 } };
    rig.completion(|c| *c == failed);
    rig.completion(|c| *c == cancelled_completion(id, 1));
    let mut now = vec![0; 4096];
    memory.read(0, &mut now);
    assert_eq!(now, [0x11; 4096]);
}

/// The region is made known through owner 0's ring, its segments go through the shard's.
#[test]
fn fresh_region_of_shard_sends_immediately() {
    fresh_region(&mut slow_commands());
}

#[test]
fn fresh_region_sends_beside_harmed_application() {
    for harm in Harm::ALL {
        let mut rig = slow_commands();
        harm_application(&mut rig, harm);
        fresh_region(&mut rig);
    }
}

fn fresh_region(rig: &mut GoldenRig) {
    rig.machine.peer.listen(peer_address(5001), Script::default()).unwrap();
    let shard = rig.machine.host.open_shard(RingSizes::default()).unwrap();
    let other = rig.machine.host.open_application(shard).unwrap();
    let id = rig.machine.host.connect(other, peer_address(5001)).unwrap();
    rig.completion(|c| *c == Completion::Opened(id));
    for _ in 0..30 {
        rig.machine.host.register(FIRST, DRAM, 4096).unwrap();
    }
    let region = rig.machine.host.register(other, DRAM, 4096).unwrap();
    rig.machine.host.send(id, region.span(0, 1000), 5).unwrap();
    let ends = |c: &Completion| match c {
        Completion::Sent { connection, .. }
        | Completion::Cancelled { connection, .. }
        | Completion::Failed { connection, .. } => *connection == id,
        _ => false,
    };
    let first = rig.completion(ends);
    assert_eq!(first, sent_completion(id, 5));
}
