//! Software owns acceptance: nothing below its floor is written, and the first copy stands.

use abi::header_entry as h;
use abi::reason::Disposition;
use host::driver::bus::MemoryKind;
use host::records::commands::Direction;
use pcie_sim::PcieConfig;
use sim::direct::{disposition, Flow, GUARD};
use sim::faults::Fault;
use sim::harness::traffic::Layer4;

use crate::decisions::rig::{pattern, proves, Found, Rig};

const FLOOR: u32 = 2000;

fn check(rig: &mut Rig) -> Found {
    rig.arm();
    let direct = &mut rig.direct;
    let flow = Flow::new(0, u32::MAX - 2500);
    let region = direct.region(MemoryKind::Application, 8192, 0);
    direct.install(&flow);
    direct
        .done([flow.segment(Direction::Receive, (0, 0, 6000), (&region, 0)), flow.floor(FLOOR, 0)]);
    let mut wrong_ack = flow.packet(FLOOR + 500, &pattern(9, 100));
    if let Layer4::Tcp { acknowledgement, .. } = &mut wrong_ack.layer4 {
        *acknowledgement = 0u32.wrapping_sub(1);
    }
    let packet = |salt: u8, offset, bytes| flow.packet(offset, &pattern(salt, bytes));
    let packets = [
        (packet(1, 500, 1000), Disposition::Old, None),
        (packet(2, 1500, 1000), Disposition::PlacedInOrder, Some(500)),
        (packet(3, 4000, 800), Disposition::PlacedAhead, Some(0)),
        (packet(4, 2300, 400), Disposition::Duplicate, None),
        (wrong_ack, Disposition::AckOutOfRange, None),
    ];
    for (spec, _, _) in &packets {
        direct.receive(spec.frame(0), false);
    }
    direct.rest();
    let entries = direct.entries();
    ensure!(entries.len() == packets.len(), "{} entries", entries.len());
    let mut expected = vec![GUARD; 8192];
    for (entry, (spec, end, trimmed)) in entries.iter().zip(&packets) {
        ensure!(disposition(entry) == *end, "{:?}, not {end:?}", disposition(entry));
        if let (Some(trim), Layer4::Tcp { sequence, .. }) = (trimmed, &spec.layer4) {
            let trim_found = h::TRIMMED_BYTES.get(&entry.metadata) as usize;
            ensure!(trim_found == *trim, "{trim_found} bytes trimmed");
            let at = sequence.wrapping_sub(flow.base) as usize;
            expected[at + trim..at + spec.payload.len()].copy_from_slice(&spec.payload[*trim..]);
        }
        let is_deferred = matches!(end, Disposition::Duplicate | Disposition::AckOutOfRange);
        let payload = is_deferred.then_some(&spec.payload);
        ensure!(entry.deferred.as_ref() == payload, "{end:?} is not deferred");
    }
    let found = direct.memory(&region.memory);
    let below = FLOOR as usize;
    ensure!(found[..below] == expected[..below], "a write below the floor");
    ensure!(found == expected, "memory differs");
    direct.conclude();
    Ok(())
}

#[test]
fn decision_02_software_owns_acceptance() {
    proves(Fault::FloorIgnored, &PcieConfig::default(), check);
}
