//! Tests of `dma::read::tag_sweep`.

use dma::read::tag_sweep::*;
use stream::prelude::*;

/// A read that waits for completions ends before its tag is cleared; after a reset of the link
/// none comes.
#[test]
fn waiting_tag_is_cleared_without_expected_completion() {
    for is_link in [false, true] {
        let mut dut = TagSweep::default();
        dut.connect_all();
        check_all(&dut).expect("checks");
        let mut step = |starts: bool, waits: bool| {
            dut.clock.next = Clock { clk: false };
            dut.reset.next = starts & !is_link;
            dut.link_reset.next = starts & is_link;
            dut.scan_waits.next = waits;
            assert!(simulate(&mut dut, 20));
            let seen = (dut.draining.val(), dut.clears.val(), dut.cut_off.val());
            dut.clock.next = Clock { clk: true };
            assert!(simulate(&mut dut, 20));
            seen
        };
        assert_eq!(step(true, true), (false, false, false));
        assert_eq!(step(false, true), (true, is_link, is_link));
        assert_eq!(step(false, false), (true, true, is_link));
    }
}
