//! The control stack's core: no I/O, no clock; headers and completions in, commands, descriptors
//! and headers out.
//!
//! ```text
//!   transport headers ─► stack ─► send descriptors        requests      ─► stack ─► commands
//!   header entries    ─► stack ─► headers to transport    confirmations ─► stack ─► completions
//! ```
//! | file | what |
//! |---|---|
//! | `packet.rs` | reads and adjusts packet headers |
//! | `commands.rs` | packs commands |
//! | `lists.rs` | where segment lists lie, committed and borrowed |
//! | `profile.rs` | header profiles beside TCP |
//! | `placement.rs` | which key slot holds which flow |
//! | `ranges.rs` | sets of stream ranges |
//! | `descriptor.rs` | packs send descriptors |
//! | `regions.rs` | registered regions and page entries |
//! | `arrived.rs` | what a connection makes of a packet that arrived |
//! | `expected.rs` | which packets TCP will hardly accept |
//! | `deferred.rs` | payload that the card deferred, each byte once |
//! | `standing.rs` | which copy of each byte stands |
//! | `window.rs` | lowers and reopens the offered window |
//! | `connection.rs` | one connection: its flow, both sides, its end |
//! | `ending.rs` | how a connection ends |
//! | `handshake.rs` | what the SYNs said, before there is a flow |
//! | `buffer.rs` | pieces of application memory that requests name |
//! | `posted.rs` | one flow's buffers of one direction, in its list and before |
//! | `receive.rs` | one flow's receive side: what landed, what was deferred, what is announced |
//! | `send.rs` | one flow's send side: posted buffers, what is fed, what is acknowledged |

pub(crate) mod arrived;
pub mod buffer;
pub mod commands;
pub mod connection;
pub mod deferred;
pub mod descriptor;
mod ending;
pub mod expected;
pub mod handshake;
pub mod lists;
pub mod packet;
pub mod placement;
pub mod posted;
pub mod profile;
pub mod ranges;
pub mod receive;
pub mod regions;
pub mod send;
pub mod standing;
pub mod window;
