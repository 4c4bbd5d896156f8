//! Tests of `rx_split::share_check`.

use rx_split::share_check::*;
use stream::prelude::*;

/// Whether a packet of `beats` is refused, of an owner that holds `held`.
fn refuses(held: u64, beats: u64, free: i64) -> bool {
    let mut dut = ShareDemand::default();
    dut.connect_all();
    check_all(&dut).unwrap();
    for clk in [false, true] {
        dut.clock.next = Clock { clk };
        dut.offered.next = true;
        dut.held.next = held.to_bits();
        dut.beats.next = beats.to_bits();
        dut.free.next = (free as u64 & 0xffff).to_bits();
        assert!(simulate(&mut dut, 20));
    }
    dut.exceeds.val()
}

#[test]
fn excess_demand_is_refused_without_room() {
    let least = CHARGE_MIN as i64;
    assert!(!refuses(0, 1, least) && refuses(0, 1, least - 1));
    assert!(!refuses(100, 24, 124) && refuses(100, 24, 123));
    assert!(refuses(0, 1, 0) && refuses(0, 1, -5) && refuses(0, 145, -145));
}
