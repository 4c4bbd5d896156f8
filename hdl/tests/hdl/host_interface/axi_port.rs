//! Tests of `host_interface::board_window::axi_port`.

use host_interface::board_window::axi_port::*;
use stream::prelude::*;

/// An answer of the other kind, or without an access, answers nothing.
#[test]
fn only_what_is_open_is_answered() {
    let mut dut = AxiPort::default();
    dut.connect_all();
    check_all(&dut).expect("checks");
    // An access to begin, whether it writes; which channels answer: write, read.
    let mut step = |issue: Option<bool>, (write, read): (bool, bool)| {
        dut.clock.next = Clock { clk: false };
        dut.issue.next = issue.is_some();
        dut.access.next.write = issue.unwrap_or_default();
        dut.m_axil.bvalid.next = write;
        dut.m_axil.rvalid.next = read;
        assert!(simulate(&mut dut, 20));
        let seen = (dut.is_open.val(), dut.answered.val());
        dut.clock.next = Clock { clk: true };
        assert!(simulate(&mut dut, 20));
        seen
    };
    assert_eq!(step(None, (true, true)), (false, false));
    for writes in [true, false] {
        assert_eq!(step(Some(writes), (false, false)), (false, false));
        assert_eq!(step(None, (!writes, writes)), (true, false));
        assert_eq!(step(None, (writes, !writes)), (true, true));
        assert_eq!(step(None, (true, true)), (false, false));
    }
}

/// With a reset nothing is offered or open, whatever was; what comes later answers nothing.
#[test]
fn a_reset_forgets_the_access() {
    let mut dut = AxiPort::default();
    dut.connect_all();
    check_all(&dut).expect("checks");
    for (writes, taken) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut step = |issue: bool, reset: bool, ready: bool, answer: bool| {
            dut.clock.next = Clock { clk: false };
            dut.issue.next = issue;
            dut.reset.next = reset;
            dut.access.next.write = writes;
            dut.m_axil.awready.next = ready;
            dut.m_axil.wready.next = ready;
            dut.m_axil.arready.next = ready;
            dut.m_axil.bvalid.next = answer & writes;
            dut.m_axil.rvalid.next = answer & !writes;
            assert!(simulate(&mut dut, 20));
            let offered =
                dut.m_axil.awvalid.val() | dut.m_axil.wvalid.val() | dut.m_axil.arvalid.val();
            let seen = (dut.is_open.val(), offered, dut.answered.val());
            dut.clock.next = Clock { clk: true };
            assert!(simulate(&mut dut, 20));
            seen
        };
        step(true, false, false, false);
        assert_eq!(step(false, false, taken, false), (true, true, false));
        assert_eq!(step(false, true, false, false), (true, !taken, false));
        assert_eq!(step(false, false, true, true), (false, false, false), "{writes} {taken}");
        // Neither does what is issued with the reset begin.
        step(true, true, false, false);
        assert_eq!(step(false, false, false, false), (false, false, false));
    }
}
