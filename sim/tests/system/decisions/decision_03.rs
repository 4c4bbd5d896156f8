//! Verified before landing: not one byte of a bad packet reaches application memory.

use abi::reason::DropReason;
use host::driver::bus::MemoryKind;
use host::records::commands::Direction;
use pcie_sim::PcieConfig;
use sim::direct::{Flow, GUARD};
use sim::faults::Fault;

use crate::decisions::rig::{pattern, proves, Found, Rig};

fn check(rig: &mut Rig) -> Found {
    rig.arm();
    let direct = &mut rig.direct;
    let flow = Flow::new(0, 1);
    let region = direct.region(MemoryKind::Application, 16384, 0);
    direct.install(&flow);
    let segment = flow.segment(Direction::Receive, (0, 0, 16384), (&region, 0));
    direct.done([segment]);
    let mut expected = [0; 3];
    for bytes in [1, 64, 1448, 8900] {
        let frame = flow.packet(0, &pattern(1, bytes)).frame(0);
        direct.receive(frame.clone(), true);
        expected[0] += 1;
        // The first and the last byte of the payload, the IP header, the TCP header.
        for (at, counter) in [(54, 2), (53 + bytes, 2), (16, 1), (26, 1), (38, 2), (51, 2)] {
            let mut frame = frame.clone();
            frame[at] ^= 1;
            direct.receive(frame, false);
            expected[counter] += 1;
        }
        direct.rest();
        let memory = direct.memory(&region.memory);
        ensure!(
            memory.iter().all(|byte| *byte == GUARD),
            "a byte of a bad packet of {bytes} bytes landed"
        );
    }
    ensure!(direct.entries().is_empty(), "a bad packet has an entry");
    let counters = direct.counters();
    let of = |reason: DropReason| counters[reason.name()];
    // A longer total length is one that the frame does not have.
    let ip = of(DropReason::IpChecksum) + of(DropReason::MalformedIp);
    let found = [of(DropReason::BadFcs), ip, of(DropReason::L4Checksum)];
    ensure!(found == expected, "{found:?} drops, not {expected:?}");
    direct.conclude();
    Ok(())
}

#[test]
fn decision_03_nothing_lands_unverified() {
    proves(Fault::BadFrameBelieved, &PcieConfig::default(), check);
}
