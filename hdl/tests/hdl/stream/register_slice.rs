//! Tests of `stream::register_slice`.

use stream::prelude::*;

use super::counted::Counted;

#[test]
fn order_holds_at_half_rate() {
    let mut dut = RegisterSlice::<Bits<8>>::default();
    dut.connect_all();
    check_all(&dut).unwrap();
    let mut counted = Counted::default();
    for cycle in 0..200u32 {
        dut.clock.next = Clock { clk: false };
        dut.reset.next = false;
        counted.offer(&mut dut.sink, cycle < 40 || cycle % 3 != 0);
        dut.source.ready.next = cycle < 40 || cycle % 7 > 2;
        assert!(simulate(&mut dut, 20));
        counted.take(&dut.sink, &dut.source);
        if cycle == 39 {
            assert_eq!(counted.got, 19, "one every two cycles, except the first");
        }
        dut.clock.next = Clock { clk: true };
        assert!(simulate(&mut dut, 20));
    }
    let Counted { sent, got } = counted;
    assert!(got > 60 && sent - got <= 1, "{sent} in, {got} out");
    dut.clock.next = Clock { clk: false };
    dut.sink.valid.next = true;
    dut.reset.next = true;
    assert!(simulate(&mut dut, 20));
    dut.clock.next = Clock { clk: true };
    assert!(simulate(&mut dut, 20));
    assert!(!dut.source.valid.val(), "reset empties it");
}
