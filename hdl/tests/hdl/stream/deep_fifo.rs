//! Tests of `stream::deep_fifo`.

use stream::deep_fifo::*;
use stream::prelude::*;

use super::counted::Counted;

#[test]
fn order_holds_at_one_message_per_cycle() {
    let mut dut = DeepFifo::<Bits<8>, 4, 5>::default();
    dut.connect_all();
    check_all(&dut).unwrap();
    let (mut counted, mut idle) = (Counted::default(), 0u32);
    for cycle in 0..300u32 {
        dut.clock.next = Clock { clk: false };
        counted.offer(&mut dut.sink, cycle < 150 || cycle % 3 != 0);
        dut.source.ready.next = cycle >= 40;
        assert!(simulate(&mut dut, 20));
        if !counted.take(&dut.sink, &dut.source) && (40..150).contains(&cycle) {
            idle += 1;
        }
        if cycle < 40 {
            assert_eq!(dut.source.valid.val(), cycle > 1, "no room at power-up, a cycle late");
        }
        if cycle == 39 {
            assert_eq!(counted.sent, 20, "the memory and the head are full");
        }
        dut.clock.next = Clock { clk: true };
        assert!(simulate(&mut dut, 20));
    }
    assert_eq!(idle, 0, "one message a cycle");
    assert!(counted.got > 200 && counted.sent - counted.got <= 20);
}
