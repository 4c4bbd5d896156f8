//! NCCL's structures in the memory of a GPU, of one release: what a kernel reads and writes.
//!
//! The layouts are those of the library's own debug information, which
//! `gdb -batch -ex 'ptype /o struct ncclKernelComm' libnccl.so.2` prints; sizes and offsets are
//! asserted. Another release has others, and a wrong one is a wrong pointer: so each is refused but
//! this one.

use std::ffi::c_int;
use std::mem::offset_of;

/// The release: 2.32.3, as `ncclGetVersion` says it.
pub const KNOWN_VERSION: c_int = 23_203;
/// Steps of a connection's buffer (`NCCL_STEPS`).
pub const STEPS: u64 = 8;
/// Place of the protocol Simple among the buffers; that of LL is 0.
pub const SIMPLE: usize = 2;
/// The buffer's place is an offset (`NCCL_MODE_OFFSET`).
pub const MODE_OFFSET: c_int = 1;
/// Grain of a channel's part of a collective, bytes.
pub const GRAIN_BYTES: usize = 512;

/// `ncclConnFifo`.
#[repr(C)]
pub struct Fifo {
    pub mode: c_int,
    pub offset: isize,
    pub bytes: isize,
    pub pointer: usize,
}

/// `ncclConnInfo`.
#[repr(C)]
pub struct Connection {
    pub buffers: [*mut u8; 3],
    pub handles: [usize; 3],
    pub tail: *mut u64,
    pub head: *mut u64,
    pub flags: c_int,
    pub is_shared: c_int,
    pub step_bytes: c_int,
    pub pointer_exchange: usize,
    pub argument_exchange: usize,
    pub fifo: *mut Fifo,
    pub step: u64,
    pub last_cleaning: u64,
    pub device_handle: [u8; 32],
}

/// `ncclDevChannelPeer`.
#[repr(C)]
pub struct Peer {
    pub send: [Connection; 2],
    pub receive: [Connection; 2],
}

/// `ncclDevChannel`, as far as rings need it.
#[repr(C)]
pub struct Channel {
    pub peers: *mut *mut Peer,
    pub previous: c_int,
    pub next: c_int,
    pub ring_ranks: *mut c_int,
    pub rank_to_index: usize,
    pub index: c_int,
    pub rest: [u8; 316],
    pub done: usize,
    pub counter: u64,
}

/// `ncclKernelComm`; its channels follow it (`ncclKernelCommAndChannels`).
#[repr(C)]
pub struct Comm {
    pub rank: c_int,
    pub ranks: c_int,
    pub node: c_int,
    pub nodes: c_int,
    pub buffer_bytes: [c_int; 3],
    pub chunk_bytes: c_int,
    pub crosses_cliques: u8,
    pub is_all_nvlink: c_int,
    pub dense_to_user: usize,
    pub abort: *mut u32,
    pub channels: *mut Channel,
    pub rest: [usize; 4],
}

/// `ncclDevWorkP2p`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Message {
    pub send: *mut u8,
    pub receive: *mut u8,
    pub send_bytes: usize,
    pub receive_bytes: usize,
    pub send_rank: c_int,
    pub receive_rank: c_int,
    pub channels: u8,
    pub channel_base: u8,
    pub send_channels: u8,
    pub receive_channels: u8,
    pub send_chunk: u8,
    pub receive_chunk: u8,
    /// Bits 0, 1: LL; 2, 3: registered; of send and receive.
    pub flags: u8,
}

/// `ncclDevWorkColl`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Collective {
    /// Bits 0 to 7: first channel; 8 to 15: last channel; 26: registered for the network.
    pub flags: u32,
    pub root: u32,
    pub receive: *mut u8,
    pub send: *mut u8,
    pub offsets: [usize; 2],
    pub remote: [usize; 2],
    pub count_first: usize,
    pub count_middle: usize,
    pub count_last: usize,
    /// Three times 21 bits: grains of the first, middle and last channels' chunks.
    pub chunk_grains: u64,
    pub argument: u64,
}

/// `ncclDevWorkBatch`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Batch {
    /// Bits 0 to 13: distance to the next; 15, 16: kind of work; 28 to 31: function.
    pub flags: u32,
    pub offset_base: u32,
    pub offset_bits: u64,
}

/// `ncclDevKernelArgs`; batches follow it.
#[repr(C)]
pub struct Arguments {
    pub comm: *mut Comm,
    pub channel_mask: u64,
    pub storage: u8,
    pub work_mask: u32,
    pub work: *mut u8,
}

// SAFETY: threads of a kernel reach them through pointers, as those of a GPU do.
#[allow(unsafe_code)]
unsafe impl Send for Message {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Send for Collective {}

const _: () = {
    assert!(size_of::<Fifo>() == 32 && offset_of!(Fifo, bytes) == 16);
    assert!(size_of::<Connection>() == 152 && offset_of!(Connection, fifo) == 96);
    assert!(offset_of!(Connection, step) == 104);
    assert!(size_of::<Peer>() == 608);
    assert!(size_of::<Channel>() == 368 && offset_of!(Channel, index) == 32);
    assert!(size_of::<Comm>() == 96 && offset_of!(Comm, abort) == 48);
    assert!(size_of::<Message>() == 48 && offset_of!(Message, flags) == 46);
    assert!(size_of::<Collective>() == 96 && offset_of!(Collective, chunk_grains) == 80);
    assert!(size_of::<Batch>() == 16);
    assert!(size_of::<Arguments>() == 32 && offset_of!(Arguments, work) == 24);
};
