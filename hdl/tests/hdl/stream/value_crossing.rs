//! Tests of `stream::value_crossing`.

use stream::prelude::*;

use super::two_clocks::{Edge, TwoClocks};

/// The value counts in `write_clock`, both halves of it alike; checks what is seen.
fn crosses(write_half_ps: u64, read_half_ps: u64, phase_ps: u64) {
    let mut dut = ValueCrossing::<Bits<16>>::default();
    dut.connect_all();
    check_all(&dut).expect("checks");
    let both = |count: u64| bits::<16>((count & 0xff) << 8 | count & 0xff);
    let mut edges = TwoClocks::new(write_half_ps, read_half_ps, phase_ps);
    let (mut count, mut last, mut seen) = (0u64, 0u64, 0u64);
    dut.write_clock.next = Clock { clk: false };
    dut.read_clock.next = Clock { clk: false };
    for _ in 0..2_000 {
        match edges.next_edge() {
            Edge::Write(clk) => {
                dut.write_clock.next = Clock { clk };
                assert!(simulate(&mut dut, 20));
                if clk && count < 200 {
                    count += 1;
                    dut.value.next = both(count);
                }
            }
            Edge::Read(clk) => dut.read_clock.next = Clock { clk },
        }
        assert!(simulate(&mut dut, 20));
        let shown = dut.latest.val().to_u64();
        assert_eq!(shown >> 8, shown & 0xff, "two values mixed");
        let shown = shown & 0xff;
        assert!(shown >= last && shown <= count, "{shown} after {last}");
        seen += u64::from(shown != last);
        last = shown;
    }
    assert_eq!(last, count, "the last value was not seen");
    assert!(seen > 3, "{seen} values seen");
}

#[test]
fn values_cross_whole_at_any_ratio() {
    for (write_half, read_half) in [(2000, 1552), (1552, 2000), (2000, 2000), (500, 2300)] {
        for phase in [0, 333, 1001] {
            crosses(write_half, read_half, phase);
        }
    }
}
