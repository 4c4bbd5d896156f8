//! Messages over UDP: a transport of our own, placed by the card as it is.
//!
//! ```text
//!   expect(message, buffer) ─► flow with the message's number in its key ─► payload lands in place
//!   send(message, buffer) ──► descriptors, one a packet ──► acknowledged ──► send floor, fenced
//! ```
//! It shows that a new protocol needs no new RTL: a header profile tells the card where position
//! and message number are, and everything below is host software. Each message is a flow of its own
//! from [`Endpoint::expect`] or [`Endpoint::send`] on until it is done; packets may come in any
//! order.
//!
//! The protocol: the sender keeps [`WINDOW_PACKETS`] packets on their way, the receiver answers
//! with the position up to which everything has arrived, and after [`PATIENCE`] without an answer
//! the sender goes on from that position again. There is no congestion control: it is for links
//! that are the application's own.
//!
//! Invariants
//! 1. A buffer is handed back only after a fence: the receive floor beyond a whole message, the
//!    send floor beyond an acknowledged one.
//! 2. A message that is done is acknowledged again when its packets come again.

mod endpoint;
mod header;
mod inbox;
mod outbox;

pub use endpoint::{Endpoint, MessageDone};
pub use header::{profile, Station, HEADER_BYTES};
pub use outbox::{PATIENCE, WINDOW_PACKETS};
