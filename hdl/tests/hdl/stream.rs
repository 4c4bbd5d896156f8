//! Tests of single blocks of the crate `stream`.

mod async_fifo;
mod block_fifo;
mod block_ram;
mod count_crossing;
mod counted;
mod counter_events;
mod deep_fifo;
mod fifo;
mod fifo_pointers;
mod masked_beat;
mod memory;
mod peak_crossing;
mod register_slice;
mod rotate;
mod same_bits;
mod through_fifo;
mod two_clocks;
mod value_crossing;
