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
//! order. A message may be shorter than its buffer: each packet says how long it is. What is short
//! and needs no place goes by [`Endpoint::say`], without a flow.
//!
//! The protocol: all messages to a station share a window, whose controller, round trip and timeout
//! are TCP's. The receiver replies with the position up to which everything of a message has
//! arrived, and with the blocks beyond it; what was overtaken by many is sent again, and everything
//! after a timeout. An MTU may be agreed for each station. A station that is watched is asked
//! whether it is there, and known to be gone within [`SILENCE`].
//!
//! Invariants
//! 1. A buffer is returned only after a fence: the receive floor beyond a whole message, or the
//!    send floor beyond an acknowledged one.
//! 2. A complete message is acknowledged again when its packets arrive again, however late: a
//!    number names one message of a pair of stations, and is not used again.
//! 3. Who waits for [`MessageDone::Ready`] before the other end sends has nothing copied without
//!    loss: the card knows the place of every byte that comes.

mod channel;
mod channels;
mod endpoint;
mod header;
mod inbox;
mod outbox;
mod pace;
mod path;
mod protocol;

pub use channel::{CONTROL_BYTES_MAX, SILENCE};
pub use endpoint::{Endpoint, MessageDone};
pub use header::{profile, Station, HEADER_BYTES};
