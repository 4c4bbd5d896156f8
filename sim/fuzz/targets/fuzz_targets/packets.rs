//! The target `packets` for libFuzzer: see `sim/fuzz/src/packets.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::packets::run(bytes));
