//! Send slots that come with their doorbell, through the whole card.
//!
//! ```text
//!   host: slot in the ring, copy in the push window, doorbell ──► card ──► frame
//! ```

use abi::registers as r;
use host::driver::bus::Bus;
use host::driver::device::DeviceConfig;
use host::records::commands::Direction;
use host::records::descriptor::{raw, Descriptor};
use pcie_sim::PcieConfig;
use sim::card::SimulatedCard;
use sim::direct::{Direct, Flow, HEADER_BYTES};
use verilate::options::Options;

/// Descriptors of each part; raw frames of 64 to 95 bytes fit one slot.
const ROUNDS: usize = 32;
/// Payload of a descriptor.
const PAYLOAD_BYTES: u32 = 700;

fn open(push_slots: bool) -> Direct {
    let pcie = PcieConfig::default();
    let card = SimulatedCard::new("small", pcie.clone(), Options::default()).expect("it builds");
    let rings = DeviceConfig { push_slots, ..DeviceConfig::with_seed(1) };
    Direct::open(card, &pcie, rings)
}

fn frame(id: usize) -> Vec<u8> {
    (0..64 + id).map(|at| (at * 7 + id) as u8).collect()
}

/// Sends raw frames and ranges of a stream, one at a time; the frames that left.
fn one_by_one(direct: &mut Direct) -> Vec<Vec<u8>> {
    let region = direct.region(host::driver::bus::MemoryKind::Application, 1 << 16, 0);
    let payload: Vec<u8> = (0..1 << 16).map(|at: u32| (at / 3) as u8).collect();
    direct.fill(&region.memory, 0, &payload);
    let flow = Flow::new(3, 1000);
    direct.install(&flow);
    direct.done([flow.segment(Direction::Send, (0, 0, 1 << 16), (&region, 0))]);
    let mut sent = Vec::new();
    for round in 0..ROUNDS {
        let offset = round as u32 * PAYLOAD_BYTES;
        for record in [raw(&frame(round)).record(), flow.descriptor(offset, PAYLOAD_BYTES, 1400)] {
            direct.machine.host.device.send(Descriptor::of(&record));
            direct.machine.host.device.poll().expect("it polls");
            // Long enough for the frame and the ring's status.
            direct.run(1_200);
        }
        let frames = direct.sent();
        assert_eq!(frames.len(), 2, "round {round}");
        assert_eq!(frames[0], frame(round), "round {round}");
        let expected = &payload[offset as usize..(offset + PAYLOAD_BYTES) as usize];
        assert_eq!(&frames[1][HEADER_BYTES..], expected, "round {round}");
        sent.extend(frames);
    }
    direct.conclude();
    sent
}

#[test]
fn lone_descriptor_comes_with_doorbell() {
    let (mut pushed, mut fetched) = (open(true), open(false));
    assert_eq!(one_by_one(&mut pushed), one_by_one(&mut fetched));
    let (pushed, fetched) = (pushed.counters(), fetched.counters());
    assert_eq!(pushed["send_slots_pushed"], 2 * ROUNDS as u64);
    assert_eq!(fetched["send_slots_pushed"], 0);
    let spared = fetched["read_tlps"] - pushed["read_tlps"];
    assert_eq!(spared, 2 * ROUNDS as u64, "one read each");
    assert_eq!(pushed["registers_unmapped"], 0);
}

#[test]
fn many_descriptors_at_once_are_fetched() {
    let mut direct = open(true);
    for round in 0..ROUNDS {
        direct.machine.host.device.send(raw(&frame(round)));
    }
    direct.machine.host.device.poll().expect("it polls");
    direct.rest();
    let expected: Vec<Vec<u8>> = (0..ROUNDS).map(frame).collect();
    assert_eq!(direct.sent(), expected);
    assert_eq!(direct.counters()["send_slots_pushed"], 0);
    direct.conclude();
}

/// The copy that another owner pushes between an owner's push and its doorbell.
#[test]
fn other_owners_push_is_not_sent() {
    let mut direct = open(true);
    let window = |owner: u32| r::DOORBELLS + owner * r::DOORBELL_STRIDE + r::PUSH_WINDOW;
    let foreign = raw(&[0xee; 80]).record();
    let (lines, _) = foreign.as_chunks::<{ r::PUSH_BYTES }>();
    for round in 0..ROUNDS {
        // Owner 1 has no ring: its pushes name no slot, whatever its doorbell says.
        for (line, offset) in lines.iter().zip([0, 64]).skip(round % 2) {
            let bus = direct.machine.host.device.bus();
            bus.write_line(window(1) + offset, line).expect("it writes");
        }
        let doorbell = r::DOORBELLS + r::DOORBELL_STRIDE + r::DOORBELL_SEND;
        let rung = direct.machine.host.device.bus().write_register(doorbell, round as u32 + 1);
        rung.expect("it writes");
        direct.machine.host.device.send(raw(&frame(round)));
        direct.machine.host.device.poll().expect("it polls");
        direct.run(1_200);
        assert_eq!(direct.sent(), [frame(round)], "round {round}");
    }
    direct.conclude();
}

#[test]
fn pushes_that_go_nowhere_are_counted() {
    let mut direct = open(true);
    let line = [0x5a; r::PUSH_BYTES];
    let owners = 1 << direct.machine.host.device.sizes().owner_bits;
    let beyond = r::DOORBELLS + owners * r::DOORBELL_STRIDE + r::PUSH_WINDOW;
    let bus = direct.machine.host.device.bus();
    bus.write_line(beyond, &line).expect("it writes");
    // Half a line is eight writes to no register.
    let base = PcieConfig::default().bars[0].base;
    let window = base + u64::from(r::DOORBELLS + r::PUSH_WINDOW);
    let written = direct.machine.card.borrow_mut().pcie.mmio_write(window, &line[..32]);
    written.expect("it writes");
    direct.run(1_000);
    let counters = direct.counters();
    assert_eq!(counters["registers_unmapped"], 1 + 8);
    assert_eq!(counters["registers_malformed"], 0);
    direct.conclude();
}
