//! A channel of a communicator, and what it may be told to do.
#![allow(unsafe_code)]

use crate::cpu::layout::Channel;

/// Functions (`ncclFunc_t`).
pub const ALL_GATHER: u32 = 2;
/// Each rank gets the sum of its part.
pub const REDUCE_SCATTER: u32 = 3;
/// Each rank gets the sum of all.
pub const ALL_REDUCE: u32 = 4;

/// A channel of a communicator, as a thread is given it.
#[derive(Clone, Copy)]
pub struct ChannelOf<'a> {
    /// Its number.
    pub number: usize,
    /// The channel.
    pub channel: &'a Channel,
}

// SAFETY: pointers of NCCL's to memory that its threads share by counters.
unsafe impl Send for ChannelOf<'_> {}
