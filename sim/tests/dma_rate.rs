//! Throughput of the requester in simulated time, against what the lanes of the model can carry.
//!
//! ```text
//!   many jobs ──► Requester ── RQ, RC ──► PcieSim: PCIe 3.0 x16, 126 Gb/s raw, 2.5 % link traffic
//! ```

mod dma_support;

use dma_support::{Read, Rig, Write};
use pcie_sim::{Direction, LinkConfig, PcieConfig};
use sim::stall::Stall;

/// Bytes that a direction of the lanes carries in a cycle.
fn lane_bytes_per_cycle() -> f64 {
    LinkConfig::default().bytes_per_cycle_fixed() as f64 / f64::from(1 << 20)
}

/// Share of the lanes used and payload rate between two moments.
fn rate(name: &str, before: (u64, Direction), after: (u64, Direction)) -> (f64, f64) {
    let cycles = (after.0 - before.0) as f64;
    let link = (after.1.link_bytes - before.1.link_bytes) as f64;
    let payload = (after.1.payload_bytes - before.1.payload_bytes) as f64;
    let utilisation = link / cycles / lane_bytes_per_cycle();
    let gigabytes = payload / cycles / 4.0;
    println!(
        "{name}: {gigabytes:.2} GB/s of payload, {:.1} % of the lanes",
        100.0 * utilisation
    );
    (gigabytes, utilisation)
}

/// Writes of `bytes` bytes, each `stride` behind the one before; measured in steady state.
fn write_rate(name: &str, bytes: usize, stride: u64, offset: u64, mps_bytes: u32) -> f64 {
    let config = PcieConfig {
        mps_bytes,
        ..PcieConfig::default()
    };
    let mut rig = Rig::new(config, Stall::None, Stall::None);
    let base = rig.slot.memory(1 << 20);
    let count = 600_000 / bytes;
    for index in 0..count as u64 {
        rig.push_write(&Write {
            client: 0,
            address: base + offset + index * stride % 0xf_0000,
            bytes: vec![0x5a; bytes],
            relaxed: true,
        });
    }
    let moment = |rig: &Rig| (rig.slot.pcie.cycle(), rig.slot.pcie.statistics().upstream);
    (0..2000).for_each(|_| rig.cycle());
    let before = moment(&rig);
    (0..6000).for_each(|_| rig.cycle());
    let after = moment(&rig);
    rig.assert_clean();
    rate(name, before, after).1
}

/// Reads of `bytes` bytes; measured in steady state.
fn read_rate(name: &str, bytes: usize, config: PcieConfig) -> f64 {
    let mut rig = Rig::new(config, Stall::None, Stall::None);
    let base = rig.slot.memory(1 << 20);
    for index in 0..(800_000 / bytes) as u64 {
        rig.push_read(&Read {
            client: (index % 4) as usize % 3,
            address: base + index * 4096 % 0xf_0000,
            bytes,
        });
    }
    let moment = |rig: &Rig| (rig.slot.pcie.cycle(), rig.slot.pcie.statistics().downstream);
    (0..3000).for_each(|_| rig.cycle());
    let before = moment(&rig);
    (0..6000).for_each(|_| rig.cycle());
    let after = moment(&rig);
    rig.assert_clean();
    rate(name, before, after).1
}

#[test]
fn writes_fill_the_lanes() {
    assert!(write_rate("write 4 KiB, MPS 256", 4096, 4096, 0, 256) > 0.98);
    assert!(write_rate("write 4 KiB, MPS 512", 4096, 4096, 0, 512) > 0.98);
    assert!(write_rate("write 1,448 B contiguous, MPS 256", 1448, 1448, 0, 256) > 0.98);
    assert!(write_rate("write 1,448 B at 2 KiB + 33, MPS 256", 1448, 2048, 33, 256) > 0.95);
    assert!(write_rate("write 128 B", 128, 128, 0, 256) > 0.95);
}

#[test]
fn reads_fill_the_lanes() {
    for split in [256, 128, 64] {
        let config = PcieConfig {
            completion_payload_bytes: split,
            mps_bytes: 512,
            ..PcieConfig::default()
        };
        let name = format!("read 4 KiB, completions of {split} B");
        assert!(read_rate(&name, 4096, config) > 0.95);
    }
}

/// Both directions of 100G Ethernet at MTU 1500: 8.127 million packets a second each way.
///
/// The host's lanes are then 99.7 % full: 1,448 bytes in 6.7 writes, an entry of 128 bytes, and the
/// requests for 128 + 1,448 bytes to send, with 24 bytes for each TLP.
#[test]
fn both_ways_at_mtu_1500() {
    let mut rig = Rig::new(PcieConfig::default(), Stall::None, Stall::None);
    let base = rig.slot.memory(1 << 20);
    for index in 0..600u64 {
        let (client, address) = (0, base + index * 1448 % 0x7_0000);
        rig.push_write(&Write {
            client,
            address,
            bytes: vec![1; 1448],
            relaxed: true,
        });
        let address = base + 0x8_0000 + index % 256 * 128;
        rig.push_write(&Write {
            client,
            address,
            bytes: vec![2; 128],
            relaxed: false,
        });
    }
    let mut sent = 0;
    let mut measured = (0, 0);
    for cycle in 0..14_000u64 {
        if cycle * 8127 / 250_000 > sent {
            let address = base + 0x9_0000 + sent % 256 * 128;
            rig.push_read(&Read {
                client: 1,
                address,
                bytes: 128,
            });
            let address = base + sent * 1448 % 0x7_0000;
            rig.push_read(&Read {
                client: 2,
                address,
                bytes: 1448,
            });
            sent += 1;
        }
        if cycle == 2000 {
            measured = (
                rig.clients.jobs[0].handshakes(),
                rig.clients.answers[2].packets.len(),
            );
        }
        rig.cycle();
    }
    // Two write jobs a packet; 12,000 cycles are 48 microseconds.
    let received = (rig.clients.jobs[0].handshakes() - measured.0) as f64 / 2.0 / 48.0;
    let sent = (rig.clients.answers[2].packets.len() - measured.1) as f64 / 48.0;
    println!("both ways, MTU 1500: {received:.2} M packets/s received, {sent:.2} M packets/s sent");
    rig.assert_clean();
    assert!(received > 8.1 && sent > 8.1);
}

#[test]
fn a_small_write_is_on_the_port_after_six_cycles() {
    let mut rig = Rig::new(PcieConfig::default(), Stall::None, Stall::None);
    let address = rig.slot.memory(4096);
    rig.push_write(&Write {
        client: 0,
        address,
        bytes: vec![1; 64],
        relaxed: true,
    });
    while rig.clients.jobs[0].handshakes() == 0 {
        rig.cycle();
    }
    let mut cycles = 0;
    while rig.slot.pulses.rq_offers == 0 {
        rig.cycle();
        cycles += 1;
    }
    assert_eq!(cycles, 6);
}
