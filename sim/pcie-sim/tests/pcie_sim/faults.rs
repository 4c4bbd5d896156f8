//! Injected faults as the card sees them on RC.
//!
//! ```text
//!   inject(fault, target) --> read of the card --> error code, status, poisoned, request completed
//! ```

use crate::card::Bench;
use pcie_sim::{Fault, MemoryId, PcieConfig, Refusal, Request, Rights, Target, Violation};

const BUS: u64 = 0x10_0000_0000;

fn bench() -> Bench {
    let mut bench = Bench::new(PcieConfig::default());
    bench.sim.map(BUS, 1 << 20, MemoryId::Dram, 0, Rights::ReadWrite).unwrap();
    bench
}

/// Error, status, poisoned, completed, dwords of each completion of one read of 512 bytes.
fn outcome(fault: Fault) -> Vec<(u8, u8, bool, bool, usize)> {
    let mut bench = bench();
    bench.sim.inject(fault, Target::Nth(1));
    bench.card.issue(Request::read(BUS, 4, 1));
    bench.card.issue(Request::read(BUS, 512, 2));
    bench.settle();
    assert_eq!(bench.bytes_of(1), vec![0; 4], "the read before is not hit");
    bench.card.issue(Request::read(BUS, 4, 3));
    bench.settle();
    assert_eq!(bench.bytes_of(3), vec![0; 4], "the read behind is not hit");
    bench.assert_clean();
    let of_tag = bench.card.completions.iter().filter(|c| c.tag == 2);
    of_tag.map(|c| (c.error, c.status, c.poisoned, c.completed, c.dwords)).collect()
}

#[test]
fn unsupported_request_ends_read_without_data() {
    assert_eq!(outcome(Fault::UnsupportedRequest), vec![(2, 1, false, true, 0)]);
}

#[test]
fn completer_abort_ends_read_without_data() {
    assert_eq!(outcome(Fault::CompleterAbort), vec![(2, 4, false, true, 0)]);
}

#[test]
fn poisoned_data_is_delivered_and_marked() {
    let seen = outcome(Fault::Poison);
    assert_eq!(seen, vec![(1, 0, true, false, 64), (1, 0, true, true, 64)]);
}

#[test]
fn wrong_address_or_length_ends_read() {
    assert_eq!(outcome(Fault::WrongAddress), vec![(5, 0, false, true, 0)]);
    assert_eq!(outcome(Fault::WrongLength), vec![(3, 0, false, true, 0)]);
}

#[test]
fn lost_completion_times_out_after_data() {
    assert_eq!(outcome(Fault::Lost), vec![(0, 0, false, false, 64), (9, 0, false, true, 0)]);
}

#[test]
fn late_completion_finds_quarantined_tag() {
    let late = outcome(Fault::Late(60_000));
    assert_eq!(late[0], (9, 0, false, true, 0));

    let mut bench = bench();
    bench.sim.inject(Fault::Late(60_000), Target::Nth(0));
    bench.card.issue(Request::read(BUS, 64, 4));
    bench.run_until(20_000, |b| !b.card.completions.is_empty());
    bench.run(5_000);
    let errors: Vec<u8> = bench.card.completions.iter().map(|c| c.error).collect();
    assert_eq!(errors, vec![9, 6]);
    bench.card.issue(Request::read(BUS, 64, 4));
    bench.settle();
    assert_eq!(bench.sim.violations()[0].violation, Violation::TagQuarantined(4));
}

#[test]
fn refused_read_is_unsupported_and_logged() {
    let mut bench = bench();
    bench.card.issue(Request::read(0x4000, 64, 0));
    bench.settle();
    let seen = &bench.card.completions[0];
    assert_eq!((seen.error, seen.status, seen.completed), (2, 1, true));
    let record = bench.sim.fault_log()[0];
    assert_eq!((record.bus_address, record.write), (0x4000, false));
    assert_eq!(record.refusal, Refusal::Unmapped);
    bench.assert_clean();
}

#[test]
fn address_fault_hits_the_touching_read() {
    let mut bench = bench();
    bench.sim.inject(Fault::CompleterAbort, Target::Address(BUS + 0x1010..BUS + 0x1011));
    for tag in 0..4u8 {
        bench.card.issue(Request::read(BUS + 0x800 * u64::from(tag), 64, tag));
    }
    bench.settle();
    let hit: Vec<u8> =
        bench.card.completions.iter().filter(|c| c.status != 0).map(|c| c.tag).collect();
    assert_eq!(hit, vec![2]);
}

#[test]
fn random_faults_stop_when_cleared() {
    let mut bench = bench();
    bench.sim.inject(Fault::UnsupportedRequest, Target::Random { per_million: 300_000 });
    let round = |bench: &mut Bench| {
        bench.card.completions.clear();
        for tag in 0..30 {
            bench.card.issue(Request::read(BUS, 4, tag));
        }
        bench.settle();
        bench.card.completions.iter().filter(|c| c.status != 0).count()
    };
    assert!((1..25).contains(&round(&mut bench)));
    bench.sim.clear_faults();
    assert_eq!(round(&mut bench), 0);
}
