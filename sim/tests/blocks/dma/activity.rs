//! Everything the requester reports for counters moves when, and only when, its cause is there.
//!
//! ```text
//!   one cause at a time ──► Requester ──► activity = what was done to it
//! ```
//! Bits are those of the groups "requests", "reads" and "read latency" of `abi::counters`.

use super::support::open;
use abi::counters::{Counter, COUNTER_GROUPS};
use pcie_sim::{Credits, Fault, PcieConfig, Target};
use sim::dma_rig::{Activity, Read, Rig, Write, TIMEOUT_CYCLES};
use sim::harness::stall::Stall;

fn place(group: &str, name: &str) -> usize {
    let group = COUNTER_GROUPS.iter().find(|g| g.name.starts_with(group));
    let is_it = |counter: &Counter| counter.name == name;
    let place = group.and_then(|group| group.counters.iter().position(is_it));
    place.expect("a counter of that name")
}

fn requests(activity: &Activity, name: &str) -> u64 {
    activity.requests[place("requests", name)]
}

fn reads(activity: &Activity, name: &str) -> u64 {
    activity.reads[place("reads", name)]
}

fn rig(config: PcieConfig, source: Stall, sink: Stall) -> (Rig, u64) {
    let mut rig = open(config, source, sink);
    let base = rig.slot.memory(1 << 20);
    (rig, base)
}

fn write_all(rig: &mut Rig, base: u64, count: u64, bytes: usize) -> Activity {
    for index in 0..count {
        rig.push_write(&Write {
            client: 0,
            address: base + index * 4096 % 0xf_0000,
            bytes: vec![3; bytes],
            relaxed: false,
        });
    }
    rig.finish_writes();
    rig.assert_clean();
    rig.slot.activity
}

fn read_all(rig: &mut Rig, base: u64, client: usize, count: u64, bytes: usize) -> Activity {
    for index in 0..count {
        rig.push_read(&Read { client, address: base + index * 4096 % 0xf_0000, bytes });
    }
    let mut counts = [0; 4];
    counts[client] = count as usize;
    rig.finish_reads(counts);
    (0..count).for_each(|_| drop(rig.answer(client)));
    rig.assert_clean();
    rig.slot.activity
}

#[test]
fn jobs_and_beats_are_each_counted() {
    let (mut rig, base) = rig(PcieConfig::default(), Stall::None, Stall::None);
    let activity = write_all(&mut rig, base, 50, 256);
    assert_eq!(requests(&activity, "write_jobs"), 50);
    let beats = requests(&activity, "rq_beats") + requests(&activity, "rq_stall_cycles");
    assert_eq!(beats, rig.slot.pulses.rq_offers);
    // 68 dwords each, from half a beat on: 4.5 beats.
    assert!(requests(&activity, "rq_beats") >= 225);
    let activity = read_all(&mut rig, base, 1, 30, 512);
    assert_eq!(reads(&activity, "read_jobs"), 30);
    assert!(reads(&activity, "rc_beats") >= 30 * 8);
    assert_eq!(requests(&activity, "write_jobs"), 50);
}

/// A cycle in which a beat is offered takes it or stalls, never both.
#[test]
fn beat_counts_once_at_stalled_port() {
    let config = PcieConfig { rq_stall_permille: 500, ..PcieConfig::default() };
    let (mut rig, base) = rig(config, Stall::None, Stall::None);
    let activity = write_all(&mut rig, base, 50, 256);
    let names = ["rq_beats", "rq_stall_cycles"];
    let [beats, stalls] = names.map(|name| requests(&activity, name));
    assert_eq!(beats + stalls, rig.slot.pulses.rq_offers);
    assert!(beats >= 225 && stalls >= 100, "{beats} beats, {stalls} stalls");
}

#[test]
fn nothing_waits_when_little_is_asked() {
    let (mut rig, base) = rig(PcieConfig::default(), Stall::None, Stall::None);
    for index in 0..4 {
        rig.push_write(&Write {
            client: 1,
            address: base + 4096 * index,
            bytes: vec![1; 64],
            relaxed: false,
        });
        rig.push_read(&Read { client: 2, address: base, bytes: 64 });
        rig.cycles(600);
    }
    let activity = rig.slot.activity;
    for name in [
        "rq_stall_cycles",
        "write_window_stall_cycles",
        "write_data_stall_cycles",
        "write_job_stall_cycles",
    ] {
        assert_eq!(requests(&activity, name), 0, "{name}");
    }
    for name in [
        "rc_stall_cycles",
        "tag_stall_cycles",
        "completion_room_stall_cycles",
        "read_job_stall_cycles",
        "flush_wait_cycles",
        "answer_stall_cycles",
    ] {
        assert_eq!(reads(&activity, name), 0, "{name}");
    }
    assert_eq!(activity.reads_in_flight, 1);
    let failed = activity.payload_failed + activity.flush_failed + activity.unexpected;
    assert_eq!(failed + activity.tags_quarantined, 0);
}

#[test]
fn link_without_credits_stalls_and_fills() {
    let config = PcieConfig {
        host_credits: Credits { posted_headers: 2, posted_data: 64, nonposted_headers: 4 },
        ..PcieConfig::default()
    };
    let (mut rig, base) = rig(config, Stall::None, Stall::None);
    let activity = write_all(&mut rig, base, 200, 4);
    assert!(requests(&activity, "write_window_stall_cycles") > 1_000);
    assert_eq!(activity.writes_in_flight, 32);
    let activity = write_all(&mut rig, base, 50, 4096);
    assert!(requests(&activity, "rq_stall_cycles") > 1_000);
    assert!(requests(&activity, "write_job_stall_cycles") > 1_000);
    assert_eq!(activity.write_beats, 64);
}

#[test]
fn slow_client_shows_data_stall() {
    let (mut rig, base) = rig(PcieConfig::default(), Stall::Random(0.8), Stall::None);
    let activity = write_all(&mut rig, base, 20, 1000);
    assert!(requests(&activity, "write_data_stall_cycles") > 500);
    assert_eq!(requests(&activity, "write_window_stall_cycles"), 0);
}

#[test]
fn reads_wait_for_tags_or_room() {
    let few_tags = PcieConfig { extended_tags: false, ..PcieConfig::default() };
    let (mut rig_32, base) = rig(few_tags, Stall::None, Stall::None);
    let activity = read_all(&mut rig_32, base, 2, 300, 64);
    assert!(reads(&activity, "tag_stall_cycles") > 1_000);
    assert_eq!(reads(&activity, "completion_room_stall_cycles"), 0);
    assert_eq!(activity.reads_in_flight, 32);
    assert!(reads(&activity, "read_job_stall_cycles") > 1_000);

    let (mut rig_256, base) = rig(PcieConfig::default(), Stall::None, Stall::None);
    let activity = read_all(&mut rig_256, base, 2, 300, 512);
    assert!(reads(&activity, "completion_room_stall_cycles") > 1_000);
    assert_eq!(reads(&activity, "tag_stall_cycles"), 0);
    // 32 reads of 512 bytes: 8 headers each.
    assert_eq!(activity.completion_headers, 256);
    assert_eq!(activity.completion_data, 32 * 32);
    assert_eq!(u64::from(rig_256.slot.pcie.statistics().reads_in_flight_peak), 32);
}

#[test]
fn stalled_client_stalls_answers_then_port() {
    let (mut rig, base) = rig(PcieConfig::default(), Stall::None, Stall::Random(0.9));
    let activity = read_all(&mut rig, base, 2, 60, 4096);
    assert!(reads(&activity, "answer_stall_cycles") > 10_000);
}

#[test]
fn small_completions_stall_the_port() {
    // Completions of one dword, up to four in a beat, are taken apart one a cycle.
    let config = PcieConfig { jitter_ns: 800, ..PcieConfig::default() };
    let (mut rig, base) = rig(config, Stall::None, Stall::None);
    let activity = read_all(&mut rig, base, 2, 400, 4);
    let (beats, stalls) = (reads(&activity, "rc_beats"), reads(&activity, "rc_stall_cycles"));
    // A beat that is offered is taken in this cycle or it stalls.
    assert_eq!(beats + stalls, rig.slot.pulses.rc_offers);
    // Every completion beyond the first of its beat takes a cycle more. It stalls the port when
    // the next beat has come already, as it has for most: the jitter makes them come in bursts.
    let more = 400 - beats;
    let expected = more / 2..=more;
    assert!(expected.contains(&stalls), "{stalls} cycles for {more}");
}

#[test]
fn a_flush_waits_for_writes() {
    let (mut rig, base) = rig(PcieConfig::default(), Stall::Random(0.5), Stall::None);
    rig.push_write(&Write { client: 0, address: base, bytes: vec![1; 16_000], relaxed: true });
    rig.cycles(50);
    let activity = read_all(&mut rig, base, 3, 1, 1);
    assert!(reads(&activity, "flush_wait_cycles") > 100);
}

#[test]
fn latency_falls_into_its_bucket() {
    for (latency_ns, bucket) in [(420, 1), (700, 2), (1_500, 3), (3_000, 4), (12_000, 6)] {
        let config = PcieConfig { latency_ns, ..PcieConfig::default() };
        let (mut rig, base) = rig(config, Stall::None, Stall::None);
        let activity = read_all(&mut rig, base, 1, 8, 256);
        let mut expected = [0; 8];
        // Eight reads start at once: the second is followed only if it starts after the first's
        // end, so one sample a round.
        expected[bucket] = 1;
        assert_eq!(activity.latency, expected, "{latency_ns} ns");
        for _ in 0..3 {
            let activity = read_all(&mut rig, base, 1, 8, 256);
            expected[bucket] += 1;
            assert_eq!(activity.latency, expected, "{latency_ns} ns");
        }
    }
}

#[test]
fn failures_count_for_their_client() {
    let cases = [(2, 1, 0), (3, 0, 1), (0, 0, 0), (1, 0, 0)];
    for (client, payload_failed, flush_failed) in cases {
        let (mut rig, base) = rig(PcieConfig::default(), Stall::None, Stall::None);
        let target = Target::Address(base + 8192..base + 8193);
        rig.slot.pcie.inject(Fault::Poison, target);
        let activity = read_all(&mut rig, base, client, 6, 200);
        let failed = (activity.payload_failed, activity.flush_failed);
        assert_eq!(failed, (payload_failed, flush_failed), "client {client}");
        assert_eq!(rig.slot.pulses.read_error, 1);
        assert_eq!(activity.unexpected, 0);
    }
}

#[test]
fn lost_and_late_completions_are_counted() {
    let config = PcieConfig { completion_timeout_ns: None, ..PcieConfig::default() };
    let (mut rig, base) = rig(config, Stall::None, Stall::None);
    let late = Fault::Late(2 * 4 * u64::from(TIMEOUT_CYCLES));
    let at = |page: u64| Target::Address(base + page * 4096..base + page * 4096 + 1);
    rig.slot.pcie.inject(late, at(1));
    rig.slot.pcie.inject(Fault::Lost, at(3));
    let activity = read_all(&mut rig, base, 2, 6, 64);
    assert_eq!(activity.tags_quarantined, 2);
    assert_eq!(activity.payload_failed, 2);
    assert_eq!(rig.slot.pulses.read_timeout, 2);
    assert_eq!(activity.unexpected, 0);
    rig.cycles(2 * u64::from(TIMEOUT_CYCLES));
    assert_eq!(rig.slot.activity.unexpected, 1);
    rig.assert_clean();
}
