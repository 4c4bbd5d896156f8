//! The owners' header queues take turns: who is flooded holds up nobody else.

use abi::config::SMALL;
use host::driver::device::{Device, DeviceConfig};
use host::driver::rings::{HeaderEntry, RingSizes};
use host::headers::packet::parse_tcp;
use host::records::commands::FlowName;
use host::records::descriptor::{send, Payload};
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::network_side::NetworkSide;

use crate::provider::owners::frame;

/// Entries of a turn.
const TURN: usize = 32;

/// Sends of a flow that nobody installed: its owner gets an event.
fn fail(device: &mut Device<GoldenBus>, owner: u8) {
    let packet = frame(9, 0, b"nobody's").bytes;
    let payload = Payload {
        name: FlowName { flow: 9, generation: 1 },
        position: 0,
        bytes: 8,
        mss_bytes: 1460,
        segment_index: 0,
    };
    let parsed = parse_tcp(&packet).expect("TCP");
    let descriptor = send(&packet[..54], (&parsed).into(), &payload);
    device.send_of(owner, descriptor).expect("an owner");
}

/// Owner 0 gets one more packet for each that is taken: its queue is never empty.
#[test]
fn flooded_owner_leaves_others_their_turn() {
    let mut card = GoldenCard::new(SMALL);
    let bus = GoldenBus::new(card.clone());
    let mut device = Device::open(bus, DeviceConfig::with_seed(1)).expect("it opens");
    for number in 1..3 {
        let owner = device.open_owner(RingSizes::default());
        assert_eq!(owner.expect("an owner"), number);
    }
    for position in 0..2 * TURN as u32 {
        card.receive(frame(9, position, b""));
    }
    for owner in [1, 2, 2] {
        fail(&mut device, owner);
    }
    device.poll().expect("it polls");
    let (mut owners, mut entry) = (Vec::new(), HeaderEntry::default());
    for _ in 0..4 * TURN {
        card.receive(frame(9, 1000, b""));
        assert!(device.next_header(&mut entry).expect("a queue"));
        device.return_headers().expect("a doorbell");
        owners.push(entry.owner);
    }
    let mut expected = vec![0; 4 * TURN];
    expected[TURN..TURN + 3].copy_from_slice(&[1, 2, 2]);
    assert_eq!(owners, expected);
}

/// Packets that came before their flow was installed are in owner 0's queue: whoever had the last
/// turn, the next one after a pause is its.
#[test]
fn owner_0_is_first_after_pause() {
    let mut card = GoldenCard::new(SMALL);
    let bus = GoldenBus::new(card.clone());
    let mut device = Device::open(bus, DeviceConfig::with_seed(1)).expect("it opens");
    device.open_owner(RingSizes::default()).expect("an owner");
    let mut entry = HeaderEntry::default();
    for last in [0, 1] {
        match last {
            0 => card.receive(frame(9, 0, b"")),
            _ => fail(&mut device, 1),
        }
        device.poll().expect("it polls");
        assert!(device.next_header(&mut entry).expect("a queue"));
        assert_eq!(entry.owner, last);
        assert!(!device.next_header(&mut entry).expect("a queue"));
        fail(&mut device, 1);
        device.poll().expect("it polls");
        card.receive(frame(9, 0, b""));
        for owner in [0, 1] {
            assert!(device.next_header(&mut entry).expect("a queue"));
            assert_eq!(entry.owner, owner, "after a turn of {last}");
        }
        assert!(!device.next_header(&mut entry).expect("a queue"));
        device.return_headers().expect("a doorbell");
    }
}
