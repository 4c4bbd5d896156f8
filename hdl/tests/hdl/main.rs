//! Tests of single blocks and of the card's emission. They are no unit tests: with those each
//! library, and with it every size of the card, would be compiled a second time.

mod block_default;
mod dma;
mod emit;
mod host_interface;
mod ip;
mod ports;
mod rx_split;
mod stream;
mod tables;
mod tx_merge;
