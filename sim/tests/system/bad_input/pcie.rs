//! A host that answers wrong, late or not at all, or refuses an access.

use std::ops::Range;

use abi::header_entry as h;
use abi::reason::{Disposition, SendError};
use host::control::regions::Region;
use host::driver::bus::{Bus, MemoryKind};
use host::driver::device::DeviceConfig;
use host::records::commands::Direction;
use host::records::descriptor::Descriptor;
use pcie_sim::{Fault, PcieConfig, Target};
use sim::card::SimulatedCard;
use sim::direct::{disposition, Direct, Flow, GUARD, HEADER_BYTES};
use verilate::options::Options;

const STREAM_BYTES: usize = 12 << 10;
const MSS: usize = 1000;
/// Longer than the hard block waits for a completion.
const TIMEOUT_CYCLES: u64 = 16_000;

fn direct() -> Direct {
    let pcie = PcieConfig::default();
    let card = SimulatedCard::new("small", pcie.clone(), Options::default());
    Direct::open(card.expect("it builds"), &pcie, DeviceConfig::with_seed(1))
}

fn stream(flow: &Flow) -> Vec<u8> {
    let salt = flow.name.flow as usize * 7;
    (0..STREAM_BYTES).map(|at| (at * 31 + at / 256 + salt) as u8).collect()
}

/// A flow with its stream in a region of its own, for both directions.
fn flow(direct: &mut Direct, id: u16) -> (Flow, Region) {
    let flow = Flow::new(id, 1000 * u32::from(id));
    let region = direct.region(MemoryKind::Application, STREAM_BYTES, 0);
    direct.install(&flow);
    let range = (0, 0, STREAM_BYTES as u32);
    let posts = [Direction::Send, Direction::Receive]
        .map(|direction| flow.segment(direction, range, (&region, 0)));
    direct.done(posts);
    (flow, region)
}

/// Payload of the frames of a flow, by offset in the stream.
fn payloads(frames: &[Vec<u8>], flow: &Flow) -> Vec<(usize, Vec<u8>)> {
    let port = 9000 + flow.name.flow;
    let mine = frames.iter().filter(|frame| frame[34..36] == port.to_be_bytes());
    mine.map(|frame| {
        let mut sequence = [0; 4];
        sequence.copy_from_slice(&frame[38..42]);
        let offset = u32::from_be_bytes(sequence).wrapping_sub(flow.base);
        (offset as usize, frame[HEADER_BYTES..].to_vec())
    })
    .collect()
}

fn expected_frames(stream: &[u8], frames: impl Iterator<Item = usize>) -> Vec<(usize, Vec<u8>)> {
    let part = |number: usize| {
        let end = stream.len().min((number + 1) * MSS);
        (number * MSS, stream[number * MSS..end].to_vec())
    };
    frames.map(part).collect()
}

/// The second page of the stream.
const PAGE: Range<usize> = 4096..8192;
/// What its first read fetches.
const FIRST_READ: Range<usize> = 4096..4608;

/// Frames that hold bytes of this part of the stream.
fn is_fed_by(number: usize, part: &Range<usize>) -> bool {
    number * MSS < part.end && (number + 1) * MSS > part.start
}

/// What the event in the owner's queue says.
fn failures(direct: &mut Direct) -> Vec<(u64, u64)> {
    let entries = direct.entries();
    let events =
        entries.iter().filter(|entry| h::KIND.get(&entry.metadata) == u64::from(h::KIND_EVENT));
    events
        .map(|event| (h::FLOW.get(&event.metadata), h::DISPOSITION.get(&event.metadata)))
        .collect()
}

/// Sends both streams while reads of a part of one of them fail.
fn send_with(direct: &mut Direct, flows: &[(Flow, Region); 2], part: &Range<usize>, what: &str) {
    let before = direct.counters();
    for (flow, _) in [flows[1], flows[0], flows[1]] {
        let descriptor = flow.descriptor(0, STREAM_BYTES as u32, MSS as u16);
        direct.machine.host.device.send(Descriptor::of(&descriptor));
    }
    direct.run(TIMEOUT_CYCLES);
    direct.rest();
    let frames = direct.sent();
    let count = STREAM_BYTES.div_ceil(MSS);
    let (hit, other) = (flows[0].0, flows[1].0);
    let kept = (0..count).filter(|number| !is_fed_by(*number, part));
    assert_eq!(
        payloads(&frames, &hit),
        expected_frames(&stream(&hit), kept),
        "{what}: frames of the flow that was hit"
    );
    let whole = expected_frames(&stream(&other), 0..count);
    let twice = [whole.clone(), whole].concat();
    assert_eq!(payloads(&frames, &other), twice, "{what}: frames of the other flow");
    let report = (u64::from(hit.name.flow), SendError::ReadFailed as u64);
    assert_eq!(failures(direct), [report], "{what}: reports");
    let after = direct.counters();
    let moved = |name: &str| after[name] - before[name];
    assert_eq!(moved("read_failed"), 1, "{what}");
    let counted = moved("read_errors") + moved("read_timeouts");
    assert!(counted > 0, "{what} moved no counter of the DMA engine");
}

#[test]
fn failed_read_is_reported_others_send() {
    let mut direct = direct();
    let flows = [flow(&mut direct, 1), flow(&mut direct, 2)];
    for (flow, region) in &flows {
        direct.fill(&region.memory, 0, &stream(flow));
    }
    let page = flows[0].1.memory.address + 4096;
    for fault in [
        Fault::Poison,
        Fault::UnsupportedRequest,
        Fault::CompleterAbort,
        Fault::WrongAddress,
        Fault::WrongLength,
        Fault::Lost,
    ] {
        let target = Target::Address(page..page + 4096);
        direct.machine.card.borrow_mut().pcie.inject(fault, target);
        send_with(&mut direct, &flows, &FIRST_READ, &format!("{fault:?}"));
    }
    // The IOMMU refuses the page: such a read is completed as unsupported.
    direct.machine.card.borrow_mut().pcie.deny(page..page + 4096);
    send_with(&mut direct, &flows, &PAGE, "a refused page");
    direct.conclude();
}

#[test]
fn refused_write_is_logged_others_receive() {
    let mut direct = direct();
    let flows = [flow(&mut direct, 1), flow(&mut direct, 2)];
    let (hit, other) = (&flows[0], &flows[1]);
    let page = hit.1.memory.address + 4096;
    direct.machine.card.borrow_mut().pcie.deny(page..page + 4096);
    for offset in (0..STREAM_BYTES).step_by(MSS) {
        for (flow, _) in &flows {
            let end = STREAM_BYTES.min(offset + MSS);
            let packet = flow.packet(offset as u32, &stream(flow)[offset..end]);
            direct.receive(packet.frame(0), false);
        }
    }
    direct.rest();
    let faults = direct.machine.host.device.bus().take_faults();
    assert!(!faults.is_empty(), "no refused write is in the log");
    for fault in &faults {
        let within = page..page + 4096;
        assert!(within.contains(&fault.address), "a fault at {:#x}", fault.address);
        let region = direct.machine.host.regions.at(fault.address).map(|region| region.index);
        assert_eq!(region, Some(hit.1.index), "the region of a fault");
    }
    let entries = direct.entries();
    assert_eq!(entries.len(), 2 * STREAM_BYTES.div_ceil(MSS));
    let all_placed = |end| end == Disposition::PlacedInOrder;
    assert!(entries.iter().map(disposition).all(all_placed));
    assert_eq!(direct.memory(&other.1.memory), stream(&other.0));
    // Around the refused page everything is there as well, and in it nothing.
    let mut expected = stream(&hit.0);
    expected[4096..8192].fill(GUARD);
    assert_eq!(direct.memory(&hit.1.memory), expected);
    direct.conclude();
}

#[test]
fn failed_fetch_stops_ring_not_receiving() {
    for fault in [Fault::UnsupportedRequest, Fault::Poison, Fault::Lost] {
        let mut direct = direct();
        let (flow, region) = flow(&mut direct, 1);
        let before = direct.counters();
        direct.machine.card.borrow_mut().pcie.inject(fault, Target::Nth(0));
        let ticket = direct.post([flow.floor(0, 0)]);
        direct.run(TIMEOUT_CYCLES);
        assert!(!direct.machine.host.device.is_confirmed(ticket), "{fault:?}: confirmed unread");
        let after = direct.counters();
        let moved = |name: &str| after[name] - before[name];
        let counted = moved("read_errors") + moved("read_timeouts");
        assert!(counted > 0, "{fault:?} moved no counter");
        let bytes = stream(&flow);
        for offset in (0..STREAM_BYTES).step_by(MSS) {
            let end = STREAM_BYTES.min(offset + MSS);
            let packet = flow.packet(offset as u32, &bytes[offset..end]);
            direct.receive(packet.frame(0), false);
        }
        direct.rest();
        assert_eq!(direct.memory(&region.memory), bytes, "{fault:?}");
        direct.conclude();
    }
}
