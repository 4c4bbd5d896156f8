//! The DMA engine and the MAC side keep the rules of the vendor's blocks, whatever the parameters
//! of the link; a checker watches every beat.

use abi::reason::Disposition;
use host::driver::bus::MemoryKind;
use host::records::commands::Direction;
use host::records::descriptor::Descriptor;
use pcie_sim::PcieConfig;
use sim::direct::{disposition, Flow, HEADER_BYTES};
use sim::faults::Fault;

use crate::decisions::rig::{pattern, proves, Found, Rig};

const STREAM_BYTES: usize = 32 << 10;

/// A stream in, a stream out, at the same time; nothing but the link's rules is judged while a
/// fault is on, for with it everything may go wrong.
fn check(rig: &mut Rig) -> Found {
    let direct = &mut rig.direct;
    let flow = Flow::new(0, 5);
    let stream = pattern(9, STREAM_BYTES);
    let receive = direct.region(MemoryKind::Application, STREAM_BYTES, 0);
    let send = direct.region(MemoryKind::Application, STREAM_BYTES, 0);
    direct.fill(&send.memory, 0, &stream);
    direct.install(&flow);
    let range = (0, 0, STREAM_BYTES as u32);
    direct.done([
        flow.segment(Direction::Receive, range, (&receive, 0)),
        flow.segment(Direction::Send, range, (&send, 0)),
    ]);
    rig.arm();
    let direct = &mut rig.direct;
    let record = flow.descriptor(0, STREAM_BYTES as u32, 1448);
    direct.machine.host.device.send(Descriptor::of(&record));
    for (number, part) in stream.chunks(1448).enumerate() {
        direct.receive(flow.packet((number * 1448) as u32, part).frame(0), false);
    }
    direct.rest();
    let violations = direct.machine.card.borrow().violations();
    ensure!(violations.is_empty(), "{}", violations[0]);
    for entry in direct.entries() {
        let end = disposition(&entry);
        ensure!(end == Disposition::PlacedInOrder, "{end:?}");
    }
    ensure!(direct.memory(&receive.memory) == stream, "received bytes");
    let frames = direct.sent();
    let sent: Vec<u8> = frames.iter().flat_map(|f| f[HEADER_BYTES..].to_vec()).collect();
    ensure!(sent.starts_with(&stream), "sent bytes");
    direct.conclude();
    Ok(())
}

#[test]
fn decision_09_every_beat_keeps_rules() {
    let links = [(128, 512, 64, 0), (256, 512, 64, 300), (512, 4096, 128, 0)];
    for (mps_bytes, mrrs_bytes, rcb_bytes, random_split_permille) in links {
        let pcie = PcieConfig {
            mps_bytes,
            mrrs_bytes,
            rcb_bytes,
            random_split_permille,
            completion_payload_bytes: mps_bytes.min(256),
            reorder_permille: 200,
            rq_stall_permille: 100,
            ..PcieConfig::default()
        };
        proves(Fault::RequestLength, &pcie, check);
    }
    proves(Fault::FrameGap, &PcieConfig::default(), check);
}
