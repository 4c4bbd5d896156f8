//! Tests of `tables::flow_table::toeplitz_hash`.

use abi::flow_key::KEY_BYTES;
use abi::flow_key::SECRET_WORDS;
use abi::registers::{HASH_SECRET, HASH_SECRET_STRIDE};
use stream::prelude::*;
use tables::flow_table::toeplitz_fill::REWRITE_CYCLES;
use tables::flow_table::toeplitz_hash::*;

fn cycle(dut: &mut ToeplitzHash) {
    for high in [false, true] {
        dut.clock.next = Clock { clk: high };
        assert!(simulate(dut, 20));
    }
}

fn write(dut: &mut ToeplitzHash, address: u32, data: u32) {
    dut.settings.valid.next = true;
    dut.settings.payload.next = RegisterWrite {
        address: u64::from(address).into(),
        data: u64::from(data).into(),
    };
    cycle(dut);
    dut.settings.valid.next = false;
}

/// Cycles until the tables are written.
fn filled(dut: &mut ToeplitzHash) -> u64 {
    let mut cycles = 0;
    while dut.busy.val() {
        assert!(cycles <= REWRITE_CYCLES, "the tables are never written");
        cycle(dut);
        cycles += 1;
    }
    cycles
}

fn check(dut: &mut ToeplitzHash, secrets: &[[u32; SECRET_WORDS]; 2]) {
    for seed in 0..12u64 {
        let key: [u8; KEY_BYTES] =
            std::array::from_fn(|at| (((at as u64 + 7) * (seed * 0x1_0035 + 3)) >> 3) as u8);
        let mut wide = Bits::<384>::default();
        for byte in key.iter().rev() {
            wide = (wide << 8) | bit_cast::<384, 8>(u64::from(*byte).into());
        }
        dut.key.next = wide;
        dut.key_valid.next = true;
        cycle(dut);
        dut.key.next = Default::default();
        dut.key_valid.next = false;
        cycle(dut);
        let (low, high) = (dut.hash_low.val().index(), dut.hash_high.val().index());
        assert_eq!(low, usize::from(abi::flow_key::hash(&key, &secrets[0])));
        assert_eq!(high, usize::from(abi::flow_key::hash(&key, &secrets[1])));
    }
}

#[test]
fn hashes_are_those_of_the_contract() {
    let mut dut = ToeplitzHash::default();
    dut.connect_all();
    check_all(&dut).unwrap();
    assert!(simulate(&mut dut, 20));
    assert_eq!(filled(&mut dut), REWRITE_CYCLES);
    check(&mut dut, &[[0; SECRET_WORDS]; 2]);

    let mut secrets = [[0u32; SECRET_WORDS]; 2];
    for (bank, words) in secrets.iter_mut().enumerate() {
        for (at, word) in words.iter_mut().enumerate() {
            *word = 0x9e37_79b9u32.wrapping_mul((16 * bank + at) as u32 + 1);
            let address = HASH_SECRET + bank as u32 * HASH_SECRET_STRIDE + 4 * at as u32;
            write(&mut dut, address, *word);
            assert!(dut.busy.val());
            // Neighbouring registers are not the secrets'.
            write(&mut dut, address + 4 * HASH_SECRET_STRIDE, !*word);
        }
    }
    filled(&mut dut);
    check(&mut dut, &secrets);

    // A write within the rewrite starts it again.
    secrets[0][12] ^= 0xffff;
    write(&mut dut, HASH_SECRET + 48, secrets[0][12]);
    (0..300).for_each(|_| cycle(&mut dut));
    secrets[1][0] ^= 1;
    write(&mut dut, HASH_SECRET + HASH_SECRET_STRIDE, secrets[1][0]);
    assert_eq!(filled(&mut dut), REWRITE_CYCLES);
    check(&mut dut, &secrets);
}
