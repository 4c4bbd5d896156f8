//! No segment, no flow, no zero-copy: deferred whole, in the entry's slow buffer, in arrival order;
//! without room a counted loss.

use abi::reason::{Disposition, DropReason};
use host::driver::bus::MemoryKind;
use host::records::commands::Direction;
use pcie_sim::PcieConfig;
use sim::direct::{disposition, Flow, GUARD};
use sim::faults::Fault;

use crate::decisions::rig::{pattern, proves, Found, Rig};

/// Slow buffers of the rig.
const SLOW_BUFFERS: usize = 8;

fn check(rig: &mut Rig) -> Found {
    rig.arm();
    let direct = &mut rig.direct;
    let flow = Flow::new(0, 50);
    let stranger = Flow::new(7, 50);
    let region = direct.region(MemoryKind::Application, 4096, 0);
    direct.install(&flow);
    let segment = flow.segment(Direction::Receive, (0, 0, 1000), (&region, 500));
    direct.done([segment]);
    let payload = |number: u8| pattern(number, 400);
    let packets = [
        (&flow, 0, Disposition::PlacedInOrder),
        (&stranger, 0, Disposition::NoFlow),
        // Begins in the segment, ends behind it: no byte of it is placed.
        (&flow, 800, Disposition::AheadOfWindow),
        (&stranger, 400, Disposition::NoFlow),
        (&flow, 400, Disposition::PlacedInOrder),
    ];
    for (number, (flow, offset, _)) in packets.iter().enumerate() {
        let packet = flow.packet(*offset, &payload(number as u8));
        direct.receive(packet.frame(0), false);
    }
    direct.rest();
    let entries = direct.entries();
    ensure!(entries.len() == packets.len(), "{} entries", entries.len());
    for (number, (entry, (_, _, end))) in entries.iter().zip(packets).enumerate() {
        ensure!(disposition(entry) == end, "{number}: {:?}, not {end:?}", disposition(entry));
        let is_placed = end == Disposition::PlacedInOrder;
        let expected = (!is_placed).then(|| payload(number as u8));
        ensure!(entry.deferred == expected, "{number}: not deferred whole");
    }
    let mut expected = vec![GUARD; 4096];
    expected[500..900].copy_from_slice(&payload(0));
    expected[900..1300].copy_from_slice(&payload(4));
    ensure!(direct.memory(&region.memory) == expected, "a deferred byte landed");
    without_room(rig)
}

/// One packet more than there are slow buffers, twice.
fn without_room(rig: &mut Rig) -> Found {
    let direct = &mut rig.direct;
    let stranger = Flow::new(8, 0);
    for round in 1..=2 {
        // What was handed back before has arrived.
        direct.rest();
        for number in 0..=SLOW_BUFFERS {
            let packet = stranger.packet(0, &pattern(number as u8, 60));
            direct.receive(packet.frame(0), false);
        }
        direct.rest();
        let entries = direct.entries();
        ensure!(entries.len() == SLOW_BUFFERS, "{} entries", entries.len());
        for (number, entry) in entries.iter().enumerate() {
            let expected = pattern(number as u8, 60);
            ensure!(entry.deferred.as_ref() == Some(&expected), "{number}: other bytes");
        }
        let lost = direct.dropped(DropReason::SlowBufferFull);
        ensure!(lost == round, "{lost} packets lost");
    }
    direct.conclude();
    Ok(())
}

#[test]
fn decision_05_unplaceable_payload_is_deferred_whole() {
    proves(Fault::StrangerKnown, &PcieConfig::default(), check);
}
