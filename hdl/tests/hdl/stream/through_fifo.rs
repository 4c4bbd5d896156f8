//! Tests of `stream::through_fifo`.

use stream::prelude::*;

#[test]
fn passes_at_once_or_waits_and_keeps_order() {
    let mut dut = ThroughFifo::<Bits<8>, 2, 3>::default();
    dut.connect_all();
    check_all(&dut).unwrap();
    let (mut sent, mut got) = (0u32, 0u32);
    for cycle in 0..200u32 {
        dut.clock.next = Clock { clk: false };
        dut.reset.next = false;
        dut.sink.valid.next = cycle < 20 || cycle % 3 != 0;
        dut.sink.payload.next = bits::<8>((sent & 0xff) as u64);
        dut.source.ready.next = cycle < 20 || cycle % 7 > 2;
        assert!(simulate(&mut dut, 20));
        if dut.sink.valid.val() && dut.sink.ready.val() {
            sent += 1;
        }
        if dut.source.valid.val() && dut.source.ready.val() {
            assert_eq!(dut.source.payload.val().to_u32(), got & 0xff);
            got += 1;
        }
        if cycle < 20 {
            assert_eq!(got, sent, "it passes in the same cycle");
        }
        dut.clock.next = Clock { clk: true };
        assert!(simulate(&mut dut, 20));
    }
    assert!(got > 80 && sent - got <= 4, "{sent} in, {got} out");
}
