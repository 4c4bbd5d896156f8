//! Tests of `stream::through_fifo`.

use stream::prelude::*;

use super::counted::Counted;

#[test]
fn messages_pass_or_wait_in_order() {
    let mut dut = ThroughFifo::<Bits<8>, 2, 3>::default();
    dut.connect_all();
    check_all(&dut).unwrap();
    let mut counted = Counted::default();
    for cycle in 0..200u32 {
        dut.clock.next = Clock { clk: false };
        dut.reset.next = false;
        counted.offer(&mut dut.sink, cycle < 20 || cycle % 3 != 0);
        dut.source.ready.next = cycle < 20 || cycle % 7 > 2;
        assert!(simulate(&mut dut, 20));
        counted.take(&dut.sink, &dut.source);
        if cycle < 20 {
            assert_eq!(counted.got, counted.sent, "it passes in the same cycle");
        }
        dut.clock.next = Clock { clk: true };
        assert!(simulate(&mut dut, 20));
    }
    let Counted { sent, got } = counted;
    assert!(got > 80 && sent - got <= 4, "{sent} in, {got} out");
}
