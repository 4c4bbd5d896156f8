//! Retransmission needs no memory of what was sent, and nothing below the send floor goes out.

use abi::header_entry as h;
use abi::reason::SendError;
use host::driver::bus::MemoryKind;
use host::records::commands::Direction;
use host::records::descriptor::Descriptor;
use pcie_sim::PcieConfig;
use sim::direct::{Flow, HEADER_BYTES};
use sim::faults::Fault;

use crate::decisions::rig::{pattern, proves, Found, Rig};

const STREAM_BYTES: usize = 6000;
const MSS: usize = 1000;

/// Frames of a range, as position and payload.
fn send_range(rig: &mut Rig, flow: &Flow, offset: u32, bytes: u32) -> Vec<(u32, Vec<u8>)> {
    let record = flow.descriptor(offset, bytes, MSS as u16);
    rig.direct.machine.host.device.send(Descriptor::of(&record));
    rig.direct.rest();
    let part = |frame: Vec<u8>| {
        let mut sequence = [0; 4];
        sequence.copy_from_slice(&frame[38..42]);
        let offset = u32::from_be_bytes(sequence).wrapping_sub(flow.base);
        (offset, frame[HEADER_BYTES..].to_vec())
    };
    rig.direct.sent().into_iter().map(part).collect()
}

fn parts(stream: &[u8], offset: usize, bytes: usize) -> Vec<(u32, Vec<u8>)> {
    let chunks = stream[offset..offset + bytes].chunks(MSS).enumerate();
    chunks.map(|(number, part)| ((offset + number * MSS) as u32, part.to_vec())).collect()
}

fn check(rig: &mut Rig) -> Found {
    rig.arm();
    let flow = Flow::new(0, u32::MAX - 1500);
    let stream = pattern(8, STREAM_BYTES);
    let direct = &mut rig.direct;
    let region = direct.region(MemoryKind::Application, 3 * 4096, 0);
    direct.install(&flow);
    // The stream lies in three segments, last one first.
    let segments = [(0, 2501, 9000), (2501, 1000, 5001), (3501, 2499, 16)];
    for (index, (offset, bytes, at)) in segments.into_iter().enumerate() {
        let range = (index as u16, offset as u32, bytes as u32);
        let post = flow.segment(Direction::Send, range, (&region, at as u64));
        direct.done([post]);
        direct.fill(&region.memory, at, &stream[offset..offset + bytes]);
    }
    for (offset, bytes) in [(0, 3000), (1000, 1000), (2400, 3600), (0, STREAM_BYTES)] {
        let frames = send_range(rig, &flow, offset as u32, bytes as u32);
        ensure!(
            frames == parts(&stream, offset, bytes),
            "{bytes} bytes from {offset} on, sent again, differ"
        );
    }
    // The peer has acknowledged 2600 bytes: their buffers are the application's again.
    let direct = &mut rig.direct;
    direct.done([flow.send_floor(2600, 0)]);
    direct.fill(&region.memory, 9000, &[0xee; 2501]);
    direct.fill(&region.memory, 5001, &[0xee; 99]);
    let stale = send_range(rig, &flow, 600, 2000);
    ensure!(stale.is_empty(), "{} frames below the send floor", stale.len());
    let events = rig.direct.entries();
    ensure!(events.len() == 1, "{} events", events.len());
    let event = h::DISPOSITION.get(&events[0].metadata);
    ensure!(event == SendError::StaleSend as u64, "event {event}");
    let straddling = send_range(rig, &flow, 1600, 2000);
    ensure!(straddling == parts(&stream, 2600, 1000), "not trimmed at the send floor");
    rig.direct.conclude();
    Ok(())
}

#[test]
fn decision_08_range_resends_until_floor_passes() {
    proves(Fault::SendFloorIgnored, &PcieConfig::default(), check);
}
