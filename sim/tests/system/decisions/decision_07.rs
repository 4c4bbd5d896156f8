//! Isolation in hardware: key, domain, bounds of the region, whatever a segment says.

use abi::command as c;
use abi::reason::Disposition;
use host::driver::bus::MemoryKind;
use host::records::commands::{region_install, Direction, RegionInstall};
use pcie_sim::PcieConfig;
use sim::direct::{disposition, Direct, Flow, GUARD};
use sim::faults::Fault;

use crate::decisions::rig::{pattern, proves, Found, Rig};

const REGION_BYTES: usize = 8192;

/// Sends a packet to a segment that must not be written to.
fn send_refused(direct: &mut Direct, flow: &Flow, what: &str) -> Found {
    direct.receive(flow.packet(0, &pattern(1, 300)).frame(0), false);
    direct.rest();
    let entries = direct.entries();
    ensure!(entries.len() == 1, "{} entries", entries.len());
    let end = disposition(&entries[0]);
    ensure!(end == Disposition::RegionRefused, "{what}: {end:?}");
    let payload = entries[0].deferred.as_deref();
    ensure!(payload == Some(&pattern(1, 300)[..]), "{what}: not deferred whole");
    Ok(())
}

fn check(rig: &mut Rig) -> Found {
    rig.arm();
    let direct = &mut rig.direct;
    let region = direct.region(MemoryKind::Application, REGION_BYTES, 3);
    let flow = |id: u16, domain: u16| Flow { domain, ..Flow::new(id, 100 * u32::from(id)) };
    let cases = [
        ("another domain", flow(0, 4), region.key, 0),
        ("an old key", flow(1, 3), region.key - 1, 0),
        ("out of bounds", flow(2, 3), region.key, REGION_BYTES as u64 - 299),
        ("far out of bounds", flow(3, 3), region.key, 1 << 40),
    ];
    for (what, flow, key, at) in cases {
        direct.install(&flow);
        let mut region = region;
        region.key = key;
        let segment = flow.segment(Direction::Receive, (0, 0, 2000), (&region, at));
        direct.done([segment]);
        send_refused(direct, &flow, what)?;
    }
    // Rightful, until the write right is taken away, and then the region.
    let flow = flow(4, 3);
    direct.install(&flow);
    let segment = flow.segment(Direction::Receive, (0, 0, 2000), (&region, 0));
    direct.done([segment]);
    let mut read_only = region_install(&RegionInstall {
        region: region.index,
        key: region.key,
        domain: 3,
        memory: 0,
        page_bits: 12,
        first_page: 0,
        bytes: REGION_BYTES as u64,
    });
    c::REGION_WRITE.set(&mut read_only, 0);
    direct.done([read_only]);
    send_refused(direct, &flow, "no right to write")?;
    direct.deregister(&region);
    send_refused(direct, &flow, "a removed region")?;
    let memory = direct.memory(&region.memory);
    ensure!(memory.iter().all(|byte| *byte == GUARD), "a refused byte landed");
    direct.conclude();
    Ok(())
}

#[test]
fn decision_07_every_access_is_checked() {
    proves(Fault::RegionIgnored, &PcieConfig::default(), check);
}
