//! The command queue, as the control path sees it.
//!
//! ```text
//!   connection ── command, command_of ──► CommandQueue ──► rings of the owners ──► card
//!              ◄─ confirmed ───────────────────┘
//! ```
//! The driver's `Device` implements it. No call does I/O: the driver posts queued commands and
//! takes confirmations when it is polled. The commands of a connection that the card does not know
//! go to [`NoCard`].

use super::commands::Entry;
use crate::driver::error::Result;
use crate::records::ticket::Ticket;

/// Takes commands for the card and reports which of them are confirmed.
pub trait CommandQueue {
    /// Queues a command of owner 0, which may change everything.
    fn command(&mut self, entry: Entry) -> Ticket;

    /// Queues a command of an owner, which may change its own flows.
    fn command_of(&mut self, owner: u8, entry: Entry) -> Result<Ticket>;

    /// Whether the fence of a command has passed. Also true for a refused command, which had no
    /// effect.
    fn confirmed(&self, ticket: Ticket) -> bool;
}

/// Confirms every command at once: where no card uses a buffer, nothing has to be waited for.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCard;

impl CommandQueue for NoCard {
    fn command(&mut self, _entry: Entry) -> Ticket {
        Ticket::new(0, 0)
    }

    fn command_of(&mut self, owner: u8, _entry: Entry) -> Result<Ticket> {
        Ok(Ticket::new(owner, 0))
    }

    fn confirmed(&self, _ticket: Ticket) -> bool {
        true
    }
}
