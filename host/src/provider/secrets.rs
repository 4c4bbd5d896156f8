//! Hash secrets that wait for an empty flow table.

use crate::driver::start::SecretWords;
use crate::records::ticket::Ticket;

/// Secrets that are to be written.
#[derive(Debug)]
pub(super) struct Rekeying {
    /// The last command that clears a key; `None` if there is none.
    pub cleared: Option<Ticket>,
    /// The secrets.
    pub words: SecretWords,
}
