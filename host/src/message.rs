//! Messages over UDP: a [`crate::protocol::Protocol`] of our own that the card places without new
//! RTL.
//!
//! ```text
//!   expect(message, buffer) ─► flow with the message's number in its key ─► payload lands in place
//!   send(message, buffer) ──► one descriptor per packet ──► acknowledged ──► send floor, fenced
//! ```
//! A header profile gives the card the offsets of position and message number; the rest is host
//! software: [`Endpoint`] is a provider on this protocol. Each message is a flow of its own, from
//! [`Endpoint::expect`] or [`Endpoint::send`] until it is complete. Packets may arrive in any
//! order.
//!
//! The protocol: the sender keeps up to [`WINDOW_PACKETS`] packets in flight. The receiver replies
//! with the position up to which everything has arrived. After [`PATIENCE`] without progress the
//! sender resumes from that position. There is no congestion control: the protocol is for dedicated
//! links.
//!
//! Invariants
//! 1. A buffer is returned only after a fence: the receive floor beyond a whole message, or the
//!    send floor beyond an acknowledged one.
//! 2. A complete message is acknowledged again when its packets arrive again.

mod endpoint;
mod header;
mod inbox;
mod outbox;
mod protocol;

pub use endpoint::{Endpoint, MessageDone};
pub use header::{profile, Station, HEADER_BYTES};
pub use outbox::{PATIENCE, WINDOW_PACKETS};
