//! What the host may rely on: an entry comes after what it publishes, a flush after all writes.
//!
//! ```text
//!   payload (relaxed) ──► entry (strict) ──► host sees the entry: all payload before it is there
//!   write jobs accepted ──► flush read ──► answer: they are in memory
//! ```

use super::support::{generator, open, random_bytes};
use pcie_sim::{MemoryId, PcieConfig, Rights};
use rand::Rng;
use seed::{enough, seed};
use sim::dma_rig::{Read, Write, WRITERS};
use sim::harness::monitor::StreamMonitor;
use sim::harness::source::PacketSource;
use sim::harness::stall::Stall;

#[test]
fn payload_is_there_with_entry() {
    let seed = seed();
    let mut random = generator(seed);
    let config = PcieConfig {
        seed,
        relaxed_pass_permille: 500,
        rq_stall_permille: 100,
        ..PcieConfig::default()
    };
    let mut rig = open(config, Stall::None, Stall::None);
    let base = rig.slot.memory(1 << 20);
    let entry = base + 0xf_f000;
    let payloads: Vec<(u64, Vec<u8>)> = (1..=200u64)
        .map(|index| {
            let length = random.random_range(1..3000);
            (base + index * 4096 + random.random_range(0..1000), random_bytes(&mut random, length))
        })
        .collect();
    for (index, (address, bytes)) in (1u32..).zip(&payloads) {
        let (client, bytes) = (0, bytes.clone());
        rig.push_write(&Write { client, address: *address, bytes, relaxed: true });
        let bytes = index.to_le_bytes().to_vec();
        rig.push_write(&Write { client, address: entry, bytes, relaxed: false });
    }
    let mut seen = 0;
    while seen < payloads.len() {
        rig.cycle();
        let now = rig.slot.bytes(entry, 4);
        let now = u32::from_le_bytes(now.try_into().expect("4 bytes")) as usize;
        assert!(now >= seen, "entry {now} after {seen}");
        for (address, bytes) in &payloads[seen..now] {
            assert!(rig.slot.bytes(*address, bytes.len()) == *bytes, "entry {now} came early");
        }
        seen = now;
        assert!(rig.bench.now() < 1_000_000, "entry {seen} is the last");
    }
    rig.assert_clean();
}

#[test]
fn flush_waits_for_accepted_writes() {
    let seed = seed();
    let mut random = generator(seed);
    for round in 0..20 {
        let config = PcieConfig { seed: seed ^ round, ..PcieConfig::default() };
        let mut rig = open(config, Stall::None, Stall::None);
        let gpu = 0x60_0000_0000;
        rig.slot.pcie.map(gpu, 0x1_0000, MemoryId::Gpu(0), 0, Rights::ReadWrite).expect("mapped");
        let bytes = random_bytes(&mut random, 5000);
        let address = gpu + random.random_range(0..64);
        let client = random.random_range(0..3);
        rig.push_write(&Write { client, address, bytes: bytes.clone(), relaxed: true });
        // The job is accepted, its packet comes slowly: a beat every fourth cycle.
        let name = format!("{}_data", WRITERS[client]);
        let mut slow = PacketSource::new(&rig.bench.model, &name, Stall::Random(0.75), seed);
        slow.push(bytes.clone());
        rig.clients.write_data[client] = slow;
        rig.cycles(random.random_range(4..40));
        assert!(rig.clients.write_jobs[client].is_done());
        rig.push_read(&Read { client: 3, address: gpu, bytes: 1 });
        rig.push_read(&Read { client: 0, address: gpu + 0x8000, bytes: 64 });
        rig.finish_reads([1, 0, 0, 0]);
        let overtakes = rig.clients.answers[3].packets.is_empty();
        rig.finish_reads([1, 0, 0, 1]);
        let mut landed = vec![0; bytes.len()];
        rig.slot.pcie.read_memory(MemoryId::Gpu(0), address - gpu, &mut landed).expect("inside");
        assert!(landed == bytes, "the flush came back before the write was there");
        assert!(overtakes, "another read had to wait for the flush");
        rig.assert_clean();
    }
}

#[test]
fn clients_that_wait_take_turns() {
    let config = PcieConfig::default();
    let mut rig = open(config, Stall::None, Stall::None);
    let base = rig.slot.memory(1 << 20);
    for index in 0..600u64 {
        for client in 0..3 {
            let address = base + (index % 64) * 4096 + 1024 * client as u64;
            rig.push_write(&Write { client, address, bytes: vec![1; 1000], relaxed: false });
        }
        rig.push_read(&Read { client: 2, address: base, bytes: 4096 });
    }
    let before = rig.slot.pcie.statistics().downstream.payload_bytes;
    rig.cycles(20_000);
    let answered = rig.slot.pcie.statistics().downstream.payload_bytes - before;
    let sent: Vec<u64> = rig.clients.jobs.iter().map(StreamMonitor::handshakes).collect();
    let (least, most) = (sent.iter().min(), sent.iter().max());
    assert!(most.unwrap() - least.unwrap() <= 2, "{sent:?} packets");
    // Writes and reads share RQ: neither starves the other.
    enough("bytes of answers", answered, 500_000);
    enough("packets of each client", sent[0], 200);
    rig.assert_clean();
}
