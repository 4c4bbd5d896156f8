//! The checkers catch faults planted in the requester's Verilog; every scenario here passes without
//! its fault.
//!
//! ```text
//!   Verilog with one expression changed ──► scenario ──► must fail
//!   Verilog as emitted ───────────────────► scenario ──► must pass
//! ```

use super::support::{check, check_pairs, generator, open, random_bytes};
use pcie_sim::{Fault, MemoryId, PcieConfig, Rights, Target};
use rand::Rng;
use sim::caught::caught_by;
use sim::dma_rig::{Read, Rig, Write};
use sim::harness::stall::Stall;
use sim::switched::{TextFault, NO_FAULT};

/// All of this file: one model holds them.
const FAULTS: [TextFault; 12] = [
    STRICT,
    A_SKIPPED_SPLIT_AT_4_KIB,
    A_REUSED_TAG,
    A_MISSING_CHECK_OF_THE_COMPLETION_BUFFER,
    ROOM_THAT_COMES_BACK_BEFORE_THE_LAST_COMPLETION,
    BEATS_TO_REORDER_IN_THAT_ARE_GIVEN_OUT_TWICE,
    A_MISSING_CHECK_OF_THE_LOWER_ADDRESS,
    A_FLUSH_THAT_OVERTAKES_A_WRITE,
    A_WRITE_WITHOUT_ITS_PAYLOAD,
    A_JOB_THAT_IS_SHIFTED_WITH_THE_TAIL_BEFORE_IT,
    ANOTHER_CLIENT_BETWEEN_TWO_JOBS_OF_ONE_BEAT,
    A_SECOND_WRITE_OF_A_BEAT_WITHOUT_ITS_PAYLOAD,
];

/// Runs a scenario with a fault, expects `checker` to end it, and without it, expects it to pass.
fn catches(checker: &str, fault: TextFault, config: &PcieConfig, scenario: impl Fn(&mut Rig)) {
    let stalls = (Stall::None, Stall::None);
    catches_from(stalls, checker, fault, config, scenario);
}

/// The same with clients that stall, as sources and as sinks.
fn catches_from(
    stalls: (Stall, Stall),
    checker: &str,
    fault: TextFault,
    config: &PcieConfig,
    scenario: impl Fn(&mut Rig),
) {
    let faulty = Rig::with_fault(&FAULTS, fault, config.clone(), stalls);
    let mut faulty = faulty.expect("it builds");
    caught_by(checker, fault.1, || scenario(&mut faulty));
    scenario(&mut open(config.clone(), stalls.0, stalls.1));
}

/// Writes at odd places over page ends, and their bytes.
fn scattered_writes(rig: &mut Rig) {
    let mut random = generator(7);
    let base = rig.slot.memory(1 << 18);
    let mut writes = Vec::new();
    for index in 0..60 {
        let length = random.random_range(1..1500);
        let at = index * 4096 + 4096 - random.random_range(0..length.min(1400));
        writes.push(Write {
            client: index % 3,
            address: base + at as u64,
            bytes: random_bytes(&mut random, length),
            relaxed: true,
        });
    }
    check(rig, base, 1 << 18, &writes);
}

/// `count` reads of `bytes` bytes; all must come back right.
fn reads(rig: &mut Rig, count: u64, bytes: usize) {
    let base = rig.slot.memory(1 << 18);
    let content = random_bytes(&mut generator(8), 1 << 18);
    rig.slot.pcie.write(base, &content).expect("mapped");
    let place = |index: u64| index as usize * 517 % (content.len() - bytes);
    for index in 0..count {
        rig.push_read(&Read { client: 2, address: base + place(index) as u64, bytes });
    }
    // A broken rule shows before a read that never ends.
    rig.cycles(5_000);
    rig.assert_clean();
    rig.finish_reads([0, 0, count as usize, 0]);
    for index in 0..count {
        let packet = rig.answer(2);
        let at = place(index);
        let right = packet.bytes == content[at..at + bytes];
        assert!(packet.abort || right, "read {index} brings other bytes");
        assert!(!packet.abort, "read {index} is aborted");
    }
    rig.assert_clean();
}

/// Payload that may be overtaken, then an entry of `client` that may not overtake it.
fn write_then_publish(rig: &mut Rig, client: usize) {
    let mut random = generator(9);
    let base = rig.slot.memory(1 << 20);
    let entry = base + 0xf_f000;
    let payloads: Vec<Vec<u8>> = (0..200)
        .map(|_| {
            let length = random.random_range(500..3000);
            random_bytes(&mut random, length)
        })
        .collect();
    for (index, bytes) in (0u64..).zip(&payloads) {
        rig.push_write(&Write {
            client: 0,
            address: base + 4096 * index,
            bytes: bytes.clone(),
            relaxed: true,
        });
        // One at a time: only so is the order across clients that of this list.
        let jobs = rig.clients.jobs[0].handshakes();
        while rig.clients.jobs[0].handshakes() == jobs {
            rig.cycle();
        }
        rig.push_write(&Write {
            client,
            address: entry,
            bytes: (index as u32 + 1).to_le_bytes().to_vec(),
            relaxed: false,
        });
        let jobs = rig.clients.jobs[client].handshakes();
        while rig.clients.jobs[client].handshakes() == jobs {
            rig.cycle();
            let seen = rig.slot.bytes(entry, 4);
            let seen = u32::from_le_bytes(seen.try_into().expect("4 bytes")) as usize;
            if let Some(last) = seen.checked_sub(1) {
                let landed = rig.slot.bytes(base + 4096 * last as u64, payloads[last].len());
                assert!(landed == payloads[last], "entry {last} came before its payload");
            }
        }
    }
    rig.finish_writes();
    rig.assert_clean();
}

/// A flush that follows a long write to GPU memory.
fn write_then_flush(rig: &mut Rig) {
    let gpu = 0x60_0000_0000;
    let map = |rig: &mut Rig| {
        let pcie = &mut rig.slot.pcie;
        pcie.map(gpu, 0x1_0000, MemoryId::Gpu(0), 0, Rights::ReadWrite)
    };
    map(rig).expect("mapped");
    // No read goes out while tags are cleared, which the hard block's reset has begun.
    rig.cycles(2 * dma::read::tags::TAGS as u64);
    let bytes = random_bytes(&mut generator(10), 16_000);
    rig.push_write(&Write { client: 0, address: gpu, bytes: bytes.clone(), relaxed: true });
    rig.cycles(10);
    rig.push_read(&Read { client: 3, address: gpu, bytes: 1 });
    rig.finish_reads([0, 0, 0, 1]);
    let mut landed = vec![0; bytes.len()];
    rig.slot.pcie.read_memory(MemoryId::Gpu(0), 0, &mut landed).expect("inside");
    assert!(landed == bytes, "the flush came back before the write was there");
    rig.assert_clean();
}

/// A read whose first completion lies 64 bytes too high, and a hard block that lets it pass.
fn read_misplaced(rig: &mut Rig) {
    let base = rig.slot.memory(1 << 16);
    let content = random_bytes(&mut generator(11), 1 << 16);
    rig.slot.pcie.write(base, &content).expect("mapped");
    rig.slot.pcie.inject(Fault::WrongAddress, Target::Nth(1));
    for index in 0..4 {
        rig.push_read(&Read { client: 1, address: base + 4096 * index, bytes: 256 });
    }
    rig.finish_reads([0, 4, 0, 0]);
    for index in 0..4 {
        let packet = rig.answer(1);
        let at = 4096 * index;
        assert_eq!(packet.abort, index == 1, "read {index} is aborted, or not");
        assert!(packet.abort || packet.bytes == content[at..at + 256]);
    }
    rig.assert_clean();
}

/// The ordering attribute of a write that must stay in order, and with relaxed ordering set.
const STRICT: TextFault =
    ("strict_ordering = 128'd0;", "strict_ordering = 128'h20000000000000000000000000000000;");

#[test]
fn model_without_faults_passes() {
    let stalls = (Stall::Random(0.3), Stall::Random(0.3));
    let rig = Rig::with_fault(&FAULTS, NO_FAULT, PcieConfig::default(), stalls);
    let mut rig = rig.expect("it builds");
    scattered_writes(&mut rig);
    short_pairs(&mut rig);
    reads(&mut rig, 100, 512);
}

const A_SKIPPED_SPLIT_AT_4_KIB: TextFault = ("line = 7'd64;", "line = cut;");

#[test]
fn skipped_4_kib_split_is_caught() {
    catches("PageCrossing", A_SKIPPED_SPLIT_AT_4_KIB, &PcieConfig::default(), scattered_writes);
}

const A_REUSED_TAG: TextFault =
    ("assign is_used = issued_read_data_0 ^", "assign is_used = retired_read_data ^");

#[test]
fn a_reused_tag_is_caught() {
    let config = PcieConfig { extended_tags: false, ..PcieConfig::default() };
    catches("TagReused", A_REUSED_TAG, &config, |rig| {
        reads(rig, 200, 64);
    });
}

const A_MISSING_CHECK_OF_THE_COMPLETION_BUFFER: TextFault =
    ("assign fits = headers_fits", "assign fits = 1'd1 | headers_fits");

#[test]
fn missing_completion_buffer_check_is_caught() {
    catches(
        "BufferOversubscribed",
        A_MISSING_CHECK_OF_THE_COMPLETION_BUFFER,
        &PcieConfig::default(),
        |rig| reads(rig, 100, 512),
    );
}

const ROOM_THAT_COMES_BACK_BEFORE_THE_LAST_COMPLETION: TextFault = (
    "assign due_0 = ((event_0_valid & event_0_payload[0])",
    "assign due_0 = ((event_0_valid & 1'd1)",
);

#[test]
fn room_before_last_completion_is_caught() {
    let config = PcieConfig { completion_payload_bytes: 128, ..PcieConfig::default() };
    catches(
        "BufferOversubscribed",
        ROOM_THAT_COMES_BACK_BEFORE_THE_LAST_COMPLETION,
        &config,
        |rig| reads(rig, 100, 512),
    );
}

const BEATS_TO_REORDER_IN_THAT_ARE_GIVEN_OUT_TWICE: TextFault =
    ("used <= 10'd496", "used <= 10'd1023");

#[test]
fn doubly_given_reorder_beats_are_caught() {
    catches_from(
        (Stall::None, Stall::Random(0.9)),
        "brings other bytes",
        BEATS_TO_REORDER_IN_THAT_ARE_GIVEN_OUT_TWICE,
        &PcieConfig::default(),
        |rig| reads(rig, 200, 512),
    );
}

const A_MISSING_CHECK_OF_THE_LOWER_ADDRESS: TextFault =
    ("(descriptor[11:0] == address)", "(address == address)");

#[test]
fn missing_lower_address_check_is_caught() {
    let config = PcieConfig { checks_completions: false, ..PcieConfig::default() };
    catches(
        "read 1 is aborted, or not",
        A_MISSING_CHECK_OF_THE_LOWER_ADDRESS,
        &config,
        read_misplaced,
    );
}

#[test]
fn a_relaxed_header_entry_is_caught() {
    let config = PcieConfig { relaxed_pass_permille: 500, ..PcieConfig::default() };
    catches("came before its payload", STRICT, &config, |rig| write_then_publish(rig, 0));
}

#[test]
fn confirmation_overtaking_write_is_caught() {
    let config = PcieConfig { relaxed_pass_permille: 500, ..PcieConfig::default() };
    catches("came before its payload", STRICT, &config, |rig| write_then_publish(rig, 1));
}

const A_FLUSH_THAT_OVERTAKES_A_WRITE: TextFault = ("passed <= armed & ", "passed <= armed | ");

#[test]
fn flush_overtaking_write_is_caught() {
    catches(
        "the flush came back before the write",
        A_FLUSH_THAT_OVERTAKES_A_WRITE,
        &PcieConfig::default(),
        write_then_flush,
    );
}

const A_WRITE_WITHOUT_ITS_PAYLOAD: TextFault =
    ("assign is_stored = ", "assign is_stored = 1'd1 | ");

#[test]
fn write_without_payload_is_caught() {
    catches_from(
        (Stall::Random(0.8), Stall::None),
        "is neither old nor new",
        A_WRITE_WITHOUT_ITS_PAYLOAD,
        &PcieConfig::default(),
        scattered_writes,
    );
}

/// Short writes, each with one behind it that begins in its beat.
fn short_pairs(rig: &mut Rig) {
    let mut random = generator(12);
    let shapes: Vec<(u64, usize)> =
        (0..300).map(|_| (random.random_range(0..64), random.random_range(1..=29))).collect();
    check_pairs(rig, &mut random, &shapes);
}

const A_JOB_THAT_IS_SHIFTED_WITH_THE_TAIL_BEFORE_IT: TextFault =
    ("rear_shift = 5'd0;", "rear_shift = shift;");

#[test]
fn job_shifted_with_previous_tail_is_caught() {
    catches(
        "is neither old nor new",
        A_JOB_THAT_IS_SHIFTED_WITH_THE_TAIL_BEFORE_IT,
        &PcieConfig::default(),
        short_pairs,
    );
}

const ANOTHER_CLIENT_BETWEEN_TWO_JOBS_OF_ONE_BEAT: TextFault =
    ("if ((advance & (~job[81])) | ", "if (advance | ");

#[test]
fn foreign_client_inside_beat_is_caught() {
    catches(
        "is neither old nor new",
        ANOTHER_CLIENT_BETWEEN_TWO_JOBS_OF_ONE_BEAT,
        &PcieConfig::default(),
        short_pairs,
    );
}

const A_SECOND_WRITE_OF_A_BEAT_WITHOUT_ITS_PAYLOAD: TextFault =
    ("((sink_valid & (~moves)) & next_end_passed) &", "(sink_valid & (~moves)) &");

#[test]
fn second_write_without_payload_is_caught() {
    catches_from(
        (Stall::Random(0.8), Stall::None),
        "is neither old nor new",
        A_SECOND_WRITE_OF_A_BEAT_WITHOUT_ITS_PAYLOAD,
        &PcieConfig::default(),
        short_pairs,
    );
}
