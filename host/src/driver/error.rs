//! Errors of the driver.

use std::time::Duration;

use thiserror::Error;

use super::bus::BusError;
use crate::records::queue::QueueError;
use crate::records::size::SizeError;

/// Result of a call of the driver.
pub type Result<T, E = DriverError> = std::result::Result<T, E>;

/// Why the driver cannot do what it is asked to.
#[derive(Debug, Error)]
pub enum DriverError {
    /// The bus failed.
    #[error(transparent)]
    Bus(#[from] BusError),
    /// No register is answered any more: the card lost its power or its link, or was taken out.
    #[error(
        "the card is gone: all registers read 0xffffffff; see to its power and its link, then \
         open it again"
    )]
    Gone,
    /// BAR 0 does not begin with the card's id.
    #[error("no Zeronic card: register 0 reads {0:#010x}")]
    NotACard(u32),
    /// The board runs its golden image: that of the card was not loaded, or not yet.
    #[error(
        "the board runs its golden image, not the card's: write an image with `zeronic flash`, or \
         load the one that is there"
    )]
    GoldenImage,
    /// The card has another version of the contract.
    #[error("the card has contract version {card:#010x}, this library {host:#010x}")]
    Version {
        /// Version that the card reports.
        card: u32,
        /// Version that this library was built with.
        host: u32,
    },
    /// The card was still in reset, or still clearing its tables, after this time.
    #[error("the card did not finish its reset within {0:?}")]
    ResetTimeout(Duration),
    /// Memory requests of an earlier epoch have not ended: the link takes no writes, or not even
    /// the card's limit of 50 ms has ended its reads.
    #[error("memory requests from before the reset have not ended within {0:?}")]
    RequestsPending(Duration),
    /// A configured size that the card does not support.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// The card cannot sum received packets up.
    #[error(
        "the card has an entry for each received packet and no runs: open it without coalescing, \
         or load an image with contract 1.10 that offers them"
    )]
    NoRuns,
    /// All owners of the card are open.
    #[error("all {limit} owners are in use")]
    OwnersFull {
        /// Owners that the card has.
        limit: usize,
    },
    /// No such owner.
    #[error("no owner {owner}; {open} are open")]
    UnknownOwner {
        /// Number of the owner in the call.
        owner: u8,
        /// Owners that are open, from 0 on.
        open: usize,
    },
    /// The card was reset from outside: nothing set up before is valid.
    #[error("the card was reset: epoch is {now}, was {before}; open the card again")]
    EpochLost {
        /// Epoch in which the card was opened.
        before: u32,
        /// Epoch of the card now.
        now: u32,
    },
    /// A ring has stopped: the card could not read it, or read a wrong index.
    #[error("the {ring} ring of owner {owner} has stopped")]
    RingStopped {
        /// Owner of the ring.
        owner: u8,
        /// Name of the ring.
        ring: &'static str,
    },
    /// The host refused a write of the card to memory of the control stack.
    #[error(
        "the IOMMU refused a card write to control memory at {address:#x}; open the card again"
    )]
    WriteRefused {
        /// Bus address.
        address: u64,
    },
    /// The card wrote a header entry that its rings do not allow: it is broken.
    #[error("header entry of owner {owner}: {what} is {value}, must be below {limit}")]
    BadEntry {
        /// Owner of the queue.
        owner: u8,
        /// The field.
        what: &'static str,
        /// Value of the field.
        value: u64,
        /// First value that is not allowed.
        limit: u64,
    },
    /// The card wrote a run of packets that the contract does not allow: it is broken.
    #[error(
        "run in the header queue of owner {owner}: {what} is {value}, must be {least} to {most}"
    )]
    BadRun {
        /// Owner of the queue.
        owner: u8,
        /// The field.
        what: &'static str,
        /// Value of the field.
        value: u64,
        /// First value that is allowed.
        least: u64,
        /// Last value that is allowed.
        most: u64,
    },
    /// The card refused a command.
    #[error("the card refused command {opcode} of flow {flow}: {status}")]
    CommandRefused {
        /// Opcode.
        opcode: u8,
        /// Flow id in the command.
        flow: u16,
        /// Name of the status.
        status: &'static str,
    },
}

impl From<QueueError> for DriverError {
    fn from(error: QueueError) -> Self {
        match error {
            QueueError::UnknownOwner { owner, open } => Self::UnknownOwner { owner, open },
            QueueError::RingStopped { owner, ring } => Self::RingStopped { owner, ring },
        }
    }
}
