//! Tests of single blocks of the crate `ip`.

mod keep_count;
