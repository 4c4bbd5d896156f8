//! Wrong calls.

use std::net::{IpAddr, SocketAddr};

use host::driver::bus::MemoryKind;
use host::driver::error::DriverError;
use host::driver::rings::RingSizes;
use host::error::application::ApplicationError;
use host::error::region::RegionError;
use host::error::request::RequestError;
use host::error::table::TableError;
use host::error::HostError;
use host::provider::{ApplicationId, Completion, ConnectOptions, ConnectionId, RegionId, ShardId};
use host::records::size::SizeError;
use host::transport::peer::{Script, WirePeer};
use host::transport::{ListenerId, TransportError};

use crate::provider::owners::harmed::{harm_application, Harm};
use crate::provider::rig::{cancelled_completion, failure, golden, GoldenRig};

const FIRST: ApplicationId = ApplicationId::FIRST;
const DRAM: MemoryKind = MemoryKind::Application;

pub fn peer_address(port: u16) -> SocketAddr {
    ([10, 77, 0, 2], port).into()
}

/// A rig with an open connection to a peer that sends nothing, and a region of 64 KiB.
pub fn connect_idle() -> (GoldenRig, ConnectionId, RegionId) {
    connected_on(golden())
}

fn connected_on(mut rig: GoldenRig) -> (GoldenRig, ConnectionId, RegionId) {
    rig.machine.peer.listen(peer_address(5001), Script::default()).expect("a port");
    let region = rig.machine.host.register(FIRST, DRAM, 64 << 10).expect("room");
    let id = rig.machine.host.connect(FIRST, peer_address(5001)).expect("a connection");
    rig.completion(|c| *c == Completion::Opened(id));
    (rig, id, region)
}

#[test]
fn refused_connection_fails_and_is_forgotten() {
    let mut rig = golden();
    let region = rig.machine.host.register(FIRST, DRAM, 4096).expect("room");
    let id = rig.machine.host.connect(FIRST, peer_address(9)).expect("it starts");
    rig.machine.host.recv(id, region.span(0, 4096), 77).expect("a request");
    rig.completion(|c| failure(c, id) == Some(libc::ECONNREFUSED));
    rig.completion(|c| *c == cancelled_completion(id, 77));
    rig.completion(|c| *c == Completion::Closed(id));
    let again = rig.machine.host.recv(id, region.span(0, 1), 0);
    assert!(
        matches!(again, Err(HostError::Request(RequestError::UnknownConnection(n))) if n == id.0)
    );
}

/// The address that is asked for is that of the connection; one that is refused leaves no name
/// taken.
#[test]
fn connection_begins_at_requested_local_address() {
    let mut rig = golden();
    rig.machine.peer.listen(peer_address(5001), Script::default()).expect("a port");
    let from = |host, port| ConnectOptions { local: Some(([10, 77, 0, host], port).into()) };
    for _ in 0..70_000 {
        let refused = rig.machine.host.connect_with(FIRST, peer_address(5001), &from(9, 4000));
        let Err(HostError::Transport(TransportError::NotLocal(ip))) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(ip, IpAddr::from([10, 77, 0, 9]));
    }
    let id = rig.machine.host.connect_with(FIRST, peer_address(5001), &from(1, 4000));
    let id = id.expect("a connection");
    rig.completion(|c| *c == Completion::Opened(id));
    let local = ([10, 77, 0, 1], 4000).into();
    assert_eq!(rig.machine.host.addresses(id).expect("it is open"), (local, peer_address(5001)));
}

#[test]
fn after_close_nothing_more_is_accepted() {
    let (mut rig, id, region) = connect_idle();
    rig.machine.host.finish(id).expect("it ends");
    let send = rig.machine.host.send(id, region.span(0, 1), 0);
    assert!(matches!(send, Err(HostError::Request(RequestError::Finished(n))) if n == id.0));
    rig.machine.host.recv(id, region.span(0, 1), 5).expect("the other half is open");
    rig.machine.host.close(id).expect("it closes");
    let recv = rig.machine.host.recv(id, region.span(0, 1), 6);
    assert!(matches!(recv, Err(HostError::Request(RequestError::Finished(n))) if n == id.0));
    let twice = rig.machine.host.close(id);
    assert!(matches!(twice, Err(HostError::Request(RequestError::Finished(n))) if n == id.0));
    rig.completion(|c| *c == Completion::Closed(id));
    let gone = rig.machine.host.close(id);
    assert!(
        matches!(gone, Err(HostError::Request(RequestError::UnknownConnection(n))) if n == id.0)
    );
}

#[test]
fn connection_closed_before_open_leaves_nothing() {
    let mut rig = golden();
    let id = rig.machine.host.connect(FIRST, peer_address(9)).expect("it starts");
    rig.machine.host.close(id).expect("it closes");
    rig.completion(|c| *c == Completion::Closed(id));
    assert_eq!(rig.completions, []);
}

#[test]
fn buffers_must_lie_in_existing_region() {
    let (mut rig, id, region) = connect_idle();
    let bad = |result: Result<(), HostError>| match result {
        Err(HostError::Region(RegionError::BadBuffer { offset, bytes, region_bytes })) => {
            (offset, bytes, region_bytes)
        }
        other => panic!("{other:?}"),
    };
    let all = 64 << 10;
    assert_eq!(bad(rig.machine.host.send(id, region.span(0, 0), 0)), (0, 0, all));
    let over = rig.machine.host.recv(id, region.span(1, all as u32), 0);
    assert_eq!(bad(over), (1, all, all));
    let wrap = rig.machine.host.send(id, region.span(u64::MAX, 2), 0);
    assert_eq!(bad(wrap), (u64::MAX, 2, all));
    let unknown = rig.machine.host.send(id, RegionId(40).span(0, 1), 0);
    assert!(matches!(unknown, Err(HostError::Region(RegionError::UnknownRegion(40)))));
    rig.machine.host.deregister(region).expect("it goes");
    let leaving = rig.machine.host.send(id, region.span(0, 1), 0);
    assert!(
        matches!(leaving, Err(HostError::Region(RegionError::UnknownRegion(n))) if n == region.0)
    );
    let twice = rig.machine.host.deregister(region);
    assert!(
        matches!(twice, Err(HostError::Region(RegionError::UnknownRegion(n))) if n == region.0)
    );
    assert!(matches!(
        rig.machine.host.map(region),
        Err(HostError::Region(RegionError::UnknownRegion(n))) if n == region.0
    ));
    let nothing = rig.machine.host.register(FIRST, DRAM, 0);
    assert!(matches!(
        nothing,
        Err(HostError::Size(SizeError { name: "region bytes", value: 0, .. }))
    ));
}

#[test]
fn application_uses_own_regions_only() {
    uses_its_own_regions_only(golden(), ApplicationId(1));
}

#[test]
fn application_keeps_regions_beside_harmed_one() {
    for harm in Harm::ALL {
        let mut rig = golden();
        let ApplicationId(first) = harm_application(&mut rig, harm).application;
        uses_its_own_regions_only(rig, ApplicationId(first + 1));
    }
}

/// `next` is the application that is opened next.
fn uses_its_own_regions_only(rig: GoldenRig, next: ApplicationId) {
    let (mut rig, id, _) = connected_on(rig);
    let other = rig.machine.host.open_application(ShardId::FIRST).expect("a domain");
    assert_eq!(other, next);
    let region = rig.machine.host.register(other, DRAM, 4096).expect("room");
    let foreign = rig.machine.host.recv(id, region.span(0, 1), 0);
    match foreign {
        Err(HostError::Region(RegionError::ForeignRegion {
            region: index,
            application,
            connection,
            user: 0,
        })) => {
            assert_eq!((index, application, connection), (region.0, next.0, id.0))
        }
        other => panic!("{other:?}"),
    }
    let nobody = ApplicationId(next.0 + 1);
    let unknown = |error: &HostError| match error {
        HostError::Application(ApplicationError::Unknown { application, open }) => {
            (*application, *open) == (nobody.0, usize::from(nobody.0))
        }
        _ => false,
    };
    let refused = rig.machine.host.register(nobody, DRAM, 1).unwrap_err();
    assert!(unknown(&refused), "{refused}");
    let refused = rig.machine.host.connect(nobody, peer_address(1)).unwrap_err();
    assert!(unknown(&refused), "{refused}");
    let local = ([10, 77, 0, 1], 80).into();
    let refused = rig.machine.host.listen(nobody, local).unwrap_err();
    assert!(unknown(&refused), "{refused}");
    let refused = rig.machine.host.accept(ListenerId(99)).unwrap_err();
    assert!(
        matches!(refused, HostError::Transport(TransportError::UnknownListener(ListenerId(99)))),
        "{refused}"
    );
}

/// The number that ran out and how many there were.
fn full(error: HostError) -> (&'static str, usize) {
    match error {
        HostError::Table(TableError::Full { what, limit }) => (what, limit),
        HostError::Driver(DriverError::OwnersFull { limit }) => ("owners", limit),
        other => panic!("{other}"),
    }
}

#[test]
fn exhausted_resource_is_named_with_limit() {
    let mut rig = golden();
    for number in 2..4 {
        let shard = rig.machine.host.open_shard(RingSizes::default());
        assert_eq!(shard.expect("an owner"), ShardId(number));
    }
    let owners = rig.machine.host.open_shard(RingSizes::default());
    assert_eq!(full(owners.unwrap_err()), ("owners", 4));
    for _ in 0..64 {
        rig.machine.host.register(FIRST, DRAM, 4096).expect("a region");
    }
    let regions = rig.machine.host.register(FIRST, DRAM, 4096);
    assert_eq!(full(regions.unwrap_err()), ("regions", 64));
}

#[test]
fn unacceptable_rings_are_refused() {
    let mut rig = golden();
    for (bits, field) in [(1, "send_bits"), (16, "send_bits")] {
        let rings = RingSizes { send_bits: bits, ..RingSizes::default() };
        match rig.machine.host.open_shard(rings) {
            Err(HostError::Driver(DriverError::Size(SizeError {
                name,
                value,
                min: 2,
                max: 15,
            }))) => {
                assert_eq!((name, value), (field, u64::from(bits)))
            }
            other => panic!("{other:?}"),
        }
    }
}
