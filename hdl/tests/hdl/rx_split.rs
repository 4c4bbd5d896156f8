//! Tests of single blocks of the crate `rx_split`.

mod entry;
mod share_check;
mod standing_step;
