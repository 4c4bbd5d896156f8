//! Tests of `stream::register_slice`.

use stream::prelude::*;

#[test]
fn keeps_order_and_a_message_every_two_cycles() {
    let mut dut = RegisterSlice::<Bits<8>>::default();
    dut.connect_all();
    check_all(&dut).unwrap();
    let (mut sent, mut got) = (0u32, 0u32);
    for cycle in 0..200u32 {
        dut.clock.next = Clock { clk: false };
        dut.reset.next = false;
        dut.sink.valid.next = cycle < 40 || cycle % 3 != 0;
        dut.sink.payload.next = bits::<8>((sent & 0xff) as u64);
        dut.source.ready.next = cycle < 40 || cycle % 7 > 2;
        assert!(simulate(&mut dut, 20));
        if dut.sink.valid.val() && dut.sink.ready.val() {
            sent += 1;
        }
        if dut.source.valid.val() && dut.source.ready.val() {
            assert_eq!(dut.source.payload.val().to_u32(), got & 0xff);
            got += 1;
        }
        if cycle == 39 {
            assert_eq!(got, 19, "one every two cycles, except the first");
        }
        dut.clock.next = Clock { clk: true };
        assert!(simulate(&mut dut, 20));
    }
    assert!(got > 60 && sent - got <= 1, "{sent} in, {got} out");
    dut.clock.next = Clock { clk: false };
    dut.sink.valid.next = true;
    dut.reset.next = true;
    assert!(simulate(&mut dut, 20));
    dut.clock.next = Clock { clk: true };
    assert!(simulate(&mut dut, 20));
    assert!(!dut.source.valid.val(), "reset empties it");
}
