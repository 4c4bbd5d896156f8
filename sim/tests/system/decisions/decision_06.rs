//! Publication and fences: payload is visible before its entry, and confirmed means fenced.

use abi::header_entry as h;
use abi::reason::Disposition;
use host::driver::bus::MemoryKind;
use host::records::commands::Direction;
use pcie_sim::PcieConfig;
use sim::direct::{disposition, Flow};
use sim::faults::Fault;

use crate::decisions::rig::{pattern, proves, Found, Rig};

const PACKETS: usize = 6;
const PACKET_BYTES: usize = 8000;
const STREAM_BYTES: usize = PACKETS * PACKET_BYTES;
/// Cycles from the frames to the command: it comes between them at one of these moments.
const DELAYS: std::ops::Range<u64> = 0..1600;
const DELAY_STEP: usize = 100;

/// What the card has announced by now is there.
fn check_published(
    rig: &mut Rig,
    memory: &host::driver::bus::DmaMemory,
    stream: &[u8],
    base: u32,
) -> Found {
    let found = rig.direct.memory(memory);
    for entry in rig.direct.entries() {
        if !matches!(disposition(&entry), Disposition::PlacedInOrder | Disposition::PlacedAhead) {
            continue;
        }
        let get = |field: abi::field::Field| field.get(&entry.metadata) as usize;
        let at = get(h::POSITION) - base as usize + get(h::TRIMMED_BYTES);
        let end = at + get(h::PAYLOAD_BYTES) - get(h::TRIMMED_BYTES);
        ensure!(found[at..end] == stream[at..end], "an entry before its payload, at {at}");
    }
    Ok(())
}

/// A floor at the end of the stream while packets below it are on their way.
fn race(rig: &mut Rig, flow: &Flow, kind: MemoryKind, delay: u64) -> Found {
    let region = rig.direct.region(kind, STREAM_BYTES, 0);
    rig.direct.install(flow);
    let range = (0, 0, STREAM_BYTES as u32);
    let segment = flow.segment(Direction::Receive, range, (&region, 0));
    rig.direct.done([segment]);
    let stream = pattern(delay as u8, STREAM_BYTES);
    for (number, part) in stream.chunks(PACKET_BYTES).enumerate() {
        let packet = flow.packet((number * PACKET_BYTES) as u32, part);
        rig.direct.receive(packet.frame(0), false);
    }
    for _ in 0..delay / 4 {
        rig.direct.run(4);
        check_published(rig, &region.memory, &stream, flow.base)?;
    }
    let floor = rig.direct.post([flow.floor(STREAM_BYTES as u32, 0)]);
    rig.direct.wait(floor);
    let confirmed = rig.direct.memory(&region.memory);
    check_published(rig, &region.memory, &stream, flow.base)?;
    rig.direct.rest();
    let settled = rig.direct.memory(&region.memory);
    ensure!(
        confirmed == settled,
        "a write below a confirmed floor, {kind:?}, {delay} cycles after the frames"
    );
    rig.direct.entries();
    rig.direct.remove(flow);
    rig.direct.deregister(&region);
    Ok(())
}

fn check(rig: &mut Rig) -> Found {
    rig.arm();
    let mut flow = Flow::new(0, 5000);
    for kind in [MemoryKind::Application, MemoryKind::Gpu] {
        for delay in DELAYS.step_by(DELAY_STEP) {
            race(rig, &flow, kind, delay)?;
            flow.name.generation += 1;
        }
    }
    rig.direct.conclude();
    Ok(())
}

#[test]
fn decision_06_confirmed_means_fenced() {
    let pcie = PcieConfig {
        rq_stall_permille: 300,
        relaxed_pass_permille: 200,
        jitter_ns: 100,
        ..PcieConfig::default()
    };
    proves(Fault::FenceSkipped, &pcie, check);
}
