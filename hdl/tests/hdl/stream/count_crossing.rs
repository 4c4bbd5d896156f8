//! Tests of `stream::count_crossing`.

use stream::count_crossing::*;
use stream::prelude::*;

use super::two_clocks::{Edge, TwoClocks};

/// Pulses seen for `events` events, one in each second cycle, then silence.
fn pulses(write_half_ps: u64, read_half_ps: u64, phase_ps: u64, events: u64) -> u64 {
    let mut dut = CountCrossing::default();
    dut.connect_all();
    check_all(&dut).expect("checks");
    let mut edges = TwoClocks::new(write_half_ps, read_half_ps, phase_ps);
    let (mut cycles, mut seen) = (0u64, 0u64);
    dut.write_clock.next = Clock { clk: false };
    dut.read_clock.next = Clock { clk: false };
    while cycles < 2 * events + 200 {
        match edges.next_edge() {
            Edge::Write(clk) => {
                dut.write_clock.next = Clock { clk };
                assert!(simulate(&mut dut, 20));
                if clk {
                    cycles += 1;
                    dut.occurs.next = cycles.is_multiple_of(2) && cycles <= 2 * events;
                }
            }
            Edge::Read(clk) => {
                seen += u64::from(clk && dut.pulse.val());
                dut.read_clock.next = Clock { clk };
            }
        }
        assert!(simulate(&mut dut, 20));
    }
    seen
}

#[test]
fn each_event_pulses_once_at_any_ratio() {
    for (write_half, read_half) in [(1552, 2000), (2000, 1552), (2000, 2000)] {
        for phase in [0, 333, 1001] {
            assert_eq!(pulses(write_half, read_half, phase, 300), 300);
        }
    }
}
