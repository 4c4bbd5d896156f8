//! Runs sum up headers: one entry says what the entries of the packets would have said, and a
//! command that takes a flow away ends its run before its confirmation.

use std::time::Duration;

use abi::header_entry as h;
use abi::reason::Disposition;
use host::driver::bus::MemoryKind;
use host::driver::device::DeviceConfig;
use host::records::commands::Direction;
use pcie_sim::PcieConfig;
use sim::direct::{disposition, Flow};
use sim::faults::Fault;

use crate::decisions::rig::{pattern, proves_with, Found, Rig};

const PACKETS: usize = 3;
const PACKET_BYTES: usize = 500;
/// Longer than a check lasts: no run ends by the timer.
const LONG: Duration = Duration::from_micros(200);
/// Cycles in which packets reach memory.
const ARRIVAL_CYCLES: u64 = 2000;

fn check(rig: &mut Rig) -> Found {
    rig.arm();
    let direct = &mut rig.direct;
    let mut flow = Flow::new(0, 5000);
    let stream = pattern(14, PACKETS * PACKET_BYTES);
    let region = direct.region(MemoryKind::Application, stream.len(), 0);
    for round in 0..3 {
        direct.install(&flow);
        let range = (0, 0, stream.len() as u32);
        direct.done([flow.segment(Direction::Receive, range, (&region, 0))]);
        for (number, part) in stream.chunks(PACKET_BYTES).enumerate() {
            let packet = flow.packet((number * PACKET_BYTES) as u32, part);
            direct.receive(packet.frame(0), false);
        }
        direct.run(ARRIVAL_CYCLES);
        let early = direct.entries().len();
        ensure!(early == 0, "{early} entries of an open run, round {round}");
        // The confirmation of its removal is the last that the flow is heard of.
        direct.remove(&flow);
        let entries = direct.entries();
        ensure!(entries.len() == 1, "{} entries before the confirmation", entries.len());
        let get = |field: abi::field::Field| field.get(&entries[0].metadata) as usize;
        ensure!(get(h::KIND) == usize::from(h::KIND_RUN), "kind {}", get(h::KIND));
        ensure!(get(h::RUN_PACKETS) == PACKETS, "{} packets", get(h::RUN_PACKETS));
        let cursor = flow.base as usize + stream.len();
        ensure!(get(h::CURSOR) == cursor, "cursor {}", get(h::CURSOR));
        let end = disposition(&entries[0]);
        ensure!(end == Disposition::PlacedInOrder, "{end:?}");
        ensure!(direct.memory(&region.memory)[..] == stream[..], "another payload");
        flow.name.generation += 1;
    }
    direct.conclude();
    Ok(())
}

#[test]
fn decision_14_no_confirmation_passes_its_run() {
    let config = DeviceConfig { coalesce: Some(LONG), ..DeviceConfig::with_seed(1) };
    proves_with(Fault::RunForgotten, &PcieConfig::default(), &config, check);
}
