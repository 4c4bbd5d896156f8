//! The target `headers` for libFuzzer: see `sim/fuzz/src/headers.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::headers::run(bytes));
