//! What the card did that the link forbids: one variant per rule, with the numbers that were wrong.
//!
//! ```text
//!   RQ, CC framing and descriptors -> Log -> reports (cycle, violation)
//! ```
//!
//! Invariant: at most [`Log::KEPT`] reports are kept, but all are counted.
//!
//! Source: PCI Express Base 3.0, 2.2 and 2.3; PG213, rules of the requester and completer streams.

use thiserror::Error;

/// The stream on which a framing rule was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Requester request.
    Rq,
    /// Completer completion.
    Cc,
}

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Violation {
    /// `tvalid` fell between the first and the last beat of a packet.
    #[error("{0:?}: valid dropped inside a packet")]
    ValidDroppedInPacket(Stream),
    /// A beat was offered, not taken, and then withdrawn or changed.
    #[error("{0:?}: an offered beat changed before it was taken")]
    OfferChanged(Stream),
    /// `tkeep` is not all ones with straddle, or has holes without.
    #[error("{stream:?}: tkeep {tkeep:#06x} is not allowed here")]
    Keep {
        /// Where.
        stream: Stream,
        /// The value.
        tkeep: u16,
    },
    /// `is_sop` names an illegal start: second without first, or inside a packet.
    #[error("RQ: is_sop {is_sop:#b} does not fit (packet running: {running})")]
    StartFlags {
        /// The field.
        is_sop: u8,
        /// A packet was running when the beat began.
        running: bool,
    },
    /// A start pointer that is neither the first half (0) nor a legal second half (2).
    #[error("RQ: start pointer {pointer} is not allowed here")]
    StartPointer {
        /// The field, in units of four dwords.
        pointer: u8,
    },
    /// `is_eop` misses an end, names one too many, or the pointer is not where the length says.
    #[error(
        "RQ: is_eop {is_eop:#b} with pointer {pointer}, but the packet ends at dword {expected}"
    )]
    EndMismatch {
        /// The field.
        is_eop: u8,
        /// Pointer of the end in question.
        pointer: u8,
        /// Dword of the beat at which the descriptor's length ends; 16 and more: a later beat.
        expected: u32,
    },
    /// The packet has fewer or more dwords than its descriptor announces.
    #[error("CC: packet of {has} dwords, its descriptor announces {announced}")]
    PacketLength {
        /// Dwords in the packet.
        has: u32,
        /// Dwords announced, descriptor included.
        announced: u32,
    },
    /// The discontinue bit was set.
    #[error("{0:?}: packet discontinued")]
    Discontinued(Stream),
    /// A side band field that must be zero is not.
    #[error("RQ: side band field {name} is {value:#x}, must be 0")]
    SideBand {
        /// Name in the product guide.
        name: &'static str,
        /// The value.
        value: u64,
    },
    /// A descriptor field that must be zero is not.
    #[error("{stream:?}: descriptor field {name} is {value:#x}, must be 0")]
    DescriptorField {
        /// Where.
        stream: Stream,
        /// Name in the product guide.
        name: &'static str,
        /// The value.
        value: u64,
    },
    /// An access to the configuration space other than a read of Device Control.
    #[error("cfg_mgmt: dword {dword:#x} of function {function}, write {write}: not modelled")]
    ConfigurationAccess {
        /// Dword.
        dword: u16,
        /// Function.
        function: u8,
        /// It was a write.
        write: bool,
    },
    /// A request that is neither a memory read nor a memory write.
    #[error("RQ: request type {0:#x} is neither memory read nor memory write")]
    RequestType(u8),
    /// A length of 0 or above 1024 dwords.
    #[error("RQ: dword count {0} is not 1 to 1024")]
    DwordCount(u16),
    /// A write beyond the maximum payload size.
    #[error("RQ: write of {bytes} bytes exceeds the maximum payload size {mps}")]
    PayloadTooLong {
        /// Bytes of payload.
        bytes: u32,
        /// The limit.
        mps: u32,
    },
    /// A read beyond the maximum read request size.
    #[error("RQ: read of {bytes} bytes exceeds the maximum read request size {mrrs}")]
    ReadTooLong {
        /// Bytes requested.
        bytes: u32,
        /// The limit.
        mrrs: u32,
    },
    /// A request that crosses a 4 KiB boundary.
    #[error("RQ: request of {bytes} bytes at {address:#x} crosses a 4 KiB boundary")]
    PageCrossing {
        /// Address of the first dword.
        address: u64,
        /// Length in bytes.
        bytes: u32,
    },
    /// Byte enables that the length forbids.
    #[error("RQ: byte enables first {first:#06b} last {last:#06b} illegal for {dwords} dwords")]
    ByteEnables {
        /// First dword.
        first: u8,
        /// Last dword.
        last: u8,
        /// Length.
        dwords: u16,
    },
    /// A tag beyond those that the host enabled.
    #[error("RQ: tag {tag} with only {limit} tags enabled")]
    TagRange {
        /// The tag.
        tag: u8,
        /// Number of legal tags.
        limit: u16,
    },
    /// A tag whose request is not complete.
    #[error("RQ: tag {0} reused while outstanding")]
    TagReused(u8),
    /// A tag whose request timed out, before a reset: a late completion could match it.
    #[error("RQ: tag {0} reused after its completion timed out")]
    TagQuarantined(u8),
    /// A request although bus mastering is off for longer than the grace.
    #[error("RQ: request to {address:#x}, {cycles} cycles after bus mastering went off")]
    NotBusMaster {
        /// Address of the request.
        address: u64,
        /// Cycles since bus mastering went off.
        cycles: u64,
    },
    /// An interrupt although MSI-X is off or masked for longer than the grace.
    #[error("RQ: interrupt to {address:#x}, {cycles} cycles after interrupts went off")]
    InterruptsOff {
        /// Address of the message.
        address: u64,
        /// Cycles since interrupts went off.
        cycles: u64,
    },
    /// More completions requested than the receive buffer can hold.
    #[error("completion buffer promised away: {headers} headers, {data} data units")]
    BufferOversubscribed {
        /// Headers stored and still to come.
        headers: u32,
        /// Units of 16 bytes stored and still to come.
        data: u32,
    },
    /// A completion arrived at a full completion buffer and is lost.
    #[error("completion buffer overrun by tag {tag}: {headers} headers, {data} data units")]
    BufferOverrun {
        /// Tag of the lost completion.
        tag: u8,
        /// Headers with it.
        headers: u32,
        /// Units of 16 bytes with it.
        data: u32,
    },
    /// A completion that no register read asked for.
    #[error("CC: tag {0} is not outstanding")]
    UnexpectedCompletion(u8),
    /// A completion field that differs from the request or from what is left of it.
    #[error("CC: tag {tag}: {name} is {has:#x}, must be {expected:#x}")]
    CompletionField {
        /// Tag of the completion.
        tag: u8,
        /// Name in the product guide.
        name: &'static str,
        /// The value.
        has: u64,
        /// What it must be.
        expected: u64,
    },
    /// A completion status that does not exist.
    #[error("CC: tag {tag}: status {status} does not exist")]
    CompletionStatus {
        /// Tag of the completion.
        tag: u8,
        /// The value.
        status: u8,
    },
    /// A register read that was delivered and never completed.
    #[error("CC: read of {address:#x} with tag {tag} was not completed in time")]
    CompletionMissing {
        /// Tag of the read.
        tag: u8,
        /// Its address.
        address: u64,
    },
}

/// A violation and when it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedViolation {
    /// Cycle of the step that saw it.
    pub cycle: u64,
    /// What it was.
    pub violation: Violation,
}

/// All violations so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    cycle: u64,
    reports: Vec<TimedViolation>,
    total: u64,
}

impl Log {
    /// Reports kept; a card that floods the log is wrong enough by then.
    pub const KEPT: usize = 1000;

    /// Sets the time of the reports that follow.
    pub fn at(&mut self, cycle: u64) {
        self.cycle = cycle;
    }

    /// Adds one report.
    pub fn push(&mut self, violation: Violation) {
        self.total += 1;
        if self.reports.len() < Self::KEPT {
            self.reports.push(TimedViolation { cycle: self.cycle, violation });
        }
    }

    /// The kept reports, oldest first.
    pub fn reports(&self) -> &[TimedViolation] {
        &self.reports
    }

    /// How many there were in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Takes the reports and clears them.
    pub fn take(&mut self) -> Vec<TimedViolation> {
        self.total = 0;
        std::mem::take(&mut self.reports)
    }
}
