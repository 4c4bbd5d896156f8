//! Tests of `host_interface::csr::event_counters`.

use host_interface::csr::event_counters::*;
use stream::prelude::*;

#[test]
fn each_counts_its_own_pulses() {
    let mut dut = EventCounters::default();
    dut.connect_all();
    check_all(&dut).expect("checks");
    for cycle in 0..60u64 {
        dut.clock.next = Clock { clk: false };
        // Event i comes every i + 1 cycles.
        let events =
            (0..8).filter(|i| cycle < 40 && cycle % (i + 1) == 0).fold(0u64, |all, i| all | 1 << i);
        dut.events.next = events.to_bits();
        assert!(simulate(&mut dut, 20));
        dut.clock.next = Clock { clk: true };
        assert!(simulate(&mut dut, 20));
    }
    for i in 0..8u64 {
        dut.index.next = i.to_bits();
        assert!(simulate(&mut dut, 20));
        assert_eq!(dut.value.val().to_u64(), 40u64.div_ceil(i + 1));
    }
}
