//! The command queue, as the control path sees it.
//!
//! ```text
//!   connection ── command, command_of ──► CommandQueue ──► rings of the owners ──► card
//!              ◄─ confirmed ───────────────────┘
//! ```
//! The driver's `Device` implements it. No call does I/O: the driver posts queued commands and
//! takes confirmations when it is polled.

use super::commands::Entry;
use crate::driver::error::Result;
use crate::driver::ticket::Ticket;

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
