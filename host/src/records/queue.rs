//! The command queue, as the control path sees it.
//!
//! ```text
//!   connection ── command, command_of ──► CommandQueue ──► rings of the owners ──► card
//!              ◄─ confirmed ───────────────────┘
//! ```
//! The driver's `Device` implements it. No call does I/O: the driver posts queued commands and
//! takes confirmations when it is polled. The commands of a connection that the card does not know
//! go to [`NoCard`].

use thiserror::Error;

use super::commands::Entry;
use super::ticket::Ticket;

/// Why a command is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum QueueError {
    /// No such owner.
    #[error("no owner {owner}; {open} are open")]
    UnknownOwner {
        /// Number of the owner in the call.
        owner: u8,
        /// Owners that are open, from 0 on.
        open: usize,
    },
    /// A ring has stopped: the card could not read it, or read a wrong index.
    #[error("the {ring} ring of owner {owner} has stopped")]
    RingStopped {
        /// Owner of the ring.
        owner: u8,
        /// Name of the ring.
        ring: &'static str,
    },
}

/// Takes commands for the card and reports which of them are confirmed.
pub trait CommandQueue {
    /// Queues a command of owner 0, which may change everything.
    fn command(&mut self, entry: Entry) -> Ticket;

    /// Queues a command of an owner, which may change its own flows.
    fn command_of(&mut self, owner: u8, entry: Entry) -> Result<Ticket, QueueError>;

    /// Whether the fence of a command has passed. Also true for a refused command, which had no
    /// effect.
    fn is_confirmed(&self, ticket: Ticket) -> bool;
}

/// Confirms every command at once: where no card uses a buffer, nothing has to be waited for.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCard;

impl CommandQueue for NoCard {
    fn command(&mut self, _entry: Entry) -> Ticket {
        Ticket::new(0, 0)
    }

    fn command_of(&mut self, owner: u8, _entry: Entry) -> Result<Ticket, QueueError> {
        Ok(Ticket::new(owner, 0))
    }

    fn is_confirmed(&self, _ticket: Ticket) -> bool {
        true
    }
}
