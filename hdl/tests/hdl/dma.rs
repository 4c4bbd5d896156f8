//! Tests of single blocks of the crate `dma`.

mod cutter;
mod reorder_ring;
mod tag_sweep;
