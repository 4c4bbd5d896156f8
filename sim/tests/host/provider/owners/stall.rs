//! An owner that leaves its header queue full and goes on with sends that fail harms itself alone.
//!
//! ```text
//!   owner 1: sends that fail, queue of 4 ──►┌──────┐──► 4 events, the others counted
//!   owner 2: frames, commands ─────────────►│ card │──► every frame on the wire, confirmations
//!   owner 0: commands ─────────────────────►└──────┘──► confirmations
//! ```

use abi::header_entry;
use abi::reason::SendError;
use host::driver::bus::Bus;
use host::driver::device::{Device, DeviceConfig};
use host::driver::rings::{HeaderEntry, RingSizes};
use host::headers::packet::parse_tcp;
use host::records::commands::FlowName;
use host::records::descriptor::{raw, send, Descriptor, Payload, Record};
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::network_side::NetworkSide;
use pcie_sim::PcieConfig;
use sim::bus::SimulatedBus;

use crate::provider::owners::frame;
use crate::provider::rig::{assert_clean, verilated_card};

/// Sends that fail, each of its own position from 0.
const FAILING: u32 = 100;
/// log2 places for their events.
const QUEUE_BITS: u32 = 2;
/// Frames of the other owner beside each.
const FRAMES: u32 = 8;
/// Sends that fail from one pair of commands to the next.
const COMMAND_EVERY: u32 = 10;
const ROUNDS: u32 = 1000;
const NOP: [u8; 64] = [0; 64];

/// A send of a flow that nobody installed.
fn failing(position: u32) -> Record {
    let packet = frame(9, position, b"nobody's").bytes;
    let parsed = parse_tcp(&packet).expect("TCP");
    let payload = Payload {
        name: FlowName { flow: 9, generation: 1 },
        position,
        bytes: 8,
        mss_bytes: 1460,
        segment_index: 0,
    };
    send(&packet[..54], (&parsed).into(), &payload).record()
}

/// Positions of the events in owner 1's queue.
fn events<B: Bus>(device: &mut Device<B>) -> Vec<u32> {
    let mut positions = Vec::new();
    let mut entry = HeaderEntry::default();
    while device.next_header_of(1, &mut entry).expect("a queue") {
        let get = |field: abi::field::Field| field.get(&entry.metadata);
        assert_eq!(get(header_entry::KIND), u64::from(header_entry::KIND_EVENT));
        let error = SendError::from_code(get(header_entry::DISPOSITION) as u8);
        assert_eq!(error, Some(SendError::SendBadFlow));
        positions.push(get(header_entry::EVENT_VALUE) as u32);
    }
    positions
}

fn harms_itself_alone<B: Bus, C: NetworkSide>(bus: B, mut card: C) -> Device<B> {
    let mut device = Device::open(bus, DeviceConfig::with_seed(1)).expect("it opens");
    let small = RingSizes { header_bits: QUEUE_BITS, ..RingSizes::default() };
    assert_eq!(device.open_owner(small).expect("an owner"), 1);
    let owner = device.open_owner(RingSizes::default());
    assert_eq!(owner.expect("an owner"), 2);

    let (mut expected, mut sent, mut tickets) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..FAILING {
        let failing = failing(number);
        device.send_of(1, Descriptor::of(&failing)).expect("an owner");
        for at in 0..FRAMES {
            let bytes = frame(2, number, &at.to_le_bytes()).bytes;
            device.send_of(2, raw(&bytes)).expect("an owner");
            expected.push(bytes);
        }
        if number % COMMAND_EVERY == 0 {
            tickets.push(device.command_of(2, NOP).expect("an owner"));
            tickets.push(device.command(NOP));
        }
        device.poll().expect("it polls");
        device.bus().advance().expect("time passes");
    }
    for _ in 0..ROUNDS {
        device.poll().expect("it polls");
        device.bus().advance().expect("time passes");
        card.take_sent(&mut sent);
    }
    let sent: Vec<_> = sent.into_iter().map(|frame| frame.bytes).collect();
    assert_eq!(sent.len(), expected.len(), "frames of owner 2");
    assert_eq!(sent, expected);
    for ticket in tickets {
        assert!(device.is_confirmed(ticket), "{ticket:?}");
    }

    // The first ones had room; whoever makes room is told again.
    let room = 1 << QUEUE_BITS;
    assert_eq!(events(&mut device), (0..room).collect::<Vec<_>>());
    device.return_headers().expect("a doorbell");
    let failing = failing(FAILING);
    device.send_of(1, Descriptor::of(&failing)).expect("an owner");
    for _ in 0..10 {
        device.poll().expect("it polls");
        device.bus().advance().expect("time passes");
    }
    assert_eq!(events(&mut device), [FAILING]);
    device
}

/// Those that found no room.
const LOST: u64 = (FAILING - (1 << QUEUE_BITS)) as u64;

#[test]
fn full_queue_holds_no_golden_send() {
    let card = GoldenCard::new(abi::config::SMALL);
    harms_itself_alone(GoldenBus::new(card.clone()), card.clone());
    assert_eq!(card.borrow().send_events_lost(), LOST);
}

#[test]
fn full_queue_holds_no_verilated_send() {
    let card = verilated_card();
    let bus = SimulatedBus::new(card.clone(), &PcieConfig::default()).expect("a bus");
    let mut device = harms_itself_alone(bus, card.clone());
    let counters = device.counters().expect("counters");
    let count = |name| counters.iter().find(|c| c.0 == name).map(|c| c.1);
    assert_eq!(count("send_bad_flow"), Some(u64::from(FAILING) + 1));
    assert_eq!(count("send_events_lost"), Some(LOST));
    assert_clean(&card);
}
