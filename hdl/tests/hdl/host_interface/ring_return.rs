//! Tests of `host_interface::ring::ring_return`.

use host_interface::ring::ring_return::*;
use stream::prelude::*;

/// Ends a fetch of owner 1 in an abort, enables the ring of `enabled` in its last cycle, and
/// returns whether the ring that runs now is to be stopped.
fn stops(enabled: u64) -> bool {
    let mut dut = RingReturn::<2>::default();
    dut.connect_all();
    check_all(&dut).unwrap();
    let mut stopped = false;
    for cycle in 0..12 {
        dut.clock.next = Clock { clk: false };
        dut.issued.valid.next = cycle == 4;
        dut.issued.payload.next.owner = 1u64.to_bits();
        dut.check_runs.next = true;
        dut.check_same.next = true;
        dut.read_data.valid.next = cycle == 8;
        dut.read_data.last.next = true;
        dut.read_data.abort.next = true;
        dut.reenabled.valid.next = cycle == 8;
        dut.reenabled.payload.next = enabled.to_bits();
        assert!(simulate(&mut dut, 20));
        stopped |= dut.failed.val();
        dut.clock.next = Clock { clk: true };
        assert!(simulate(&mut dut, 20));
    }
    stopped
}

#[test]
fn aborted_fetch_stops_ring_unless_reenabled() {
    assert!(stops(2));
    assert!(!stops(1));
}
