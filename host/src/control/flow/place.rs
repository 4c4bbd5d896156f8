//! The place of a posted buffer in the stream and in the flow's list.

use super::buffer::Buffer;
use crate::records::ticket::Ticket;

/// A buffer in the flow's list.
#[derive(Clone, Copy, Debug)]
pub struct Posted {
    pub buffer: Buffer,
    /// Stream offset of its first byte.
    pub start: u64,
    /// List index of its segment.
    pub index: u16,
    /// Its segment on the card, as it was posted: stream offset and length.
    pub segment: (u64, u32),
    /// Whether it was truncated.
    pub truncation: Truncation,
}

/// What became of the end of a posted buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// It is that of the segment.
    Not,
    /// It was moved to the front, by a command that is under way once it is known.
    UnderWay(Option<Ticket>),
    /// The same, and the card places nothing behind it any more.
    Done,
}

impl Posted {
    /// Whether it was truncated, and the card may still place payload behind its end.
    pub fn is_truncated(&self) -> bool {
        matches!(self.truncation, Truncation::UnderWay(_))
    }

    /// The buffer of a request that got nothing, as it was before it was posted.
    pub fn unused_buffer(&self) -> Option<Buffer> {
        let is_unused = self.truncation != Truncation::Not && self.buffer.bytes == 0;
        is_unused.then_some(Buffer { bytes: self.segment.1, ..self.buffer })
    }

    /// Stream offset behind its last byte.
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.buffer.bytes)
    }
}
