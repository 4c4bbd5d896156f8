//! Messages from the request side of the read engine to the side that takes completions.

use stream::prelude::*;

use crate::read::tag::Tag;

/// What the completions of a request must look like.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ReadRecord {
    /// Bus address of the byte after the last one, modulo 4,096.
    pub end: Bits<12>,
    /// Number of bytes requested, 1 to 512.
    pub bytes: Bits<10>,
    /// Beat of the reorder memory for the start of the request's aligned window of 512 bytes. Beats
    /// that the request does not touch belong to others.
    pub base: Bits<9>,
}

/// Where the read data of a request lie, and to which job they belong.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ReadOrder {
    /// Tag of the request.
    pub tag: Tag,
    /// Beat of the reorder memory that holds the first byte.
    pub start: Bits<9>,
    /// Client that gets the read data.
    pub client: Bits<2>,
    /// This is the first request of its job.
    pub first: Bit,
    /// This is the last request of its job.
    pub last: Bit,
    /// Place of the first byte in the aligned window of 512 bytes.
    pub begin: Bits<9>,
    /// Place of the last byte in the aligned window of 512 bytes.
    pub end: Bits<9>,
}
