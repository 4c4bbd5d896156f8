//! Each block, stage and crossing of the card for itself: Verilated, against a model or against
//! rust-hdl's own simulator.

mod checksum_exact;
mod completer;
mod completion;
mod crossings;
mod csr;
mod dma;
mod harness;
mod interrupt;
mod mac;
mod mac_side;
mod packets;
mod pushed;
mod registry;
mod ring;
mod rx_split;
mod single_blocks;
mod slots;
mod tables;
mod tx_merge;
