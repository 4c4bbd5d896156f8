//! Tests of `stream::fifo`.

use stream::fifo::*;
use stream::prelude::*;

#[test]
fn fills_drains_and_keeps_order() {
    let mut dut = Fifo::<Bits<8>, 2, 3>::default();
    dut.connect_all();
    check_all(&dut).unwrap();
    let mut sent = 0u32;
    let mut got = 0u32;
    for cycle in 0..64u32 {
        dut.clock.next = Clock { clk: false };
        dut.sink.valid.next = cycle % 3 != 0;
        dut.sink.payload.next = bits::<8>((sent & 0xff) as u64);
        dut.source.ready.next = cycle >= 20;
        assert!(simulate(&mut dut, 20));
        if dut.sink.valid.val() && dut.sink.ready.val() {
            sent += 1;
        }
        if dut.source.valid.val() && dut.source.ready.val() {
            assert_eq!(dut.source.payload.val().to_u32(), got & 0xff);
            got += 1;
        }
        if cycle == 19 {
            assert_eq!(dut.level.val().to_u32(), 4);
        }
        dut.clock.next = Clock { clk: true };
        assert!(simulate(&mut dut, 20));
    }
    assert!(got > 20 && sent - got <= 4);
}
