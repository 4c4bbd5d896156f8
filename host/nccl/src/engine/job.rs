//! What NCCL's threads ask of the card's.

use std::sync::mpsc::SyncSender;
use std::sync::Arc;

use host::driver::bus::MemoryKind;
use host::memory::MemoryRange;
use host::provider::RegionId;

use crate::comm::{Comm, Listener, Posted};

/// Bytes of a registration.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The registration.
    pub region: RegionId,
    /// First byte in it.
    pub offset: u64,
    /// Tag of the message.
    pub tag: i32,
    /// Length, or the most that it may be.
    pub bytes: u32,
}

/// One thing that is asked.
pub enum Job {
    /// Registers memory.
    Register(MemoryKind, MemoryRange, SyncSender<Result<RegionId, String>>),
    /// Ends a registration: the answer comes behind the fence.
    Deregister(RegionId, SyncSender<()>),
    /// Waits for others to connect.
    Listen(Arc<Listener>),
    /// Does not any more.
    Unlisten(u64),
    /// Connects to the listener of a nonce.
    Connect(Arc<Comm>, u64),
    /// Sends into a buffer that was posted.
    Send {
        /// The communicator.
        comm: u32,
        /// Its request.
        request: usize,
        /// The buffer.
        posted: Posted,
        /// What is sent.
        from: Place,
    },
    /// Posts buffers.
    Receive {
        /// The communicator.
        comm: u32,
        /// Its request.
        request: usize,
        /// The buffers.
        places: Vec<Place>,
    },
    /// Closes a communicator: the answer comes when nothing of it is in flight.
    Close(u32, SyncSender<()>),
}
