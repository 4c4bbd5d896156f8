//! What the request side of the read engine tells the side that takes completions.

use stream::prelude::*;

use crate::read::tag::Tag;

/// What completions of a request must look like.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ReadRecord {
    /// Address of the byte behind the last one, modulo 4,096.
    pub end: Bits<12>,
    /// Bytes requested, 1 to 512.
    pub bytes: Bits<10>,
    /// Beat of the reorder memory that would hold the start of the window of 512 bytes.
    pub base: Bits<9>,
}

/// Where the answer to a request lies and to which job it belongs.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ReadOrder {
    /// Tag.
    pub tag: Tag,
    /// Beat of the reorder memory that holds the first byte.
    pub start: Bits<9>,
    /// Client that gets the answer.
    pub client: Bits<2>,
    /// First request of its job.
    pub first: Bit,
    /// Last request of its job.
    pub last: Bit,
    /// Place of the first byte in the window of 512 bytes.
    pub begin: Bits<9>,
    /// Place of the last byte.
    pub end: Bits<9>,
}
