//! NCCL's structures in the memory of a GPU, by release: what a kernel reads and writes.
//!
//! `layouts.txt` has them as `sim/nccl/layouts.py` reads them from the debug information of each
//! library. What all known releases have in common is a type here, and a test compares it with
//! that table; what differs is in [`Layout`]. A wrong layout is a wrong pointer: a release that the
//! table does not have is refused.
#![allow(unsafe_code)]

mod table;

use std::ffi::c_int;

use anyhow::Result;

use self::table::Table;

/// Steps of a connection's buffer (`NCCL_STEPS`).
pub const STEPS: u64 = 8;
/// Place of the protocol Simple among the buffers; that of LL is 0.
pub const SIMPLE: usize = 2;
/// The buffer's place is an offset (`NCCL_MODE_OFFSET`).
pub const MODE_OFFSET: c_int = 1;
/// Grain of a channel's part of a collective, bytes.
pub const GRAIN_BYTES: usize = 512;

/// Where in its structures a release differs from others, bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Length of a place of a proxy's list (`ncclConnFifo`).
    fifo_bytes: usize,
    /// Its offset, and whether that has 64 bits.
    fifo_offset_at: usize,
    is_fifo_offset_wide: bool,
    /// The length that it says.
    fifo_length_at: usize,
    /// A communicator's flag of an abort, and its first channel.
    abort_at: usize,
    channels_at: usize,
    /// The place of a rank in the ring of a channel.
    index_at: usize,
    /// Length of a collective's work; its buffers and its counts.
    collective_bytes: usize,
    buffers_at: usize,
    counts_at: usize,
    /// Whether a batch says its function.
    pub says_function: bool,
}

impl Layout {
    /// The layout of a release, by the number that `ncclGetVersion` gives.
    pub fn of(version: c_int) -> Result<Self> {
        let table = Table::of(version)?;
        let (comm, all) = match table.has("ncclKernelComm") {
            true => ("ncclKernelComm", "ncclKernelCommAndChannels"),
            false => ("ncclDevComm", "ncclDevCommAndChannels"),
        };
        let at = |structure, field| table.byte(structure, field);
        Ok(Self {
            fifo_bytes: table.length("ncclConnFifo")?,
            fifo_offset_at: at("ncclConnFifo", "offset")?,
            is_fifo_offset_wide: table.bits("ncclConnFifo", "offset")?.1 == 64,
            fifo_length_at: at("ncclConnFifo", "size")?,
            abort_at: at(comm, "abortFlag")?,
            channels_at: at(all, "channels")?,
            index_at: at("ncclDevChannel", "ring")? + at("ncclRing", "index")?,
            collective_bytes: table.length("ncclDevWorkColl")?,
            buffers_at: at("ncclDevWorkColl", "recvbuff")?,
            counts_at: at("ncclDevWorkColl", "countLo")?,
            says_function: table.bits("ncclDevWorkBatch", "func").is_ok(),
        })
    }

    /// A communicator.
    ///
    /// # Safety
    /// One of this release lies there, with its channels.
    pub unsafe fn comm(&self, at: *const u8) -> Comm {
        // SAFETY: the caller's.
        unsafe {
            let first = at.cast::<CommStart>().read();
            let abort = at.add(self.abort_at).cast::<*mut u32>().read();
            let CommStart { rank, ranks, buffer_bytes, .. } = first;
            let channels = at.add(self.channels_at);
            Comm { rank, ranks, buffer_bytes, abort, channels, layout: self.clone() }
        }
    }

    /// A collective among the works of a batch.
    ///
    /// # Safety
    /// One of this release lies there.
    pub unsafe fn collective(&self, at: *const u8) -> Collective {
        // SAFETY: the caller's.
        unsafe {
            let [receive, send] = at.add(self.buffers_at).cast::<[*mut u8; 2]>().read_unaligned();
            let counts = at.add(self.counts_at).cast::<[usize; 3]>();
            let chunk_grains = counts.add(1).cast::<u64>().read_unaligned();
            let flags = at.cast::<u32>().read_unaligned();
            let counts = counts.read_unaligned();
            Collective { flags, receive, send, counts, chunk_grains }
        }
    }

    /// Bytes from a collective to the next.
    pub fn collective_bytes(&self) -> usize {
        self.collective_bytes
    }
}

/// A place of the list by which kernel and proxy tell each other of a step.
#[derive(Clone, Copy)]
pub struct Fifo<'a> {
    at: *mut u8,
    layout: &'a Layout,
}

impl Fifo<'_> {
    /// The offset of the step, if it has one.
    pub fn offset(self) -> Option<isize> {
        // SAFETY: NCCL's place of this layout.
        unsafe {
            if self.at.cast::<c_int>().read_volatile() != MODE_OFFSET {
                return None;
            }
            let offset = self.at.add(self.layout.fifo_offset_at);
            Some(match self.layout.is_fifo_offset_wide {
                true => offset.cast::<isize>().read_volatile(),
                false => offset.cast::<i32>().read_volatile() as isize,
            })
        }
    }

    /// Where the length of the step lies.
    pub fn length(self) -> *mut isize {
        // SAFETY: inside NCCL's place of this layout.
        unsafe { self.at.add(self.layout.fifo_length_at).cast() }
    }
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
    /// The proxy's list, if there is one: see [`Connection::place`].
    pub fifo: *mut u8,
    pub step: u64,
    pub last_cleaning: u64,
    pub device_handle: [u8; 32],
}

impl Connection {
    /// The place of a step in the proxy's list.
    pub fn place<'a>(&self, layout: &'a Layout, step: u64) -> Option<Fifo<'a>> {
        if self.fifo.is_null() {
            return None;
        }
        let offset = (step % STEPS) as usize * layout.fifo_bytes;
        // SAFETY: the list has `STEPS` places.
        Some(Fifo { at: unsafe { self.fifo.add(offset) }, layout })
    }
}

/// `ncclDevChannelPeer`.
#[repr(C)]
pub struct Peer {
    pub send: [Connection; 2],
    pub receive: [Connection; 2],
}

/// The beginning of `ncclDevChannel`.
#[repr(C)]
#[derive(Clone, Copy)]
struct ChannelStart {
    peers: *mut *mut Peer,
    previous: c_int,
    next: c_int,
    ring_ranks: *mut c_int,
}

/// Bytes of `ncclDevChannel`.
const CHANNEL_BYTES: usize = 368;

/// A channel of a communicator, as far as rings need it.
#[derive(Clone, Copy)]
pub struct Channel {
    /// Its number.
    pub number: usize,
    pub peers: *mut *mut Peer,
    pub previous: c_int,
    pub next: c_int,
    pub ring_ranks: *mut c_int,
    pub index: c_int,
}

/// The beginning of `ncclKernelComm`, or of `ncclDevComm` before 2.28.
#[repr(C)]
#[derive(Clone, Copy)]
struct CommStart {
    rank: c_int,
    ranks: c_int,
    nodes: [c_int; 2],
    buffer_bytes: [c_int; 3],
}

/// A communicator, as a kernel needs it.
pub struct Comm {
    pub rank: c_int,
    pub ranks: c_int,
    pub buffer_bytes: [c_int; 3],
    pub abort: *mut u32,
    channels: *const u8,
    pub layout: Layout,
}

impl Comm {
    /// A channel.
    pub fn channel(&self, number: usize) -> Channel {
        // SAFETY: NCCL's channels lie there, and a kernel names those that are set up.
        unsafe {
            let at = self.channels.add(number * CHANNEL_BYTES);
            let ChannelStart { peers, previous, next, ring_ranks } =
                at.cast::<ChannelStart>().read();
            let index = at.add(self.layout.index_at).cast::<c_int>().read();
            Channel { number, peers, previous, next, ring_ranks, index }
        }
    }
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

/// `ncclDevWorkColl`, as far as rings need it.
#[derive(Clone, Copy)]
pub struct Collective {
    /// Bits 0 to 7: first channel; 8 to 15: last channel.
    pub flags: u32,
    pub receive: *mut u8,
    pub send: *mut u8,
    /// Elements of the first, of each middle and of the last channel.
    pub counts: [usize; 3],
    /// Three times 21 bits: grains of these channels' chunks.
    pub chunk_grains: u64,
}

/// `ncclDevWorkBatch`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Batch {
    /// Bits 0 to 13: distance to the next; 15, 16: kind of work; 28 to 31: function, if it says so.
    pub flags: u32,
    pub offset_base: u32,
    pub offset_bits: u64,
}

/// `ncclDevKernelArgs`; batches follow it.
#[repr(C)]
pub struct Arguments {
    pub comm: *const u8,
    pub channel_mask: u64,
    pub storage: u8,
    pub work_mask: u32,
    pub work: *mut u8,
}

// SAFETY: threads of a kernel reach them through pointers, as those of a GPU do.
unsafe impl Send for Message {}
// SAFETY: as above.
unsafe impl Send for Channel {}
