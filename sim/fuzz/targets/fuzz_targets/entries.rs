//! The target `entries` for libFuzzer: see `sim/fuzz/src/entries.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    fuzz::entries::run(bytes);
});
