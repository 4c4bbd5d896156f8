//! The hashes that `tables::flow_table::toeplitz_hash` reads from its tables are those of the
//! contract, before the first secret and after each change of one.

use abi::flow_key::{hash, KEY_BYTES, SECRET_WORDS};
use abi::registers::{HASH_SECRET, HASH_SECRET_STRIDE};
use sim::harness::bench::Bench;
use sim::harness::payload::bytes_of;
use stream::prelude::RegisterWrite;
use tables::flow_table::toeplitz_fill::REWRITE_CYCLES;
use tables::flow_table::toeplitz_hash::ToeplitzHash;

fn write(bench: &mut Bench, address: u32, data: u32) {
    let write = RegisterWrite { address: u64::from(address).into(), data: u64::from(data).into() };
    let payload = bench.model.port("settings_payload");
    bench.model.set_bytes(payload, &bytes_of(write));
    bench.set("settings_valid", 1);
    bench.cycle(&mut []);
    bench.set("settings_valid", 0);
}

/// Cycles until the tables are written.
fn fill_tables(bench: &mut Bench) -> u64 {
    let before = bench.now();
    while bench.get("busy") == 1 {
        let cycles = bench.now() - before;
        assert!(cycles <= REWRITE_CYCLES, "the tables are never written");
        bench.cycle(&mut []);
    }
    bench.now() - before
}

fn check(bench: &mut Bench, secrets: &[[u32; SECRET_WORDS]; 2]) {
    let port = bench.model.port("key");
    for seed in 0..200u64 {
        let key: [u8; KEY_BYTES] =
            std::array::from_fn(|at| (((at as u64 + 7) * (seed * 0x1_0035 + 3)) >> 3) as u8);
        bench.model.set_bytes(port, &key);
        bench.set("key_valid", 1);
        bench.cycle(&mut []);
        bench.model.set_bytes(port, &[0; KEY_BYTES]);
        bench.set("key_valid", 0);
        bench.cycle(&mut []);
        for (port, secret) in ["hash_low", "hash_high"].into_iter().zip(secrets) {
            let expected = u64::from(hash(&key, secret));
            assert_eq!(bench.get(port), expected, "{port} of {key:02x?}");
        }
    }
}

#[test]
fn hashes_are_those_of_the_contract() {
    let mut bench = Bench::of(&mut ToeplitzHash::default(), "toeplitz_hash").expect("builds");
    assert_eq!(fill_tables(&mut bench), REWRITE_CYCLES);
    check(&mut bench, &[[0; SECRET_WORDS]; 2]);

    let mut secrets = [[0u32; SECRET_WORDS]; 2];
    for (bank, words) in secrets.iter_mut().enumerate() {
        for (at, word) in words.iter_mut().enumerate() {
            *word = 0x9e37_79b9u32.wrapping_mul((16 * bank + at) as u32 + 1);
            let address = HASH_SECRET + bank as u32 * HASH_SECRET_STRIDE + 4 * at as u32;
            write(&mut bench, address, *word);
            assert_eq!(bench.get("busy"), 1);
            // Neighbouring registers are not the secrets'.
            write(&mut bench, address + 4 * HASH_SECRET_STRIDE, !*word);
        }
    }
    fill_tables(&mut bench);
    check(&mut bench, &secrets);

    // A write within the rewrite starts it again.
    secrets[0][12] ^= 0xffff;
    write(&mut bench, HASH_SECRET + 48, secrets[0][12]);
    bench.cycles(300, &mut []);
    secrets[1][0] ^= 1;
    write(&mut bench, HASH_SECRET + HASH_SECRET_STRIDE, secrets[1][0]);
    assert_eq!(fill_tables(&mut bench), REWRITE_CYCLES);
    check(&mut bench, &secrets);
}
