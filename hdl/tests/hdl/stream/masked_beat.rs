//! Tests of `stream::masked_beat`.

use stream::masked_beat::*;
use stream::prelude::*;

fn cycle(dut: &mut MaskedBeat) {
    for high in [false, true] {
        dut.clock.next = Clock { clk: high };
        assert!(simulate(dut, 20));
    }
}

#[test]
fn unmasked_bytes_are_zero_step_moves_all() {
    let mut dut = MaskedBeat::default();
    dut.connect_all();
    check_all(&dut).unwrap();
    dut.data.next = (0..64u64).rev().fold(Bits::default(), |all: Bits<512>, byte| {
        (all << 8) | bit_cast::<512, 8>((byte + 1).to_bits())
    });
    let mut held = 0u64;
    for (step, keep) in
        [(true, u64::MAX), (false, 0), (true, 0x8000_0000_0f0f_0001), (false, u64::MAX), (true, 0)]
    {
        dut.step.next = step;
        dut.keep.next = keep.to_bits();
        cycle(&mut dut);
        held = if step { keep } else { held };
        for byte in 0..64 {
            let expected = if held >> byte & 1 == 1 { byte + 1 } else { 0 };
            assert_eq!(dut.result.val().get_bits::<8>(8 * byte).index(), expected);
        }
    }
}
