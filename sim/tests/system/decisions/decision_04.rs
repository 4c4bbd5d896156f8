//! Segments are tied to the stream: a packet's place follows from its own position alone.

use abi::config::FLOW_REACH_BYTES;
use abi::reason::Disposition;
use host::driver::bus::MemoryKind;
use host::records::commands::{segment_truncate, Direction};
use pcie_sim::PcieConfig;
use sim::direct::{disposition, Flow, GUARD};
use sim::faults::Fault;

use crate::decisions::rig::{pattern, proves, Found, Rig};

/// Offset in the stream, bytes, offset in the region: any alignment, in no order.
const SEGMENTS: [(u32, u32, u64); 5] =
    [(0, 1001, 9003), (1001, 3, 77), (1004, 2500, 3001), (3504, 64, 8192), (3568, 2432, 12_001)];
const STREAM_BYTES: usize = 6000;
const PACKET_BYTES: usize = 700;
const REGION_BYTES: usize = 16_384;

fn check(rig: &mut Rig) -> Found {
    rig.arm();
    let direct = &mut rig.direct;
    let flow = Flow::new(0, u32::MAX - 2000);
    let region = direct.region(MemoryKind::Application, REGION_BYTES, 0);
    direct.install(&flow);
    let posts = SEGMENTS.iter().enumerate().map(|(index, &(offset, bytes, at))| {
        let range = (index as u16, offset, bytes);
        flow.segment(Direction::Receive, range, (&region, at))
    });
    direct.done(posts);
    let stream = pattern(5, STREAM_BYTES);
    let count = STREAM_BYTES.div_ceil(PACKET_BYTES);
    // 5 and the number of packets have no divisor in common: each once, out of order.
    for number in (0..count).map(|step| (step * 5 + 3) % count) {
        let end = STREAM_BYTES.min((number + 1) * PACKET_BYTES);
        let offset = number * PACKET_BYTES;
        let packet = flow.packet(offset as u32, &stream[offset..end]);
        direct.receive(packet.frame(0), false);
    }
    direct.receive(flow.packet(FLOW_REACH_BYTES - 1, &[1, 2]).frame(0), false);
    direct.rest();
    let entries = direct.entries();
    ensure!(entries.len() == count + 1, "{} entries", entries.len());
    let (far, near) = entries.split_last().ok_or("no entries")?;
    for entry in near {
        let end = disposition(entry);
        let is_placed = matches!(end, Disposition::PlacedInOrder | Disposition::PlacedAhead);
        ensure!(is_placed, "{end:?} of a packet in the window");
    }
    ensure!(disposition(far) == Disposition::AheadOfWindow, "beyond the reach");
    let mut expected = vec![GUARD; REGION_BYTES];
    for (offset, bytes, at) in SEGMENTS {
        let (from, at, bytes) = (offset as usize, at as usize, bytes as usize);
        expected[at..at + bytes].copy_from_slice(&stream[from..from + bytes]);
    }
    ensure!(direct.memory(&region.memory) == expected, "bytes are not in their place");
    check_truncated(rig)
}

/// A segment that ended early is not written to behind its end.
fn check_truncated(rig: &mut Rig) -> Found {
    let direct = &mut rig.direct;
    let flow = Flow::new(1, 0);
    let region = direct.region(MemoryKind::Application, 4096, 0);
    direct.install(&flow);
    let segment = flow.segment(Direction::Receive, (0, 0, 4096), (&region, 0));
    direct.done([segment, segment_truncate(flow.name, 0, 100)]);
    direct.receive(flow.packet(0, &[1; 100]).frame(0), false);
    direct.receive(flow.packet(100, &[2; 100]).frame(0), false);
    direct.receive(flow.packet(50, &[3; 100]).frame(0), false);
    direct.rest();
    let memory = direct.memory(&region.memory);
    ensure!(memory[..100] == [1; 100], "the part that stayed");
    let is_intact = memory[100..].iter().all(|byte| *byte == GUARD);
    ensure!(is_intact, "a write behind the end of a truncated segment");
    direct.conclude();
    Ok(())
}

#[test]
fn decision_04_place_follows_from_position() {
    proves(Fault::SegmentMisplaced, &PcieConfig::default(), check);
}
