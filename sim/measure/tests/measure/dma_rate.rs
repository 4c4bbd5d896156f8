//! Throughput of the requester in simulated time, each figure beside its own limit.
//!
//! ```text
//!   many jobs ──► Requester ── RQ, RC ──► PcieSim: PCIe 3.0 x16, 126 Gb/s raw, 2.5 % link traffic
//! ```
//! The works, their limits and the judging of every byte are those of
//! `sim/measure/src/dma/engines.rs`; `zeronic bench dma` measures the same for longer.

use abi::config::SLOT_BYTES;
use measure::dma::engines::{
    both_loads, measure, read_loads, write_loads, EngineLoad, Outcome, Rate, ENTRY,
};
use measure::dma::limits::{job, Kind, SPAN_BYTES};
use pcie_sim::PcieConfig;
use sim::dma_rig::{Read, Rig, Write};
use sim::harness::stall::Stall;

/// Time of a measurement, ns.
const TIME_NS: u64 = 32_000;
/// Cycles before that of [`mtu_1500`].
const WARM_UP_CYCLES: u64 = 2_000;
const CYCLES_PER_SECOND: f64 = 250e6;

/// A requester in the usual slot, nothing stalls.
fn open() -> Rig {
    Rig::new(PcieConfig::default(), Stall::None, Stall::None).expect("it builds")
}

fn measure_load(work: &EngineLoad) -> Outcome {
    let outcome = measure(work, TIME_NS).expect("a verdict");
    assert_eq!(outcome.problems.first, [""; 0], "{}", work.name);
    for rate in [outcome.write, outcome.read].into_iter().flatten() {
        let Rate { measured, limit } = rate;
        println!("{}: {measured:.2} of {limit:.2} GB/s", work.name);
        // The time ends within a job of 4 KiB.
        assert!(rate.share() < 1.01, "{}: {:.3}", work.name, rate.share());
    }
    outcome
}

#[test]
fn writes_come_close_to_their_limits() {
    for work in write_loads() {
        let rate = measure_load(&work).write.expect("there are writes");
        let least = match work.name.as_str() {
            "write 64 B" | "write 256 B, unaligned" => 0.95,
            "write 1,448 B unaligned, and an entry" => 0.97,
            _ => 0.98,
        };
        assert!(rate.share() > least, "{}: {:.3}", work.name, rate.share());
        let per_second = |bytes: u64| rate.measured * 1e9 / bytes as f64;
        match work.name.as_str() {
            "write 4 KiB" => assert!(rate.measured > 13.2),
            "write 98 B, header entries" => assert!(per_second(ENTRY.bytes) > 0.98 * 123.8e6),
            // Line rate at MTU 1500 is 8.127 million packets a second.
            "write 1,448 B unaligned, and an entry" => {
                assert!(per_second(1448 + ENTRY.bytes) > 8.127e6);
            }
            _ => {}
        }
    }
}

#[test]
fn reads_come_close_to_their_limits() {
    for headers in [256, 128] {
        for completion in [256, 128, 64] {
            for work in read_loads(completion, headers) {
                let rate = measure_load(&work).read.expect("there are reads");
                // Where the round trip binds, the 15 cycles that a read spends inside the card do
                // so with it, which the limit does not know of.
                let least = if headers == 256 { 0.98 } else { 0.93 };
                assert!(rate.share() > least, "{}: {:.3}", work.name, rate.share());
                if work.name.starts_with("read 4 KiB") && (completion, headers) == (256, 256) {
                    assert!(rate.measured > 12.2);
                }
            }
        }
    }
}

#[test]
fn duplex_comes_close_to_its_limits() {
    for work in both_loads() {
        let outcome = measure_load(&work);
        let share = |rate: Option<Rate>| rate.expect("both").share();
        assert!(share(outcome.write) > 0.97 && share(outcome.read) > 0.93);
    }
}

/// Gives out writes until there were `count`, the place of each as its bytes.
fn write_up_to(rig: &mut Rig, kinds: &[Kind], base: u64, pushed: &mut u64, count: u64) {
    while *pushed < count {
        let (at, bytes) = job(kinds, *pushed);
        rig.push_write(&Write {
            client: 0,
            address: base + at,
            bytes: vec![(at / 64) as u8; bytes as usize],
            relaxed: true,
        });
        *pushed += 1;
    }
}

/// Both directions of 100G Ethernet at MTU 1500: 8.127 million packets a second each way.
///
/// The host's lanes are then 98.8 % full: 1,448 bytes in 6 writes, an entry of a whole slot, and
/// the requests for 128 + 1,448 bytes to send, with 24 bytes for each TLP.
#[test]
fn both_ways_at_mtu_1500() {
    let (received, sent, waiting) = mtu_1500(8127, 1448, ALMOST_FULL_JOBS, 14_000);
    assert!(received > 8.1 && sent > 8.1);
    assert!(waiting < 16, "{waiting} writes waited");
}

/// What is received cannot wait, what is sent can: more reads than the port can carry beside the
/// writes do not hold those up when they are told that writes pile up, and only then.
#[test]
fn excess_reads_delay_no_write() {
    let (received, sent, waiting) = mtu_1500(12_000, 1448, ALMOST_FULL_JOBS, 14_000);
    assert!(received > 8.1 && sent > 7.5);
    assert!(waiting < 16, "{waiting} writes waited");
    let (received, sent, waiting) = mtu_1500(30_000, 64, ALMOST_FULL_JOBS, 62_000);
    assert!(received > 8.1);
    assert!(waiting < 16, "{waiting} writes waited");
    let (received, sent_untold, waiting) = mtu_1500(30_000, 64, u64::MAX, 62_000);
    assert!(received < 8.1 && sent_untold > sent);
    assert!(waiting > 32, "{waiting} writes waited");
}

/// Write jobs that wait from which on reads are told so.
const ALMOST_FULL_JOBS: u64 = 4;

/// Packets received and sent, millions a second, and the most write jobs that waited, when 8.127
/// million a second come in and `offered` thousand a second of `payload_bytes` are to be sent;
/// `rx_almost_full` from `almost_full_jobs` waiting ones on. The first [`WARM_UP_CYCLES`] do not
/// count.
fn mtu_1500(
    offered: u64,
    payload_bytes: u64,
    almost_full_jobs: u64,
    cycles: u64,
) -> (f64, f64, u64) {
    let mut rig = open();
    let base = rig.slot.memory(SPAN_BYTES);
    let payload = Kind { bytes: 1448, stride: 1448, offset: 0 };
    // The longest header fills its slot.
    let entry = Kind { bytes: SLOT_BYTES as u64, ..ENTRY };
    let packets = [payload, entry];
    let mut pushed = 0;
    let mut sent = 0;
    let mut measured = (0, 0);
    let mut waiting = 0;
    for cycle in 0..cycles {
        if cycle * offered / 250_000 > sent {
            let address = base + 0x9_0000 + sent % 256 * 128;
            rig.push_read(&Read { client: 1, address, bytes: 128 });
            let address = base + sent * payload_bytes % 0x7_0000;
            rig.push_read(&Read { client: 2, address, bytes: payload_bytes as usize });
            sent += 1;
        }
        if cycle == WARM_UP_CYCLES {
            measured = (rig.clients.jobs[0].handshakes(), rig.clients.answers[2].packets.len());
        }
        let due = cycle * 2 * 8127 / 250_000;
        write_up_to(&mut rig, &packets, base, &mut pushed, due);
        rig.cycle();
        let wait = pushed - rig.clients.jobs[0].handshakes();
        rig.bench.set("rx_almost_full", u64::from(wait >= almost_full_jobs));
        waiting = waiting.max(wait);
    }
    // Two write jobs a packet.
    let microseconds = (cycles - WARM_UP_CYCLES) as f64 * 1e6 / CYCLES_PER_SECOND;
    let received = (rig.clients.jobs[0].handshakes() - measured.0) as f64 / 2.0 / microseconds;
    let sent = (rig.clients.answers[2].packets.len() - measured.1) as f64 / microseconds;
    println!("both ways, MTU 1500: {received:.2} M packets/s received, {sent:.2} M packets/s sent");
    rig.assert_clean();
    (received, sent, waiting)
}

#[test]
fn small_write_appears_after_seven_cycles() {
    let mut rig = open();
    let address = rig.slot.memory(4096);
    rig.push_write(&Write { client: 0, address, bytes: vec![1; 64], relaxed: true });
    while rig.clients.jobs[0].handshakes() == 0 {
        rig.cycle();
    }
    let mut cycles = 0;
    while rig.slot.pulses.rq_offers == 0 {
        rig.cycle();
        cycles += 1;
    }
    assert_eq!(cycles, 7);
}

/// A payload of up to four dwords and its entry of 86 bytes are half a beat of the port and two:
/// both start in one beat, or one behind the end of the other.
#[test]
fn short_payload_entry_takes_2_5_beats() {
    const PAIRS: u64 = 3_000;
    for (bytes, cycles_max) in [(16, 2.55), (70, 3.55), (134, 4.55), (198, 5.55)] {
        let mut rig = open();
        let base = rig.slot.memory(512 * PAIRS);
        for index in 0..PAIRS {
            let of = |at, bytes, relaxed| Write {
                client: 0,
                address: base + 512 * index + at,
                bytes: vec![index as u8; bytes],
                relaxed,
            };
            rig.push_shared_writes(&of(0, bytes, true), &of(256, 86, false));
        }
        let mut start = 0;
        while !rig.clients.write_jobs[0].is_done() {
            rig.cycle();
            if rig.clients.jobs[0].handshakes() < PAIRS {
                start = rig.bench.now();
            }
        }
        let cycles = (rig.bench.now() - start) as f64 / (PAIRS / 2) as f64;
        println!("{bytes} bytes and an entry: {cycles:.3} cycles");
        assert!(cycles < cycles_max, "{bytes} bytes: {cycles:.3} cycles");
        rig.finish_writes();
        rig.assert_clean();
    }
}
