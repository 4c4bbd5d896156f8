//! Several owners on one card: what one may not do to the other, the card itself refuses.

mod domains;
pub mod harmed;
mod stall;
mod turns;

use abi::header_entry;
use abi::reason::{CommandStatus, Disposition, SendError};
use host::control::regions::Region;
use host::driver::bus::{Bus, MemoryKind};
use host::driver::device::{Device, DeviceConfig};
use host::driver::error::DriverError;
use host::driver::rings::{HeaderEntry, RingSizes};
use host::headers::packet::{flow_key, parse_tcp};
use host::records::commands::{
    floor_set, flow_install, flow_remove, segment_post, Acceptance, Direction, Entry, FlowInstall,
    FlowName, List, Segment,
};
use host::records::descriptor::{raw, send, Payload};
use host::records::queue::QueueError;
use lab::frame::Frame;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::machine::CardModel;
use pcie_sim::PcieConfig;
use sim::bus::SimulatedBus;
use sim::direct::Direct;
use sim::harness::traffic::{Addresses, PacketSpec};

use crate::provider::rig::{assert_clean, verilated_card};

const ROUNDS: u32 = 400;
const BYTES: usize = 4096;
const FLOOR: u32 = 1000;

/// A frame of flow `number` (10.0.0.`number` to port 80) with `payload` at a position.
pub fn frame(number: u8, position: u32, payload: &[u8]) -> Frame {
    let spec = PacketSpec::tcp(
        Addresses::V4([10, 0, 0, number], [10, 0, 0, 100]),
        (4000, 80),
        (position, 1),
        0x10,
        payload.to_vec(),
    );
    Frame { bytes: spec.frame(0), ..Frame::default() }
}

/// A machine with two owners beside the driver's.
struct Bench<B: Bus, C: CardModel> {
    direct: Direct<B, C>,
}

impl<B: Bus, C: CardModel> Bench<B, C> {
    fn new(bus: B, card: C) -> Self {
        let mut direct = Direct::on(bus, card, DeviceConfig::with_seed(1));
        for number in 1..3 {
            let owner = direct.machine.host.device.open_owner(RingSizes::default());
            assert_eq!(owner.expect("an owner"), number);
        }
        Self { direct }
    }

    fn device(&mut self) -> &mut Device<B> {
        &mut self.direct.machine.host.device
    }

    fn run(&mut self, owner: u8, entry: Entry) -> Result<(), CommandStatus> {
        let ticket = self.device().command_of(owner, entry).expect("an owner");
        self.direct.wait(ticket);
        match self.device().take_refused() {
            Some(refused) => {
                assert_eq!(refused.ticket, ticket);
                Err(refused.status)
            }
            None => Ok(()),
        }
    }

    /// A region of an owner's domain, and a flow of it with the owner's number.
    fn give(&mut self, owner: u8) -> (Region, FlowName) {
        let kind = MemoryKind::Application;
        let memory = self.device().bus().allocate(kind, BYTES, BYTES).expect("room");
        let registered = self.direct.machine.host.regions.register(memory, owner.into());
        let (region, mut commands) = registered.expect("room");
        let name = FlowName { flow: owner.into(), generation: 1 };
        let list = List::committed(name.flow);
        commands.push(flow_install(&FlowInstall {
            name,
            owner,
            domain: owner.into(),
            acceptance: acceptance(FLOOR),
            send_floor: 0,
            lists: [(list.base, list.bits); 2],
        }));
        let remote = ([10, 0, 0, owner], 4000).into();
        let key = flow_key(remote, ([10, 0, 0, 100], 80).into());
        commands.extend(self.direct.machine.host.keys.insert(key, name.flow).expect("a slot"));
        for entry in commands {
            assert_eq!(self.run(0, entry), Ok(()));
        }
        (region, name)
    }

    /// The entry of the next frame or event.
    fn entry(&mut self) -> HeaderEntry {
        let mut entry = HeaderEntry::default();
        for _ in 0..ROUNDS {
            self.device().poll().expect("it polls");
            if self.device().next_header(&mut entry).expect("a queue") {
                self.device().return_headers().expect("a doorbell");
                return entry;
            }
            self.device().bus().advance().expect("time passes");
        }
        panic!("no entry");
    }
}

fn acceptance(floor: u32) -> Acceptance {
    Acceptance { floor, ack_low: 0, ack_high: u32::MAX, ..Acceptance::default() }
}

fn segment(region: &Region) -> Segment {
    Segment {
        index: 0,
        position: FLOOR,
        bytes: BYTES as u32,
        region: region.index,
        region_key: region.key,
        offset: 0,
    }
}

fn disposition(entry: &HeaderEntry) -> Option<Disposition> {
    Disposition::from_code(header_entry::DISPOSITION.get(&entry.metadata) as u8)
}

fn isolation<B: Bus, C: CardModel>(bus: B, card: C) {
    let mut bench = Bench::new(bus, card);
    let (region_1, flow_1) = bench.give(1);
    let (region_2, flow_2) = bench.give(2);
    let post = |name, region| segment_post(name, Direction::Receive, &segment(region));
    // Owner 1 in its own domain: placed, and told to owner 1.
    assert_eq!(bench.run(1, post(flow_1, &region_1)), Ok(()));
    bench.direct.machine.card.receive(frame(1, FLOOR, b"first"));
    let entry = bench.entry();
    assert_eq!((entry.owner, disposition(&entry)), (1, Some(Disposition::PlacedInOrder)));
    assert_eq!(bench.direct.memory(&region_1.memory)[..5], *b"first");
    // Owner 2 posts memory of owner 1 for its own flow: the region refuses.
    assert_eq!(bench.run(2, post(flow_2, &region_1)), Ok(()));
    bench.direct.machine.card.receive(frame(2, FLOOR, b"stray"));
    let entry = bench.entry();
    assert_eq!((entry.owner, disposition(&entry)), (2, Some(Disposition::RegionRefused)));
    assert_eq!(entry.deferred.as_deref(), Some(&b"stray"[..]));
    assert_eq!(bench.direct.memory(&region_1.memory)[..5], *b"first");
    assert_eq!(bench.direct.memory(&region_2.memory), [0; BYTES]);
    // Owner 2 touches the flow of owner 1, and an owner does what only owner 0 may.
    let foreign = floor_set(flow_1, acceptance(FLOOR + 100), 0);
    assert_eq!(bench.run(2, foreign), Err(CommandStatus::NotOwner));
    let privileged = flow_remove(flow_1);
    assert_eq!(bench.run(1, privileged), Err(CommandStatus::NotOwner));
    bench.direct.machine.card.receive(frame(1, FLOOR + 5, b" second"));
    let entry = bench.entry();
    assert_eq!((entry.owner, disposition(&entry)), (1, Some(Disposition::PlacedInOrder)));
    assert_eq!(bench.direct.memory(&region_1.memory)[..12], *b"first second");
    // A packet without a flow is owner 0's.
    bench.direct.machine.card.receive(frame(9, 0, b"who?"));
    let entry = bench.entry();
    assert_eq!((entry.owner, disposition(&entry)), (0, Some(Disposition::NoFlow)));
    sends_are_kept_apart(&mut bench, flow_1);
}

/// Owner 2 sends from the flow of owner 1: it gets the event, the wire gets nothing.
fn sends_are_kept_apart<B: Bus, C: CardModel>(bench: &mut Bench<B, C>, flow_1: FlowName) {
    let stolen = frame(1, 0, b"stolen").bytes;
    let parsed = parse_tcp(&stolen).expect("TCP");
    let payload =
        Payload { name: flow_1, position: FLOOR, bytes: 6, mss_bytes: 1460, segment_index: 0 };
    let descriptor = send(&stolen[..54], (&parsed).into(), &payload);
    bench.device().send_of(2, descriptor).expect("an owner");
    let entry = bench.entry();
    let code = header_entry::DISPOSITION.get(&entry.metadata) as u8;
    assert_eq!((entry.owner, SendError::from_code(code)), (2, Some(SendError::SendBadFlow)));
    assert_eq!(bench.direct.machine.take_sent(), []);
    // Nobody else is there.
    let refused = bench.device().command_of(7, [0; 64]).unwrap_err();
    assert!(matches!(refused, QueueError::UnknownOwner { owner: 7, open: 3 }), "{refused}");
    let refused = bench.device().send_of(3, raw(&[0; 60])).unwrap_err();
    assert!(matches!(refused, DriverError::UnknownOwner { owner: 3, open: 3 }), "{refused}");
}

#[test]
fn golden_card_keeps_owners_apart() {
    let card = GoldenCard::late(abi::config::SMALL, seed::seed());
    isolation(GoldenBus::new(card.clone()), card);
}

#[test]
fn verilated_card_keeps_owners_apart() {
    let card = verilated_card();
    let bus = SimulatedBus::new(card.clone(), &PcieConfig::default()).expect("a bus");
    isolation(bus, card.clone());
    assert_clean(&card);
}
