//! Tests of single blocks of the crate `tx_merge`.

mod merge;
mod payload;
