//! Pieces of application memory: what requests name, what is copied into and out of them, and what
//! goes back.

use crate::control::regions::RegionName;
use crate::driver::ticket::Ticket;

/// A piece of a registered region, named by a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The application's name for the request.
    pub request: u64,
    /// Region.
    pub region: RegionName,
    /// The command after whose confirmation the card knows the region. It may have gone through
    /// another ring than the flow's segments do.
    pub known: Option<Ticket>,
    /// Offset in the region.
    pub offset: u64,
    /// Length, 1 to 2^28.
    pub bytes: u32,
    /// Complete with what there is instead of waiting until the buffer is full.
    pub partial: bool,
}

impl Buffer {
    /// The request's end, with so many bytes in the buffer.
    pub(super) fn done(&self, bytes: u32) -> Done {
        Done {
            request: self.request,
            bytes,
        }
    }
}

/// Bytes that the one copying function must write into an application buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Region that holds the buffer.
    pub region: RegionName,
    /// Offset in the region.
    pub offset: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Bytes that landed in a withdrawn buffer and must be taken out before it goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rescue {
    /// Region that holds them.
    pub region: RegionName,
    /// Offset in the region.
    pub offset: u64,
    /// How many.
    pub bytes: usize,
    /// Their stream offset.
    pub stream_offset: u64,
}

/// A request that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// The application's name for the request.
    pub request: u64,
    /// Bytes in the buffer.
    pub bytes: u32,
}
