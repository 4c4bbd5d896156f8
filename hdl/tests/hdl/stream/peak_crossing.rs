//! Tests of `stream::peak_crossing`.

use stream::peak_crossing::*;
use stream::prelude::*;

use super::two_clocks::{Edge, TwoClocks};

/// Levels of one cycle each, low for a while between them; what is seen, in order.
fn seen(write_half_ps: u64, read_half_ps: u64, phase_ps: u64, spikes: &[u64]) -> Vec<u64> {
    let mut dut = PeakCrossing::default();
    dut.connect_all();
    check_all(&dut).expect("checks");
    let mut edges = TwoClocks::new(write_half_ps, read_half_ps, phase_ps);
    let mut seen = vec![0];
    let mut cycles = 0usize;
    dut.write_clock.next = Clock { clk: false };
    dut.read_clock.next = Clock { clk: false };
    while cycles < 40 * (spikes.len() + 1) {
        match edges.next_edge() {
            Edge::Write(clk) => {
                dut.write_clock.next = Clock { clk };
                assert!(simulate(&mut dut, 20));
                if clk {
                    cycles += 1;
                    let is_spike = cycles.is_multiple_of(40);
                    let spike = spikes.get(cycles / 40).copied().unwrap_or(0);
                    dut.level.next = (if is_spike { spike } else { 0 }).to_bits();
                }
            }
            Edge::Read(clk) => dut.read_clock.next = Clock { clk },
        }
        assert!(simulate(&mut dut, 20));
        let shown = dut.peak.val().to_u64();
        if seen.last() != Some(&shown) {
            seen.push(shown);
        }
    }
    seen
}

#[test]
fn single_cycle_peak_crosses_at_any_ratio() {
    let spikes = [0, 5, 900, 1, 65_535, 7, 8, 300];
    let expected: Vec<u64> = spikes[1..].iter().flat_map(|&spike| [spike, 0]).collect();
    for (write_half, read_half) in [(2000, 1552), (1552, 2000), (2000, 2000), (500, 2300)] {
        for phase in [0, 333, 777, 1001, 1500] {
            let seen = seen(write_half, read_half, phase, &spikes);
            assert_eq!(seen[1..], expected, "{write_half} {read_half} {phase}");
        }
    }
}
