//! Tests of `stream::same_bits`.

use stream::prelude::*;

#[test]
fn every_bit_counts() {
    let mut dut = SameBits::<100>::default();
    dut.connect_all();
    check_all(&dut).unwrap();
    let one = Bits::<100>::from(0x5a5a_1234_u64);
    dut.one.next = one;
    dut.other.next = one;
    assert!(simulate(&mut dut, 20));
    assert!(dut.same.val());
    for bit in 0..100usize {
        dut.other.next = one.replace_bit(bit, !one.get_bit(bit));
        assert!(simulate(&mut dut, 20));
        assert!(!dut.same.val(), "bit {bit}");
    }
}
