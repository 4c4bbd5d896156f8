//! Tests of `dma::read::reorder_ring`.

use dma::read::reorder_ring::*;
use stream::prelude::*;

/// A ring with no beat in use.
fn empty() -> ReorderRing {
    let mut dut = ReorderRing::default();
    dut.connect_all();
    check_all(&dut).expect("checks");
    cycle(&mut dut, 0);
    dut
}

/// One cycle, in which a request takes its beats; 0: none.
fn cycle(dut: &mut ReorderRing, beats: u64) {
    dut.take.next = beats > 0;
    dut.beats.next = beats.into();
    for clk in [false, true] {
        dut.clock.next = Clock { clk };
        assert!(simulate(dut, 20));
    }
}

/// A ring of which so many beats are in use, two cycles after the last of them was taken.
fn filled(beats: u64) -> ReorderRing {
    let mut dut = empty();
    for _ in 0..beats / 8 {
        cycle(&mut dut, 8);
    }
    cycle(&mut dut, beats % 8);
    cycle(&mut dut, 0);
    dut
}

#[test]
fn ring_has_sixteen_free_beats() {
    for (used, has_space) in [(488, true), (495, true), (496, true), (497, false)] {
        assert_eq!(filled(used).has_space.val(), has_space, "{used} beats");
    }
    // Two requests of eight go in before the decision of the first is seen; they fill it.
    let mut dut = filled(496);
    for _ in 0..2 {
        assert!(dut.has_space.val());
        cycle(&mut dut, 8);
    }
    cycle(&mut dut, 0);
    assert!(!dut.has_space.val());
    assert_eq!(dut.start.val().to_u64(), 0, "once around");
}
