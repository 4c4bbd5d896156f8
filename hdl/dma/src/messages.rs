//! Messages between the blocks of the requester.
//!
//! ```text
//!   job ──► CutJob ──► Cutter ──► Piece ──► WriteMaker, ReadIssue ──► RequestTlp ──► Packer ──► RQ
//! ```

use stream::prelude::*;

/// A client's job, ready to be cut into pieces.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct CutJob {
    /// Bus address of the first byte.
    pub address: Bits<64>,
    /// Length, 1 to 16,384.
    pub bytes: Bits<16>,
    /// Relaxed ordering is allowed.
    pub relaxed: Bit,
    /// For a write: the next job begins in the middle of the beat in which this job ends.
    pub shares: Bit,
    /// Client that gave the job.
    pub client: Bits<2>,
}

/// The part of a job that one TLP carries.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Piece {
    /// Bus address of the first byte.
    pub address: Bits<64>,
    /// Length, 1 to 1,024. The piece stays within the boundaries that [`crate::cutter`] keeps.
    pub bytes: Bits<11>,
    /// This is the first piece of its job.
    pub first: Bit,
    /// This is the last piece of its job.
    pub last: Bit,
    /// Relaxed ordering is allowed.
    pub relaxed: Bit,
    /// For a write: the next job begins in the middle of the beat in which this job ends.
    pub shares: Bit,
    /// Client that gave the job.
    pub client: Bits<2>,
}

/// A request ready for the RQ port.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RequestTlp {
    /// RQ descriptor, without the fields that the side band carries.
    pub header: Bits<128>,
    /// Number of payload dwords, 1 to 256; 0 for a read.
    pub dwords: Bits<9>,
    /// Position of the first payload dword: its number among all dwords of the beats that entered
    /// the payload memory, modulo 2^16. The beat is `position / 16`, the lane `position mod 16`.
    pub start: Bits<16>,
    /// Number of the beat that holds the last payload dword, modulo 2^12.
    pub end_beat: Bits<12>,
    /// Byte enables of the first dword.
    pub first_be: Bits<4>,
    /// Byte enables of the last dword; 0 for a request of one dword.
    pub last_be: Bits<4>,
    /// This is the last TLP of its job.
    pub last: Bit,
}
