//! Applications that share a shard: each reaches its own memory alone, and there may be thousands.

use std::collections::HashSet;

use abi::reason::Disposition;
use host::driver::bus::MemoryKind;
use host::driver::error::DriverError;
use host::error::application::ApplicationError;
use host::error::region::RegionError;
use host::error::table::TableError;
use host::error::HostError;
use host::headers::layout::ACK;
use host::provider::{ApplicationId, Completion, ShardId};
use host::records::commands::{segment_post, Direction, FlowName, Segment};
use host::transport::peer::{Script, WirePeer};

use crate::provider::calls::peer_address;
use crate::provider::owners::harmed::{harm_application, Harm};
use crate::provider::rig::{golden, GoldenRig};

const FIRST: ApplicationId = ApplicationId::FIRST;
const DRAM: MemoryKind = MemoryKind::Application;
const BYTES: usize = 1000;

/// Packets whose payload a region refused.
fn refusals(rig: &mut GoldenRig) -> u64 {
    let counters = rig.machine.host.device().counters().expect("counters");
    let name = Disposition::RegionRefused.name();
    let counter = counters.into_iter().find(|(other, _)| *other == name);
    counter.expect("it is counted").1
}

/// What a packet of the first application's connection does when the shard's command ring posts a
/// segment of a region: how often it was refused, and the first byte of the region after it.
fn posted_past_the_provider(mut rig: GoldenRig, of_other: bool) -> (u64, u8) {
    rig.machine.peer.listen(peer_address(5001), Script::default()).unwrap();
    let other = rig.machine.host.open_application(ShardId::FIRST).unwrap();
    let application = if of_other { other } else { FIRST };
    let region = rig.machine.host.register(application, DRAM, 4096).unwrap();
    let mut memory = rig.machine.host.map(region).unwrap();
    memory.write(0, &[0x11; BYTES]);
    let id = rig.machine.host.connect(FIRST, peer_address(5001)).unwrap();
    rig.completion(|c| *c == Completion::Opened(id));
    rig.steps(5);
    let (position, acknowledgement, ports) = rig.peer_next_at(5001);
    let segment =
        Segment { index: 0, position, bytes: 4096, region: region.0, region_key: 1, offset: 0 };
    let flow = FlowName { flow: id.0 as u16, generation: 1 };
    let device = rig.machine.host.device();
    let entry = segment_post(flow, Direction::Receive, &segment);
    let ticket = device.command_of(ShardId::FIRST.0, entry).unwrap();
    rig.until("a segment", |rig| rig.machine.host.device().is_confirmed(ticket));
    assert!(rig.machine.host.device().take_refused().is_none());
    rig.forge(ports, (position, acknowledgement), ACK, &[0x22; BYTES]);
    rig.steps(5);
    let mut now = [0; BYTES];
    memory.read(0, &mut now);
    assert!(now.iter().all(|byte| *byte == now[0]), "a part was written");
    (refusals(&mut rig), now[0])
}

/// The provider refuses a buffer of another application of the shard. A segment that is posted past
/// it the card refuses, packet by packet.
#[test]
fn applications_of_shard_keep_memory_apart() {
    buffers_of_the_other_are_refused(golden());
    assert_eq!(posted_past_the_provider(golden(), false), (0, 0x22));
    assert_eq!(posted_past_the_provider(golden(), true), (1, 0x11));
}

#[test]
fn applications_stay_apart_beside_harmed_one() {
    let beside = |harm| {
        let mut rig = golden();
        harm_application(&mut rig, harm);
        rig
    };
    for harm in Harm::ALL {
        buffers_of_the_other_are_refused(beside(harm));
        assert_eq!(posted_past_the_provider(beside(harm), false), (0, 0x22), "{harm:?}");
        assert_eq!(posted_past_the_provider(beside(harm), true), (1, 0x11), "{harm:?}");
    }
}

fn buffers_of_the_other_are_refused(mut rig: GoldenRig) {
    let other = rig.machine.host.open_application(ShardId::FIRST).unwrap();
    let region = rig.machine.host.register(other, DRAM, 4096).unwrap();
    let id = rig.machine.host.connect(FIRST, peer_address(5001)).unwrap();
    for foreign in [
        rig.machine.host.recv(id, region.span(0, 4096), 1),
        rig.machine.host.send(id, region.span(0, 4096), 2),
    ] {
        match foreign {
            Err(HostError::Region(RegionError::ForeignRegion { application, user, .. })) => {
                assert_eq!((application, user), (other.0, FIRST.0))
            }
            other => panic!("{other:?}"),
        }
    }
}

/// As many clients as a card has domains but for the provider's, in the rings of one shard. Some of
/// them register memory, in turn, that the first one cannot use.
#[test]
fn every_domain_may_be_shards_client() {
    const DOMAINS: usize = (1 << 16) - 1;
    let mut rig = golden();
    rig.machine.peer.listen(peer_address(5001), Script::default()).unwrap();
    let id = rig.machine.host.connect(FIRST, peer_address(5001)).unwrap();
    let mut names = HashSet::from([FIRST]);
    for number in 1..DOMAINS {
        let application = rig.machine.host.open_application(ShardId::FIRST).unwrap();
        assert!(names.insert(application), "{application:?} twice");
        if number % 1024 == 0 {
            let region = rig.machine.host.register(application, DRAM, 4096).unwrap();
            match rig.machine.host.recv(id, region.span(0, 1), 1) {
                Err(HostError::Region(RegionError::ForeignRegion {
                    application: other,
                    user: 0,
                    ..
                })) => {
                    assert_eq!(other, application.0)
                }
                other => panic!("{other:?}"),
            }
            rig.machine.host.deregister(region).unwrap();
            rig.steps(3);
        }
    }
    match rig.machine.host.open_application(ShardId::FIRST) {
        Err(HostError::Table(TableError::Full { what, limit })) => {
            assert_eq!((what, limit), ("domains", DOMAINS))
        }
        other => panic!("{other:?}"),
    }
}

/// What an application still has keeps its domain from being another's.
#[test]
fn domain_is_reused_once_empty() {
    used_again(golden(), ApplicationId(1), 2);
}

#[test]
fn domain_is_reused_beside_harmed_application() {
    for harm in Harm::ALL {
        let mut rig = golden();
        let ApplicationId(first) = harm_application(&mut rig, harm).application;
        used_again(rig, ApplicationId(first + 1), 3);
    }
}

/// `next` is the application that is opened next, `shards` the number of those and of the driver's.
fn used_again(mut rig: GoldenRig, next: ApplicationId, shards: u8) {
    rig.machine.peer.listen(peer_address(5001), Script::default()).unwrap();
    let busy =
        |rig: &mut GoldenRig, application| match rig.machine.host.close_application(application) {
            Err(HostError::Application(ApplicationError::Busy {
                listeners,
                connections,
                regions,
                ..
            })) => Some((listeners, connections, regions)),
            Ok(()) => None,
            other => panic!("{other:?}"),
        };
    let other = rig.machine.host.open_application(ShardId::FIRST).unwrap();
    let region = rig.machine.host.register(other, DRAM, 4096).unwrap();
    let id = rig.machine.host.connect(other, peer_address(5001)).unwrap();
    let local = ([10, 77, 0, 1], 80).into();
    let listener = rig.machine.host.listen(other, local).unwrap();
    rig.completion(|c| *c == Completion::Opened(id));
    assert_eq!(busy(&mut rig, other), Some((1, 1, 1)));
    rig.machine.host.unlisten(listener).unwrap();
    rig.machine.host.close(id).unwrap();
    rig.machine.host.deregister(region).unwrap();
    assert_eq!(busy(&mut rig, other), Some((0, 1, 1)), "on their way out");
    rig.completion(|c| *c == Completion::Closed(id));
    rig.steps(5);
    assert_eq!(busy(&mut rig, other), None);
    for gone in [
        rig.machine.host.close_application(other),
        rig.machine.host.register(other, DRAM, 4096).map(drop),
    ] {
        assert!(
            matches!(
                gone,
                Err(HostError::Application(ApplicationError::Unknown { application, .. }))
                    if application == next.0
            ),
            "{gone:?}"
        );
    }
    let again = rig.machine.host.open_application(ShardId::FIRST).unwrap();
    assert_eq!((again, other), (next, next));
    assert_eq!(rig.machine.host.close_application(FIRST).ok(), Some(()));
    // Owner 0 is the driver's, and there is no further shard yet.
    for shard in [0, shards] {
        let refused = rig.machine.host.open_application(ShardId(shard));
        match refused {
            Err(HostError::Driver(DriverError::UnknownOwner { owner, open })) => {
                assert_eq!((owner, open), (shard, shards.into()))
            }
            other => panic!("{other:?}"),
        }
    }
}
