//! Writes of the card: bytes, order, sequence numbers, bandwidth, refusals, GPU visibility.
//!
//! ```text
//!   Bench: card --RQ--> [ pcie-sim: DRAM path | GPU path ] --> memories, interrupts, fault log
//! ```

use crate::card::Bench;
use pcie_sim::{FaultRecord, MemoryId, PcieConfig, Random, Refusal, Request, Rights, PAGE_BYTES};
use seed::seed_or;

const BUS: u64 = 0x10_0000_0000;
const GPU_BUS: u64 = 0x30_0000_0000;
const INTERRUPT: u64 = 0xfee0_1000;

fn bench(config: PcieConfig) -> Bench {
    let mut bench = Bench::new(config);
    bench.sim.map(BUS, 1 << 20, MemoryId::Dram, 0, Rights::ReadWrite).unwrap();
    bench.sim.map(GPU_BUS, 1 << 20, MemoryId::Gpu(0), 0, Rights::ReadWrite).unwrap();
    bench
}

fn byte_at(bench: &Bench, address: u64) -> u8 {
    let mut byte = [0];
    bench.sim.read(address, &mut byte).unwrap();
    byte[0]
}

#[test]
fn random_writes_land_byte_exact() {
    let seed = seed_or(5);
    let config = PcieConfig { seed, rq_stall_permille: 300, ..PcieConfig::default() };
    let mut bench = bench(config);
    let mut random = Random::new(seed);
    let mut model = vec![0u8; 1 << 16];
    for round in 0..500u32 {
        let at = random.below(1 << 16) as usize;
        let room = 4096 - at % 4096;
        let bytes = (random.below(257) as usize).min(room).min(256 - at % 4);
        let data: Vec<u8> = (0..bytes).map(|i| (round as usize * 7 + i) as u8).collect();
        model[at..at + bytes].copy_from_slice(&data);
        bench.card.issue(Request::write(BUS + at as u64, &data));
        if random.chance(100) {
            bench.run(random.below(50));
        }
    }
    bench.settle();
    let mut seen = vec![0u8; 1 << 16];
    bench.sim.read(BUS, &mut seen).unwrap();
    assert!(seen == model);
    bench.assert_clean();
}

#[test]
fn sequence_numbers_return_once_in_order() {
    let mut bench = bench(PcieConfig::default());
    for i in 0..100u64 {
        bench.card.issue(Request::write(BUS + 64 * i, &[i as u8; 4]));
    }
    bench.settle();
    let numbers: Vec<u8> = bench.card.sequence_numbers.iter().map(|(_, n)| *n).collect();
    let expected: Vec<u8> = (0..100u8).map(|i| i % 64).collect();
    assert_eq!(numbers, expected);
}

#[test]
fn payload_is_visible_before_its_followers() {
    let mut bench = bench(PcieConfig::default());
    for round in 1..=50u8 {
        bench.card.issue(Request::write(BUS, &[round; 256]));
        bench.card.issue(Request::write(BUS + 0x8000, &[round; 4]));
        bench.run_until(1000, |b| byte_at(b, BUS + 0x8000) == round);
        assert_eq!((byte_at(&bench, BUS), byte_at(&bench, BUS + 255)), (round, round));
    }
    bench.assert_clean();
}

#[test]
fn relaxed_write_passes_strict_one_stays() {
    let config =
        PcieConfig { relaxed_pass_permille: 500, dram_write_ns: 400, ..PcieConfig::default() };
    let mut bench = bench(config);
    let (mut passed, mut kept) = (0, 0);
    for round in 1..=60u8 {
        bench.card.issue(Request::write(BUS, &[round; 4]));
        let mut relaxed = Request::write(BUS + 64, &[round; 4]);
        relaxed.attributes = 0b010;
        bench.card.issue(relaxed);
        bench.card.issue(Request::write(BUS + 128, &[round; 4]));
        bench.run_until(1000, |b| byte_at(b, BUS + 64) == round);
        match byte_at(&bench, BUS) == round {
            true => kept += 1,
            false => passed += 1,
        }
        bench.run_until(1000, |b| byte_at(b, BUS + 128) == round);
        assert_eq!((byte_at(&bench, BUS), byte_at(&bench, BUS + 64)), (round, round));
    }
    assert!(passed > 10 && kept > 10, "{passed} {kept}");
}

#[test]
fn gpu_write_is_visible_after_flush_read() {
    let mut bench = bench(PcieConfig::default());
    bench.card.issue(Request::write(GPU_BUS, &[0x55; 64]));
    bench.card.issue(Request::write(BUS, &[0x66; 4]));
    bench.run_until(1000, |b| byte_at(b, BUS) == 0x66);
    assert_eq!(byte_at(&bench, GPU_BUS), 0, "the DRAM write overtakes");

    bench.card.issue(Request::write(GPU_BUS + 64, &[0x77; 64]));
    bench.card.issue(Request::read(GPU_BUS, 0, 3));
    bench.run_until(5000, |b| b.card.completions.iter().any(|c| c.tag == 3));
    assert_eq!((byte_at(&bench, GPU_BUS), byte_at(&bench, GPU_BUS + 127)), (0x55, 0x77));
    bench.assert_clean();
}

#[test]
fn one_flush_covers_all_earlier_writes() {
    let seed = seed_or(3);
    let config = PcieConfig { seed, jitter_ns: 3_000, ..PcieConfig::default() };
    let mut bench = bench(config);
    let mut random = Random::new(seed);
    let mut late = 0;
    for round in 1..=40u8 {
        for i in 0..1 + random.below(20) {
            bench.card.issue(Request::write(GPU_BUS + 64 * i, &[round; 64]));
        }
        bench.card.issue(Request::write(GPU_BUS + 0x8000, &[round; 4]));
        bench.card.issue(Request::write(BUS, &[round; 4]));
        bench.card.issue(Request::read(GPU_BUS, 0, round));
        bench.run_until(5000, |b| byte_at(b, BUS) == round);
        late += u32::from(byte_at(&bench, GPU_BUS + 0x8000) != round);
        bench.run_until(5000, |b| b.card.completions.iter().any(|c| c.tag == round));
        assert_eq!(byte_at(&bench, GPU_BUS), round);
        assert_eq!(byte_at(&bench, GPU_BUS + 0x8000), round);
    }
    assert!(late > 0, "without the flush some would have been missed");
    bench.assert_clean();
}

#[test]
fn dram_read_does_not_await_gpu() {
    let config = PcieConfig { gpu_write_ns: 10_000, ..PcieConfig::default() };
    let mut bench = bench(config);
    bench.card.issue(Request::write(GPU_BUS, &[1; 64]));
    bench.card.issue(Request::read(BUS, 4, 0));
    bench.run_until(400, |b| !b.card.completions.is_empty());
    assert_eq!(byte_at(&bench, GPU_BUS), 0);
}

#[test]
fn read_sees_the_write_before_it() {
    let config = PcieConfig { dram_write_ns: 5_000, ..PcieConfig::default() };
    let mut bench = bench(config);
    bench.card.issue(Request::write(BUS + 0x100, &[9; 8]));
    bench.card.issue(Request::read(BUS + 0x100, 8, 0));
    bench.settle();
    assert_eq!(bench.bytes_of(0), vec![9; 8]);
}

#[test]
fn interrupt_follows_the_writes_before_it() {
    let mut bench = bench(PcieConfig::default());
    for round in 1..=20u8 {
        bench.card.issue(Request::write(BUS, &[round; 256]));
        bench.card.issue(Request::write(INTERRUPT, &u32::from(round).to_le_bytes()));
        let mut interrupt = None;
        bench.run_until(1000, |b| {
            interrupt = b.sim.next_interrupt();
            interrupt.is_some()
        });
        let interrupt = interrupt.unwrap();
        assert_eq!((interrupt.address, interrupt.data), (INTERRUPT, u32::from(round)));
        assert_eq!(byte_at(&bench, BUS + 255), round);
    }
    assert_eq!(bench.sim.pending_interrupts().count(), 0);
    bench.assert_clean();
}

#[test]
fn refused_write_leaves_only_log_trace() {
    let mut bench = bench(PcieConfig::default());
    let read_only = BUS + (1 << 21);
    bench.sim.map(read_only, PAGE_BYTES, MemoryId::Dram, 1 << 21, Rights::Read).unwrap();
    bench.card.issue(Request::write(0xdead_0000, &[1; 16]));
    bench.card.issue(Request::write(read_only, &[1; 4]));
    bench.card.issue(Request::write(INTERRUPT, &[1; 8]));
    bench.settle();
    let seen: Vec<_> = bench
        .sim
        .take_fault_log()
        .into_iter()
        .map(|FaultRecord { bus_address, bytes, write, refusal, .. }| {
            (bus_address, bytes, write, refusal)
        })
        .collect();
    let expected = vec![
        (0xdead_0000, 16, true, Refusal::Unmapped),
        (read_only, 4, true, Refusal::Rights),
        (INTERRUPT, 8, true, Refusal::MalformedInterrupt),
    ];
    assert_eq!(seen, expected);
    assert_eq!(byte_at(&bench, read_only), 0);
    assert!(bench.card.completions.is_empty() && bench.sim.fault_log().is_empty());
    bench.assert_clean();
}

#[test]
fn unmap_refuses_only_later_writes() {
    let config = PcieConfig { dram_write_ns: 100_000, ..PcieConfig::default() };
    let mut bench = bench(config);
    bench.card.issue(Request::write(BUS, &[1; 4]));
    bench.run(500);
    let mut before = [0; 4];
    bench.sim.read_memory(MemoryId::Dram, 0, &mut before).unwrap();
    bench.sim.unmap(BUS, 1 << 20).unwrap();
    bench.step();
    let mut after = [0; 4];
    bench.sim.read_memory(MemoryId::Dram, 0, &mut after).unwrap();
    assert_eq!((before, after), ([0; 4], [1; 4]));
    bench.card.issue(Request::write(BUS, &[2; 4]));
    bench.settle();
    assert_eq!(bench.sim.fault_log()[0].refusal, Refusal::Unmapped);
}

#[test]
fn gpu_access_beyond_bar_is_refused() {
    let mut config = PcieConfig::default();
    config.gpus[0].bar_bytes = 1 << 20;
    let mut bench = bench(config);
    let beyond = GPU_BUS + (1 << 20);
    assert!(bench.sim.map(beyond, PAGE_BYTES, MemoryId::Gpu(0), 1 << 20, Rights::Write).is_err());
    bench.sim.resize_gpu_bar(0, 1 << 21).unwrap();
    bench.sim.map(beyond, PAGE_BYTES, MemoryId::Gpu(0), 1 << 20, Rights::Write).unwrap();
    bench.card.issue(Request::write(beyond, &[7; 4]));
    bench.settle();
    assert_eq!(byte_at(&bench, beyond), 7);
    bench.sim.resize_gpu_bar(0, 1 << 20).unwrap();
    bench.card.issue(Request::write(beyond, &[8; 4]));
    bench.settle();
    assert_eq!(byte_at(&bench, beyond), 7);
    assert_eq!(bench.sim.fault_log()[0].refusal, Refusal::BeyondBar);
}

#[test]
fn largest_writes_reach_lane_rate() {
    let mut bench = bench(PcieConfig::default());
    let start = bench.sim.statistics().upstream;
    let mut issued = 0u64;
    for _ in 0..20_000 {
        // 256 bytes take 4.25 straddled beats; the lanes take 4.56 cycles for them.
        if issued * 4 < bench.sim.cycle() {
            bench.card.issue(Request::write(BUS + (issued * 256) % (1 << 20), &[1; 256]));
            issued += 1;
        }
        bench.step();
    }
    let done = bench.sim.statistics().upstream;
    let bytes = done.payload_bytes - start.payload_bytes;
    let gigabits = bytes as f64 * 8.0 / (20_000.0 * 4.0);
    // 126.03 Gb/s less 2.5 % link traffic, times 256 / 280.
    assert!((111.5..112.5).contains(&gigabits), "{gigabits}");
    assert!(bench.sim.statistics().upstream_utilisation > 0.99);
    bench.assert_clean();
}

#[test]
fn stream_without_credits_stalls_without_loss() {
    let mut config = PcieConfig::default();
    config.host_credits.posted_headers = 2;
    config.host_credits.posted_data = 32;
    let mut bench = bench(config);
    for i in 0..200u64 {
        bench.card.issue(Request::write(BUS + 256 * i, &[i as u8; 256]));
    }
    bench.settle();
    assert!(bench.sim.statistics().rq_stall_cycles > 1000);
    for i in 0..200u64 {
        assert_eq!(byte_at(&bench, BUS + 256 * i + 255), i as u8);
    }
    bench.assert_clean();
}

#[test]
fn posted_writes_pass_stalled_reads() {
    let mut config = PcieConfig::default();
    config.host_credits.nonposted_headers = 1;
    config.credit_return_ns = 5_000;
    let mut bench = bench(config);
    for tag in 0..4 {
        bench.card.issue(Request::read(BUS, 4, tag));
    }
    bench.card.issue(Request::write(BUS + 64, &[5; 4]));
    bench.run_until(500, |b| byte_at(b, BUS + 64) == 5);
    assert_eq!(bench.sim.statistics().upstream.reads, 1);
    bench.run(8_000);
    assert_eq!(bench.card.completions.len(), 4);
    bench.assert_clean();
}
