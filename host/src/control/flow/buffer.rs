//! Application buffers: as requested, as copied into and out of, and as completed.

use crate::control::regions::{Region, RegionName};
use crate::error::Result;
use crate::records::ticket::Ticket;

/// Buffer of a request: a range of a registered region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The application's name for the request.
    pub request: u64,
    /// Region that holds the buffer.
    pub region: RegionName,
    /// The command that installed the region. The buffer is posted after its confirmation, because
    /// the command may have gone through another ring than the flow's segments.
    pub known: Option<Ticket>,
    /// Offset in the region.
    pub offset: u64,
    /// Length, 1 to 2^28.
    pub bytes: u32,
    /// Whether the request completes before the buffer is full.
    pub partial: bool,
    /// Bytes of the request before this buffer, which are received: the request was withdrawn for
    /// the sake of another, and posted again.
    pub filled: u32,
}

impl Buffer {
    /// The buffer of a request that completes when it is full: a range of `region`, which is
    /// checked.
    pub fn of(region: &Region, offset: u64, bytes: u32, request: u64) -> Result<Self> {
        region.check(offset, bytes)?;
        Ok(Self {
            request,
            region: region.name(),
            known: region.install_ticket(),
            offset,
            bytes,
            partial: false,
            filled: 0,
        })
    }

    /// What is left of the buffer behind its first `bytes` bytes.
    pub(super) fn rest(&self, bytes: u32) -> Self {
        Self {
            offset: self.offset + u64::from(bytes),
            bytes: self.bytes - bytes,
            filled: self.filled + bytes,
            ..*self
        }
    }

    /// Completes the request with `bytes` bytes in the buffer.
    pub(super) fn done(&self, bytes: u32) -> CompletedBuffer {
        CompletedBuffer { request: self.request, bytes: self.filled + bytes }
    }
}

/// A part of a buffer that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendPart {
    /// Region that holds it.
    pub region: RegionName,
    /// Offset in the region.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u32,
}

/// Where payload was placed that is not where it belongs, because its buffer was truncated before.
pub(crate) enum Misplaced {
    /// Behind the end of that buffer: it can be read there.
    Behind(RegionName, u64),
    /// Across the end: some of it is where nobody looks for it.
    Across,
}

/// Bytes to be copied into an application buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy<'a> {
    /// Region that holds the buffer.
    pub region: RegionName,
    /// Offset in the region.
    pub offset: u64,
    /// The bytes, where they are held.
    pub bytes: &'a [u8],
}

/// Bytes to be copied out of a withdrawn buffer before it is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rescue {
    /// Region that holds them.
    pub region: RegionName,
    /// Offset in the region.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: usize,
    /// Stream offset of the first byte.
    pub stream_offset: u64,
}

/// Requests that a withdrawal has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Withdrawn {
    /// Those that are complete, with what they have.
    pub done: Vec<CompletedBuffer>,
    /// Those that were cancelled and have nothing.
    pub cancelled: Vec<u64>,
}

/// A completed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletedBuffer {
    /// The application's name for the request.
    pub request: u64,
    /// Bytes in the buffer.
    pub bytes: u32,
}
