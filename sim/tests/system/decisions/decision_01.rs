//! Headers of verified packets always go up; everything else is a counted drop; nothing vanishes.

use abi::reason::{Disposition, DropReason};
use host::driver::bus::MemoryKind;
use host::records::commands::Direction;
use pcie_sim::PcieConfig;
use sim::direct::{disposition, Flow};
use sim::faults::Fault;
use sim::harness::traffic::{Layer4, PacketSpec};

use crate::decisions::rig::{pattern, proves, Found, Rig};

/// A frame, the MAC's verdict, and what must become of it.
type Case = (Vec<u8>, bool, Result<Disposition, DropReason>);

fn with_flags(mut spec: PacketSpec, change: u8) -> PacketSpec {
    if let Layer4::Tcp { flags, .. } = &mut spec.layer4 {
        *flags = change;
    }
    spec
}

fn good(flow: &Flow) -> Vec<Case> {
    let frame = |offset, bytes| flow.packet(offset, &pattern(offset as u8, bytes)).frame(0);
    let stranger = Flow::new(9, 0).packet(0, &[7; 99]).frame(0);
    let mut unchecked = flow.packet(1000, &pattern(1, 50));
    unchecked.layer4 = Layer4::Udp { no_checksum: true };
    let mut foreign = vec![0x11; 200];
    foreign[12..14].copy_from_slice(&[0x88, 0xcc]);
    let syn = with_flags(flow.packet(1000, &pattern(2, 10)), 0x02).frame(0);
    vec![
        (frame(100, 900), false, Ok(Disposition::PlacedInOrder)),
        (frame(2000, 500), false, Ok(Disposition::PlacedAhead)),
        (frame(0, 100), false, Ok(Disposition::Old)),
        (frame(200, 100), false, Ok(Disposition::Duplicate)),
        (frame(1000, 0), false, Ok(Disposition::NoPayload)),
        (frame(5000, 10), false, Ok(Disposition::AheadOfWindow)),
        (syn, false, Ok(Disposition::Flags)),
        (stranger, false, Ok(Disposition::NoFlow)),
        (unchecked.frame(0), false, Ok(Disposition::Unverified)),
        (foreign, false, Ok(Disposition::NotTransport)),
    ]
}

fn bad(flow: &Flow) -> Vec<Case> {
    let whole = flow.packet(1000, &pattern(3, 300)).frame(0);
    let flipped = |at: usize| {
        let mut frame = whole.clone();
        frame[at] ^= 0x10;
        frame
    };
    let mut long = whole.clone();
    long.resize(9217, 0);
    let malformed_tcp = {
        let mut spec = flow.packet(1000, &[]).frame(0);
        spec[46] = 0x40;
        spec
    };
    vec![
        (whole.clone(), true, Err(DropReason::BadFcs)),
        (whole[..59].to_vec(), false, Err(DropReason::Runt)),
        (long, false, Err(DropReason::Giant)),
        (whole[..200].to_vec(), false, Err(DropReason::MalformedIp)),
        (flipped(22), false, Err(DropReason::IpChecksum)),
        (malformed_tcp, false, Err(DropReason::MalformedL4)),
        (flipped(150), false, Err(DropReason::L4Checksum)),
    ]
}

fn check(rig: &mut Rig) -> Found {
    rig.arm();
    let direct = &mut rig.direct;
    let flow = Flow::new(0, 7_000);
    let region = direct.region(MemoryKind::Application, 8192, 0);
    direct.install(&flow);
    direct
        .done([flow.segment(Direction::Receive, (0, 0, 4096), (&region, 64)), flow.floor(100, 0)]);
    let mut cases = good(&flow);
    for (at, case) in bad(&flow).into_iter().enumerate() {
        cases.insert(2 * at + 1, case);
    }
    for (frame, is_bad, _) in &cases {
        direct.receive(frame.clone(), *is_bad);
    }
    direct.rest();
    let entries = direct.entries();
    let ups = cases.iter().filter_map(|(f, _, end)| Some((f, end.ok()?)));
    ensure!(entries.len() == ups.clone().count(), "{} headers came up", entries.len());
    for (entry, (frame, end)) in entries.iter().zip(ups) {
        ensure!(disposition(entry) == end, "{:?} for {end:?}", disposition(entry));
        ensure!(frame.starts_with(&entry.header), "another header for {end:?}");
    }
    let counters = direct.counters();
    for (_, _, end) in &cases {
        let name = end.map_or_else(DropReason::name, Disposition::name);
        ensure!(counters[name] == 1, "{} times {name}", counters[name]);
    }
    direct.conclude();
    Ok(())
}

#[test]
fn decision_01_headers_go_up_drops_counted() {
    proves(Fault::DropUncounted, &PcieConfig::default(), check);
}
