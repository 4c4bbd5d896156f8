//! What the blocks of the requester hand to each other.
//!
//! ```text
//!   job ──► Cutter ── Piece ──► write maker, read issue ── RequestTlp ──► RequestPacker ──► RQ
//! ```

use stream::prelude::*;

/// A job of a client, ready to be cut into pieces.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CutJob {
    /// Bus address of the first byte.
    pub address: Bits<64>,
    /// Length, 1 to 16,384.
    pub bytes: Bits<16>,
    /// Relaxed ordering allowed.
    pub relaxed: Bit,
    /// Of a write: the next job begins in the middle of the beat in which it ends.
    pub shares: Bit,
    /// Client that gave the job.
    pub client: Bits<2>,
}

/// The part of a job that one TLP carries.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Piece {
    /// Bus address of the first byte.
    pub address: Bits<64>,
    /// Length, 1 to 1,024; never across a boundary of the largest piece.
    pub bytes: Bits<11>,
    /// First piece of its job.
    pub first: Bit,
    /// Last piece of its job.
    pub last: Bit,
    /// Relaxed ordering allowed.
    pub relaxed: Bit,
    /// Of a write: the next job begins in the middle of the beat in which this one ends.
    pub shares: Bit,
    /// Client that gave the job.
    pub client: Bits<2>,
}

/// A request ready for the RQ port.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RequestTlp {
    /// RQ descriptor.
    pub header: Bits<128>,
    /// Payload dwords, 1 to 256; 0 for a read.
    pub dwords: Bits<9>,
    /// Position of the first payload dword among all dwords of the aligned beats.
    pub start: Bits<16>,
    /// Beat that holds the last payload dword.
    pub end_beat: Bits<12>,
    /// Byte enables of the first dword.
    pub first_be: Bits<4>,
    /// Byte enables of the last dword; 0 when there is only one.
    pub last_be: Bits<4>,
    /// Last TLP of its job.
    pub last: Bit,
}
