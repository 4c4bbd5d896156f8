//! Tests of `stream::fifo`.

use stream::fifo::*;
use stream::prelude::*;

use super::counted::Counted;

#[test]
fn fills_drains_and_keeps_order() {
    let mut dut = Fifo::<Bits<8>, 2, 3>::default();
    dut.connect_all();
    check_all(&dut).unwrap();
    let mut counted = Counted::default();
    for cycle in 0..64u32 {
        dut.clock.next = Clock { clk: false };
        counted.offer(&mut dut.sink, cycle % 3 != 0);
        dut.source.ready.next = cycle >= 20;
        assert!(simulate(&mut dut, 20));
        counted.take(&dut.sink, &dut.source);
        if cycle == 19 {
            assert_eq!(dut.level.val().to_u32(), 4);
        }
        dut.clock.next = Clock { clk: true };
        assert!(simulate(&mut dut, 20));
    }
    assert!(counted.got > 20 && counted.sent - counted.got <= 4);
}
