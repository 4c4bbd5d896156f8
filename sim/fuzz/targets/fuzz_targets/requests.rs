//! The target `requests` for libFuzzer: see `sim/fuzz/src/requests.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    fuzz::requests::run(bytes);
});
