//! The tag of a read, and the event that the end of a completion reports for it.

use stream::prelude::*;

/// Bits of a read tag.
pub const TAG_BITS: usize = 8;

/// A read tag.
pub type Tag = Bits<TAG_BITS>;

/// A completion has ended.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct TagEvent {
    /// The completion was the last one of its request.
    pub finished: Bit,
    /// The completion was not as expected.
    pub failed: Bit,
    /// The hard block has given the request up.
    pub timed_out: Bit,
    /// Tag of the request.
    pub tag: Tag,
}
